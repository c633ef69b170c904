/**
 * Organisations as stored: identity, billing identity, settings, data policy. Never removed, only closed.
 */
import type { HoldMode } from "../base/call/hold-mode.ts";
import { newId } from "../base/ids.ts";

export const ORG_KINDS = ["personal", "team", "enterprise"] as const;

export const TAX_STATUSES = ["unregistered", "gst_registered", "sez", "overseas"] as const;
export type TaxStatus = (typeof TAX_STATUSES)[number];

export const LOGGING_MODES = ["on", "metadata", "off"] as const;

/** What may be stored of the org's calls and which endpoints may serve them. */
export interface OrgDataPolicy {
  /** `on`: payloads and record; `metadata`: record only; `off`: record only, and no payload ever leaves memory. */
  readonly logging: (typeof LOGGING_MODES)[number];
  readonly retentionDays: number;
  readonly zdr: boolean;
  readonly noTrain: boolean;
  /** Empty: any region. */
  readonly regions: readonly string[];
  readonly redact: { readonly presets: readonly string[]; readonly patterns: readonly string[] };
}

export interface SecuritySettings {
  readonly require2fa: boolean;
  readonly sessionHours: number;
  /** CIDRs and addresses from which the console may be used, canonical (cidr-list.ts). Empty: from anywhere. */
  readonly consoleIpAllow: readonly string[];
  /** Default lifetime of new keys; 0: unlimited. */
  readonly keyDefaultExpiryDays: number;
}

export interface BillingAddress {
  readonly line1: string;
  readonly city: string;
  /** In India the GST state code. */
  readonly stateCode: string;
  readonly postalCode: string;
  /** The same as `billingCountry`. */
  readonly country: string;
}

export interface OrgBudget {
  /** `null`: no budget. */
  readonly monthlyMicroUsd: number | null;
  readonly hard: boolean;
  /** By how many percent a day's spend must exceed the usual for an alert; `null`: no alert. */
  readonly spikeAlertPct: number | null;
}

export interface OrgRow {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly kind: (typeof ORG_KINDS)[number];
  /** ISO 3166-1 alpha-2. */
  readonly billingCountry: string;
  readonly billingCurrency: "INR" | "USD";
  readonly legalName: string;
  readonly gstin: string;
  readonly taxStatus: TaxStatus;
  /** Outside India; empty or absent: none. */
  readonly taxId?: string;
  readonly planId: string;
  readonly status: "active" | "closed" | "suspended";
  readonly billingEmail: string;
  readonly billingAddress: BillingAddress;
  /** IANA zone whose midnight resets daily and monthly budgets. */
  readonly timeZone: string;
  readonly security: SecuritySettings;
  readonly dataPolicy: OrgDataPolicy;
  /** The balance below which the org is told; `null` or absent: it is not told. */
  readonly creditsLowMicroUsd?: number | null;
  /** Budget of the whole org; absent in rows of earlier releases: none. */
  readonly budget?: OrgBudget;
  /** How calls hold whose request, key and project say nothing of it. Absent: `full`. */
  readonly hold?: HoldMode;
  readonly createdAtMs: number;
  readonly closedAtMs: number | null;
  readonly erasureRequestedAtMs: number | null;
  readonly erasureDueAtMs: number | null;
  /** From then on data are missing, and the erasure cannot be cancelled. */
  readonly erasureBegunAtMs?: number;
  /** The mails that tell of it, which go out first. */
  readonly erasureMails?: readonly string[];
  /** Since then nothing personal is left; absent: it is not erased. */
  readonly erasedAtMs?: number;
}

const SECURITY: SecuritySettings = {
  require2fa: false,
  sessionHours: 12,
  consoleIpAllow: [],
  keyDefaultExpiryDays: 0,
};

const DATA_POLICY: OrgDataPolicy = {
  logging: "on",
  retentionDays: 30,
  zdr: false,
  noTrain: false,
  regions: [],
  redact: { presets: ["api_key", "card"], patterns: [] },
};

/** India bills in INR, everyone else in USD. */
export const currencyOf = (billingCountry: string): OrgRow["billingCurrency"] =>
  billingCountry === "IN" ? "INR" : "USD";

/** The tax status of an org that has said nothing of it. */
export const defaultTaxStatus = (billingCountry: string): TaxStatus =>
  billingCountry === "IN" ? "unregistered" : "overseas";

/** A new org with its country's defaults: India bills in INR by Indian days, everyone else in USD by UTC. */
export function newOrg(
  given: Pick<OrgRow, "slug" | "name" | "kind" | "billingCountry" | "planId">,
  nowMs: number,
): OrgRow {
  const indian = given.billingCountry === "IN";
  return {
    ...given,
    id: newId("org", nowMs),
    billingCurrency: currencyOf(given.billingCountry),
    legalName: "",
    gstin: "",
    taxStatus: defaultTaxStatus(given.billingCountry),
    status: "active",
    billingEmail: "",
    billingAddress: { line1: "", city: "", stateCode: "", postalCode: "", country: given.billingCountry },
    timeZone: indian ? "Asia/Kolkata" : "UTC",
    security: SECURITY,
    dataPolicy: DATA_POLICY,
    createdAtMs: nowMs,
    closedAtMs: null,
    erasureRequestedAtMs: null,
    erasureDueAtMs: null,
  };
}
