/**
 * Fields of an org in requests: bounds and forms. What depends on several fields is checked on the org after the change
 * (tax-profile.ts). In a change every field is optional at every depth, and what is absent stays as it is.
 */
import { z } from "zod";
import { cidrListField } from "../../base/network/cidr-list.ts";
import { PRESET_NAMES } from "../../workers/redaction.ts";
import { orgBudgetField } from "../fields/budget-fields.ts";
import { countryField } from "../fields/countries.ts";
import { optionalEmailField } from "../fields/email.ts";
import { gstinField } from "../fields/gstin.ts";
import { changedHoldField } from "../fields/hold-field.ts";
import { ORG_MEANINGS } from "../fields/org-meanings.ts";
import { redactionPatternsField } from "../fields/redaction-patterns.ts";
import { orgSlugField } from "../fields/slug.ts";
import { taxIdField } from "../fields/tax-id.ts";
import { orgNameField, plainText } from "../fields/text-field.ts";
import { timeZoneField } from "../fields/time-zone.ts";
import { LOGGING_MODES, ORG_KINDS, TAX_STATUSES } from "../org.ts";
import { addressField } from "./address.ts";

export const createOrgBody = z.strictObject({
  slug: orgSlugField.describe(ORG_MEANINGS.slug).meta({ examples: ["acme"] }),
  name: orgNameField.describe(ORG_MEANINGS.name).meta({ examples: ["Acme"] }),
  billing_country: countryField.describe(ORG_MEANINGS.billingCountry),
  kind: z.enum(ORG_KINDS).default("team").describe(ORG_MEANINGS.kind),
});

const securityField = z.strictObject({
  require_2fa: z.boolean().optional().describe(ORG_MEANINGS.require2fa),
  session_hours: z.int().min(1).max(720).optional().describe(ORG_MEANINGS.sessionHours),
  console_ip_allow: cidrListField.optional().describe(ORG_MEANINGS.consoleIpAllow),
  key_default_expiry_days: z.int().min(0).max(3650).optional().describe(ORG_MEANINGS.keyDefaultExpiryDays),
});

const settingsField = z.strictObject({
  security: securityField.optional().describe(ORG_MEANINGS.security),
  timezone: timeZoneField.optional().describe(ORG_MEANINGS.timezone),
  credits_low_micro: z.int().min(0).nullable().optional().describe(ORG_MEANINGS.creditsLowMicro),
  budget: orgBudgetField.optional().describe(ORG_MEANINGS.budget),
  hold: changedHoldField.optional(),
});

/** An endpoint's region, such as `eu-central-1`. */
const regionField = z
  .string()
  .regex(/^[a-z0-9-]{1,32}$/, "lower-case letters, digits and hyphens, at most 32");

const dataPolicyField = z.strictObject({
  logging: z.enum(LOGGING_MODES).optional().describe(ORG_MEANINGS.logging),
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
        .optional()
        .describe(ORG_MEANINGS.presets),
      patterns: redactionPatternsField.optional().describe(ORG_MEANINGS.patterns),
    })
    .optional()
    .describe(ORG_MEANINGS.redact),
});

export const patchOrgBody = z.strictObject({
  name: orgNameField.optional().describe(ORG_MEANINGS.name),
  billing_country: countryField.optional().describe(ORG_MEANINGS.billingCountry),
  legal_name: plainText(200).optional().describe(ORG_MEANINGS.legalName),
  gstin: gstinField.optional().describe(ORG_MEANINGS.gstin),
  tax_id: taxIdField.optional().describe(ORG_MEANINGS.taxId),
  tax_status: z.enum(TAX_STATUSES).optional().describe(ORG_MEANINGS.taxStatus),
  billing_email: optionalEmailField.optional().describe(ORG_MEANINGS.billingEmail),
  billing_address: addressField.optional().describe(ORG_MEANINGS.billingAddress),
  settings: settingsField.optional().describe(ORG_MEANINGS.settings),
  data_policy: dataPolicyField.optional().describe(ORG_MEANINGS.dataPolicy),
});

/** A change of an org, as a request with valid fields asks for it. */
export type OrgPatch = z.output<typeof patchOrgBody>;
