/**
 * An org after a change: the fields of the request in their places of the row, and what follows from them. Whether the parts
 * then agree is `checkProfile`'s to say; a frozen currency and a lock-out of the author are the operation's.
 */

import { budgetAfter } from "../fields/budget-fields.ts";
import { withHold } from "../fields/hold-field.ts";
import {
  type BillingAddress,
  currencyOf,
  defaultTaxStatus,
  type OrgBudget,
  type OrgDataPolicy,
  type OrgRow,
  type SecuritySettings,
} from "../org.ts";
import { normalAddress } from "./address.ts";
import type { OrgPatch } from "./org-fields.ts";

type Given<F extends keyof OrgPatch> = NonNullable<OrgPatch[F]>;

const NO_BUDGET: OrgBudget = { monthlyMicroUsd: null, hard: true, spikeAlertPct: null };

/** The row after a change; the same where nothing is given. @throws WeirError 400: a hard budget without an amount */
export function orgAfter(row: OrgRow, patch: OrgPatch): OrgRow {
  const { settings } = patch;
  return withHold<OrgRow>(
    {
      ...row,
      ...profileAfter(row, patch),
      name: patch.name ?? row.name,
      billingEmail: patch.billing_email ?? row.billingEmail,
      timeZone: settings?.timezone ?? row.timeZone,
      security: securityAfter(row.security, settings?.security),
      dataPolicy: dataPolicyAfter(row.dataPolicy, patch.data_policy),
      ...(settings?.credits_low_micro === undefined
        ? {}
        : { creditsLowMicroUsd: settings.credits_low_micro }),
      ...(settings?.budget === undefined ? {} : { budget: orgBudgetAfter(row.budget, settings.budget) }),
    },
    settings?.hold,
  );
}

/** Whether a change touches what `checkProfile` looks at. */
export const changesProfile = (patch: OrgPatch): boolean =>
  [patch.billing_country, patch.billing_address, patch.gstin, patch.tax_id, patch.tax_status].some(
    (f) => f !== undefined,
  );

/**
 * A new billing country brings its currency, moves the address with it, and where the border of India is crossed brings
 * the tax status that a new org has there, unless the change names another.
 */
function profileAfter(row: OrgRow, patch: OrgPatch) {
  const billingCountry = patch.billing_country ?? row.billingCountry;
  const currency = currencyOf(billingCountry);
  const taxId = patch.tax_id ?? row.taxId ?? "";
  const crosses = (billingCountry === "IN") !== (row.billingCountry === "IN");
  const country = billingCountry === row.billingCountry ? row.billingAddress.country : billingCountry;
  return {
    billingCountry,
    billingCurrency: billingCountry === row.billingCountry ? row.billingCurrency : currency,
    legalName: patch.legal_name ?? row.legalName,
    gstin: patch.gstin ?? row.gstin,
    ...((taxId !== "" || row.taxId !== undefined) && { taxId }),
    taxStatus: patch.tax_status ?? (crosses ? defaultTaxStatus(billingCountry) : row.taxStatus),
    billingAddress: addressAfter({ ...row.billingAddress, country }, patch.billing_address),
  };
}

function addressAfter(old: BillingAddress, given: Given<"billing_address"> | undefined): BillingAddress {
  return normalAddress({
    line1: given?.line1 ?? old.line1,
    city: given?.city ?? old.city,
    stateCode: given?.state_code ?? old.stateCode,
    postalCode: given?.postal_code ?? old.postalCode,
    country: given?.country ?? old.country,
  });
}

function securityAfter(old: SecuritySettings, given: Given<"settings">["security"]): SecuritySettings {
  return {
    require2fa: given?.require_2fa ?? old.require2fa,
    sessionHours: given?.session_hours ?? old.sessionHours,
    consoleIpAllow: given?.console_ip_allow ?? old.consoleIpAllow,
    keyDefaultExpiryDays: given?.key_default_expiry_days ?? old.keyDefaultExpiryDays,
  };
}

/** The same object where nothing is given: rules are cached by it (`redactor` of workers). */
function dataPolicyAfter(old: OrgDataPolicy, given: OrgPatch["data_policy"]): OrgDataPolicy {
  if (given === undefined) return old;
  return {
    logging: given.logging ?? old.logging,
    retentionDays: given.retention_days ?? old.retentionDays,
    zdr: given.zdr ?? old.zdr,
    noTrain: given.no_train ?? old.noTrain,
    regions: given.regions ?? old.regions,
    redact: {
      presets: given.redact?.presets ?? old.redact.presets,
      patterns: given.redact?.patterns ?? old.redact.patterns,
    },
  };
}

function orgBudgetAfter(
  old: OrgBudget = NO_BUDGET,
  given: NonNullable<Given<"settings">["budget"]>,
): OrgBudget {
  const { microUsd, hard } = budgetAfter(
    { microUsd: old.monthlyMicroUsd, hard: old.hard },
    { amount: given.monthly_micro, hard: given.hard },
    "/settings/budget/monthly_micro",
  );
  const spikeAlertPct = given.spike_alert_pct === undefined ? old.spikeAlertPct : given.spike_alert_pct;
  return { monthlyMicroUsd: microUsd, hard, spikeAlertPct };
}
