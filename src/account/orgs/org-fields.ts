/**
 * Fields of an org in requests: bounds and forms. What depends on several fields is checked on the org after the change
 * (tax-profile.ts). In a change every field is optional at every depth, and what is absent stays as it is.
 */
import { z } from "zod";
import { cidrListField } from "../../base/cidr-list.ts";
import { PRESET_NAMES } from "../../workers/redaction.ts";
import { orgBudgetField } from "../fields/budget-fields.ts";
import { countryField } from "../fields/countries.ts";
import { optionalEmailField } from "../fields/email.ts";
import { gstinField } from "../fields/gstin.ts";
import { changedHoldField } from "../fields/hold-field.ts";
import { redactionPatternsField } from "../fields/redaction-patterns.ts";
import { orgSlugField } from "../fields/slug.ts";
import { taxIdField } from "../fields/tax-id.ts";
import { orgNameField, plainText } from "../fields/text-field.ts";
import { timeZoneField } from "../fields/time-zone.ts";
import { LOGGING_MODES, ORG_KINDS, TAX_STATUSES } from "../org.ts";
import { addressField } from "./address.ts";
import { ORG_MEANINGS } from "./org-meanings.ts";

export const createOrgBody = z.strictObject({
  slug: orgSlugField.describe(ORG_MEANINGS.slug).meta({ examples: ["acme"] }),
  name: orgNameField.describe(ORG_MEANINGS.name).meta({ examples: ["Acme"] }),
  billing_country: countryField,
  kind: z.enum(ORG_KINDS).default("team").describe(ORG_MEANINGS.kind),
});

const securityField = z.strictObject({
  require_2fa: z.boolean().optional(),
  session_hours: z.int().min(1).max(720).optional(),
  console_ip_allow: cidrListField.optional(),
  key_default_expiry_days: z.int().min(0).max(3650).optional(),
});

const settingsField = z.strictObject({
  security: securityField.optional(),
  timezone: timeZoneField.optional(),
  credits_low_micro: z.int().min(0).nullable().optional(),
  budget: orgBudgetField.optional(),
  hold: changedHoldField.optional(),
});

/** An endpoint's region, such as `eu-central-1`. */
const regionField = z
  .string()
  .regex(/^[a-z0-9-]{1,32}$/, "lower-case letters, digits and hyphens, at most 32");

const dataPolicyField = z.strictObject({
  logging: z.enum(LOGGING_MODES).optional(),
  retention_days: z.int().min(0).max(400).optional().describe(ORG_MEANINGS.retentionDays),
  zdr: z.boolean().optional().describe(ORG_MEANINGS.zdr),
  no_train: z.boolean().optional().describe(ORG_MEANINGS.noTrain),
  regions: z
    .array(regionField)
    .max(32, "at most 32 regions")
    .transform((regions) => [...new Set(regions)])
    .optional()
    .describe(ORG_MEANINGS.regions),
  redact: z
    .strictObject({
      presets: z
        .array(z.enum(PRESET_NAMES))
        .max(32, "each preset once")
        .transform((presets) => PRESET_NAMES.filter((name) => presets.includes(name)))
        .optional(),
      patterns: redactionPatternsField.optional(),
    })
    .optional(),
});

export const patchOrgBody = z.strictObject({
  name: orgNameField.optional().describe(ORG_MEANINGS.name),
  billing_country: countryField.optional(),
  legal_name: plainText(200).optional(),
  gstin: gstinField.optional(),
  tax_id: taxIdField.optional(),
  tax_status: z.enum(TAX_STATUSES).optional(),
  billing_email: optionalEmailField.optional(),
  billing_address: addressField.optional(),
  settings: settingsField.optional(),
  data_policy: dataPolicyField.optional(),
});

/** A change of an org, as a request with valid fields asks for it. */
export type OrgPatch = z.output<typeof patchOrgBody>;
