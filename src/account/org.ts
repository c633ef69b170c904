/**
 * Organisations as stored: identity, billing identity, settings, data policy. Never removed, only closed.
 */
import { newId } from "../ids.ts";

type OrgKind = "personal" | "team" | "enterprise";
type TaxStatus = "unregistered" | "gst_registered" | "sez" | "overseas";

/** What may be stored of the org's calls and which endpoints may serve them. */
export interface OrgDataPolicy {
  /** `on`: payloads and record; `metadata`: record only; `off`: record only, and no payload ever leaves memory. */
  readonly logging: "on" | "metadata" | "off";
  readonly retentionDays: number;
  readonly zdr: boolean;
  readonly noTrain: boolean;
  /** Empty: any region. */
  readonly regions: readonly string[];
  readonly redact: { readonly presets: readonly string[]; readonly patterns: readonly string[] };
}

interface SecuritySettings {
  readonly require2fa: boolean;
  readonly sessionHours: number;
  readonly consoleIpAllow: readonly string[];
  /** Default lifetime of new keys; 0: unlimited. */
  readonly keyDefaultExpiryDays: number;
}

export interface OrgRow {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly kind: OrgKind;
  /** ISO 3166-1 alpha-2. */
  readonly billingCountry: string;
  readonly billingCurrency: "INR" | "USD";
  readonly legalName: string;
  readonly gstin: string;
  readonly taxStatus: TaxStatus;
  readonly planId: string;
  readonly status: "active" | "closed";
  readonly billingEmail: string;
  readonly billingAddress: {
    readonly line1: string;
    readonly city: string;
    readonly stateCode: string;
    readonly postalCode: string;
    readonly country: string;
  };
  /** IANA zone whose midnight resets daily and monthly budgets. */
  readonly timeZone: string;
  readonly security: SecuritySettings;
  readonly dataPolicy: OrgDataPolicy;
  readonly createdAtMs: number;
  readonly closedAtMs: number | null;
  readonly erasureRequestedAtMs: number | null;
  readonly erasureDueAtMs: number | null;
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

/** A new org with its country's defaults: India bills in INR by Indian days, everyone else in USD by UTC. */
export function newOrg(
  given: Pick<OrgRow, "slug" | "name" | "kind" | "billingCountry" | "planId">,
  nowMs: number,
): OrgRow {
  const indian = given.billingCountry === "IN";
  return {
    ...given,
    id: newId("org", nowMs),
    billingCurrency: indian ? "INR" : "USD",
    legalName: "",
    gstin: "",
    taxStatus: indian ? "unregistered" : "overseas",
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
