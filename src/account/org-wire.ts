/**
 * Organisations as answers show them. Texts that nobody has filled in are empty; times and settings that an org does not
 * have are absent, never null.
 */
import { z } from "zod";
import { HOLD_MODES } from "../base/call/hold-mode.ts";
import { isoTime } from "../base/clock.ts";
import * as field from "../base/operation/fields.ts";
import { PRESET_NAMES } from "../workers/redaction.ts";
import { amountShape, budgetWire, hardShape } from "./fields/budget-fields.ts";
import { ORG_MEANINGS } from "./fields/org-meanings.ts";
import { LOGGING_MODES, ORG_KINDS, type OrgRow, TAX_STATUSES } from "./org.ts";
import { ROLES, type Role } from "./roles.ts";

export const orgShape = z.object({
  id: z.string().describe("The org's id, `org_…`"),
  slug: z.string().describe(ORG_MEANINGS.slug),
  name: z.string().describe(ORG_MEANINGS.name),
  kind: z.enum(ORG_KINDS).describe(ORG_MEANINGS.kind),
  billing_country: z.string().describe(ORG_MEANINGS.billingCountry),
  billing_currency: z
    .enum(["INR", "USD"])
    .describe("What top-ups and invoices are in: `INR` where the billing country is `IN`, else `USD`."),
  legal_name: z.string().describe(ORG_MEANINGS.legalName),
  gstin: z.string().describe(ORG_MEANINGS.gstin),
  tax_id: z.string().describe(ORG_MEANINGS.taxId),
  tax_status: z.enum(TAX_STATUSES).describe(ORG_MEANINGS.taxStatus),
  plan_id: z.string().describe("The plan that sets limits of keys and projects."),
  status: z
    .enum(["active", "suspended", "closed"])
    .describe("`suspended` (by the operator) and `closed`: people can still read, keys do not work"),
  role: z.enum(ROLES).optional().describe("The asking person's role; absent where a key asks, and in events"),
  billing_email: z.string().describe(ORG_MEANINGS.billingEmail),
  billing_address: z
    .object({
      line1: z.string().describe(ORG_MEANINGS.line1),
      city: z.string().describe(ORG_MEANINGS.city),
      state_code: z.string().describe(ORG_MEANINGS.stateCode),
      postal_code: z.string().describe(ORG_MEANINGS.postalCode),
      country: z.string().describe(ORG_MEANINGS.addressCountry),
    })
    .describe(ORG_MEANINGS.billingAddress),
  settings: z
    .object({
      security: z
        .object({
          require_2fa: z.boolean().describe(ORG_MEANINGS.require2fa),
          session_hours: z.int().describe(ORG_MEANINGS.sessionHours),
          console_ip_allow: z.array(z.string()).describe(ORG_MEANINGS.consoleIpAllow),
          key_default_expiry_days: z.int().describe(ORG_MEANINGS.keyDefaultExpiryDays),
        })
        .describe(ORG_MEANINGS.security),
      timezone: z.string().describe(ORG_MEANINGS.timezone),
      credits_low_micro: z.int().optional().describe(ORG_MEANINGS.creditsLowMicro),
      budget: z
        .object({
          monthly_micro: amountShape,
          hard: hardShape,
          spike_alert_pct: z.int().optional().describe(ORG_MEANINGS.spikeAlertPct),
        })
        .optional()
        .describe(ORG_MEANINGS.budget),
      hold: z.enum(HOLD_MODES).optional().describe("Absent: `full`"),
    })
    .describe(ORG_MEANINGS.settings),
  data_policy: z
    .object({
      logging: z.enum(LOGGING_MODES).describe(ORG_MEANINGS.logging),
      retention_days: z.int().describe(ORG_MEANINGS.retentionDays),
      zdr: z.boolean().describe(ORG_MEANINGS.zdr),
      no_train: z.boolean().describe(ORG_MEANINGS.noTrain),
      regions: z.array(z.string()).describe(ORG_MEANINGS.regions),
      redact: z
        .object({
          presets: z
            .array(z.string())
            .meta({ examples: [[...PRESET_NAMES]] })
            .describe(ORG_MEANINGS.presets),
          patterns: z.array(z.string()).describe(ORG_MEANINGS.patterns),
        })
        .describe(ORG_MEANINGS.redact),
    })
    .describe(ORG_MEANINGS.dataPolicy),
  created_at: field.createdAt,
  closed_at: field.closedAt.optional(),
  erasure_requested_at: field.time("When erasure was asked for", "Absent: no erasure is pending").optional(),
  erasure_due_at: field
    .time("When the data is erased, and until when this can be cancelled", "Absent: no erasure is pending")
    .optional(),
});

