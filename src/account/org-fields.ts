/**
 * Fields of an org in requests: bounds and forms. What depends on several fields is checked on the org after the change
 * (tax-profile.ts). In a change every field is optional at every depth, and what is absent stays as it is.
 */
import { z } from "zod";
import { cidrListField } from "../cidr-list.ts";
import { PRESET_NAMES } from "../redaction.ts";
import { addressField } from "./address.ts";
import { orgBudgetField } from "./budget-fields.ts";
import { countryField } from "./countries.ts";
import { optionalEmailField } from "./email.ts";
import { gstinField } from "./gstin.ts";
import { LOGGING_MODES, ORG_KINDS, TAX_STATUSES } from "./org.ts";
import { redactionPatternsField } from "./redaction-patterns.ts";
import { orgSlugField } from "./slug.ts";
import { orgNameField, plainText } from "./text-field.ts";
import { timeZoneField } from "./time-zone.ts";

export const createOrgBody = z.strictObject({
  slug: orgSlugField.meta({ examples: ["acme"] }),
  name: orgNameField.meta({ examples: ["Acme"] }),
  billing_country: countryField.describe("Decides the currency: INR for IN, else USD"),
  kind: z.enum(ORG_KINDS).default("team"),
});

const securityField = z.strictObject({
  require_2fa: z.boolean().optional(),
  session_hours: z.int().min(1).max(720).optional(),
  console_ip_allow: cidrListField.optional().describe("Empty: from anywhere"),
  key_default_expiry_days: z
    .int()
    .min(0)
    .max(3650)
    .optional()
    .describe("Lifetime of keys made without `expires_in`; 0: unlimited"),
});

const settingsField = z.strictObject({
  security: securityField.optional(),
  timezone: timeZoneField.optional().describe("IANA zone by whose midnight budgets reset"),
  credits_low_micro: z
    .int()
    .min(0)
    .nullable()
    .optional()
    .describe("micro-USD; the org is told when its balance falls below. null: it is not told"),
  budget: orgBudgetField.optional().describe("Of the whole org"),
});

/** An endpoint's region, such as `eu-central-1`. */
const regionField = z
  .string()
  .regex(/^[a-z0-9-]{1,32}$/, "lower-case letters, digits and hyphens, at most 32");

const dataPolicyField = z.strictObject({
  logging: z
    .enum(LOGGING_MODES)
    .optional()
    .describe(
      "`on`: payloads and record; `metadata`: record only; `off`: record only, payloads stay in memory",
    ),
  retention_days: z.int().min(0).max(400).optional(),
  zdr: z.boolean().optional().describe("Only endpoints that keep nothing"),
  no_train: z.boolean().optional().describe("Only endpoints that do not train on data"),
  regions: z
    .array(regionField)
    .max(32, "at most 32 regions")
    .transform((regions) => [...new Set(regions)])
    .optional()
    .describe("Empty: any region"),
  redact: z
    .strictObject({
      presets: z
        .array(z.enum(PRESET_NAMES))
        .max(32, "each preset once")
        .transform((presets) => PRESET_NAMES.filter((name) => presets.includes(name)))
        .optional(),
      patterns: redactionPatternsField.optional().describe("RE2 expressions"),
    })
    .optional(),
});

export const patchOrgBody = z.strictObject({
  name: orgNameField.optional(),
  billing_country: countryField.optional().describe("Decides the currency: INR for IN, else USD"),
  legal_name: plainText(200).optional().describe("As registered; printed on invoices"),
  gstin: gstinField.optional().describe("India: number of the taxpayer under GST; empty for none"),
  tax_status: z.enum(TAX_STATUSES).optional(),
  billing_email: optionalEmailField.optional().describe("Where invoices go; empty for none"),
  billing_address: addressField.optional(),
  settings: settingsField.optional(),
  data_policy: dataPolicyField.optional(),
});

/** A change of an org, as a request with valid fields asks for it. */
export type OrgPatch = z.output<typeof patchOrgBody>;