const warningShape = z.object({
  path: z.string().describe("JSON pointer into the org"),
  message: z.string().describe("Names the nearest known word where there is one"),
});
export type OrgWarning = z.output<typeof warningShape>;

/** The answer to a change. */
export const changedOrgShape = orgShape.extend({
  warnings: z
    .array(warningShape)
    .optional()
    .describe(
      "What the data policy asks of endpoints and the catalog does not have: the change is made, and calls may be refused. Absent where there is nothing to say",
    ),
});

/** Why an org's settings refuse a console session now: codes of the errors that its routes answer with. */
export const LOCKS = ["session_expired", "ip_not_allowed", "two_factor_required"] as const;
export type Lock = (typeof LOCKS)[number];

/** What a person needs to pick an org that their session does not open. */
export const lockedOrgShape = orgShape
  .pick({ id: true, slug: true, name: true, kind: true, status: true })
  .extend({
    role: z.enum(ROLES).describe("The asking person's role"),
    locked: z
      .enum(LOCKS)
      .describe(
        "Why the session does not open the org, whose other fields are left out: it is older than the org's `session_hours`, comes from an address that is not allowed, or lacks a second factor",
      ),
  });

/** An org in a list of a person's orgs: one that the session opens, or as much of it as anybody in it may know. */
export const listedOrgShape = z.union([orgShape, lockedOrgShape]);

/** @param lock undefined: the session opens the org */
export function listedOrgWire(
  row: OrgRow,
  role: Role,
  lock: Lock | undefined,
): z.input<typeof listedOrgShape> {
  if (lock === undefined) return orgWire(row, role);
  const { id, slug, name, kind, status } = row;
  return { id, slug, name, kind, status, role, locked: lock };
}

/** @param role of the person who asks; absent for a key. */
export function orgWire(row: OrgRow, role?: Role): z.input<typeof orgShape> {
  const { billingAddress: address, dataPolicy: policy } = row;
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    kind: row.kind,
    billing_country: row.billingCountry,
    billing_currency: row.billingCurrency,
    legal_name: row.legalName,
    gstin: row.gstin,
    tax_id: row.taxId ?? "",
    tax_status: row.taxStatus,
    plan_id: row.planId,
    status: row.status,
    ...(role === undefined ? {} : { role }),
    billing_email: row.billingEmail,
    billing_address: {
      line1: address.line1,
      city: address.city,
      state_code: address.stateCode,
      postal_code: address.postalCode,
      country: address.country,
    },
    settings: settingsWire(row),
    data_policy: {
      logging: policy.logging,
      retention_days: policy.retentionDays,
      zdr: policy.zdr,
      no_train: policy.noTrain,
      regions: [...policy.regions],
      redact: { presets: [...policy.redact.presets], patterns: [...policy.redact.patterns] },
    },
    created_at: isoTime(row.createdAtMs),
    ...(row.closedAtMs === null ? {} : { closed_at: isoTime(row.closedAtMs) }),
    ...(row.erasureRequestedAtMs === null ? {} : { erasure_requested_at: isoTime(row.erasureRequestedAtMs) }),
    ...(row.erasureDueAtMs === null ? {} : { erasure_due_at: isoTime(row.erasureDueAtMs) }),
  };
}

function settingsWire({ security, timeZone, creditsLowMicroUsd, budget, hold }: OrgRow) {
  const low = creditsLowMicroUsd ?? null;
  return {
    security: {
      require_2fa: security.require2fa,
      session_hours: security.sessionHours,
      console_ip_allow: [...security.consoleIpAllow],
      key_default_expiry_days: security.keyDefaultExpiryDays,
    },
    timezone: timeZone,
    ...(low === null ? {} : { credits_low_micro: low }),
    ...(budget === undefined ? {} : { budget: orgBudgetWire(budget) }),
    ...(hold !== undefined && { hold }),
  };
}

function orgBudgetWire({ monthlyMicroUsd, hard, spikeAlertPct }: NonNullable<OrgRow["budget"]>) {
  const shown = budgetWire({ microUsd: monthlyMicroUsd, hard });
  return {
    monthly_micro: shown.microUsd,
    hard: shown.hard,
    ...(spikeAlertPct === null ? {} : { spike_alert_pct: spikeAlertPct }),
  };
}
