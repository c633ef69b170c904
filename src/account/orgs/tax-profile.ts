/**
 * What an org says about its taxes: that its parts agree (`checkProfile`, at every change), and what a quote and its invoice
 * still lack (`billingProfileGaps`). No register is asked. Conditions: CGST rule 46 (what an invoice states of its
 * recipient), IGST Act sections 12 (place of supply) and 16 (exports and supplies to special economic zones).
 */

import { countryName } from "../fields/countries.ts";
import { isIndianState, stateLabel } from "../fields/gst-states.ts";
import { gstinFault } from "../fields/gstin.ts";
import { taxIdFault } from "../fields/tax-id.ts";
import type { OrgRow } from "../org.ts";
import { addressFault, type Fault } from "./address.ts";

/** The parts of an org that taxes depend on. */
export type TaxProfile = Pick<OrgRow, "billingCountry" | "taxStatus" | "gstin" | "taxId" | "billingAddress">;

/** Tax statuses of registered taxpayers, which have a GSTIN. */
const needsGstin = ({ taxStatus }: TaxProfile): boolean =>
  taxStatus === "gst_registered" || taxStatus === "sez";

/**
 * The first contradiction of a profile after a change, with the pointer of the field to correct. What is empty contradicts
 * nothing, save a GSTIN where the tax status has one.
 */
export function checkProfile(next: TaxProfile): Fault | undefined {
  return countryFault(next) ?? addressFault(next.billingAddress) ?? taxFault(next) ?? foreignFault(next);
}

function countryFault({ billingCountry, billingAddress: { country } }: TaxProfile): Fault | undefined {
  if (country === billingCountry) return undefined;
  return {
    param: "/billing_address/country",
    message: `The address is in ${countryName(country)}, but billing_country is ${billingCountry}. They must be the same.`,
  };
}

function taxFault(next: TaxProfile): Fault | undefined {
  const { billingCountry, taxStatus, gstin, billingAddress } = next;
  if ((billingCountry === "IN") === (taxStatus === "overseas")) {
    const message =
      billingCountry === "IN"
        ? "An org in India is unregistered, gst_registered or sez; overseas is for other countries."
        : `An org in ${countryName(billingCountry)} is overseas; ${taxStatus} is for India only.`;
    return { param: "/tax_status", message };
  }
  if (!needsGstin(next)) {
    if (gstin === "") return undefined;
    const registered =
      taxStatus === "unregistered" ? " Set tax_status to gst_registered or sez with it." : "";
    return { param: "/gstin", message: `An org that is ${taxStatus} has no GSTIN.${registered}` };
  }
  if (gstin === "") return { param: "/gstin", message: `An org that is ${taxStatus} needs its GSTIN.` };
  const fault = gstinFault(gstin);
  if (fault !== undefined) return { param: "/gstin", message: `It is not valid: ${fault}.` };
  const state = gstin.slice(0, 2);
  if (billingAddress.stateCode === "" || billingAddress.stateCode === state) return undefined;
  return {
    param: "/billing_address/state_code",
    message:
      `The GSTIN is of ${stateLabel(state)}, but the address is in ${stateLabel(billingAddress.stateCode)}. ` +
      "Give the GSTIN and the address of the same state.",
  };
}

function foreignFault({ billingCountry, taxId = "" }: TaxProfile): Fault | undefined {
  if (billingCountry === "IN" && taxId !== "")
    return { param: "/tax_id", message: "It is for orgs outside India; in India the number is the GSTIN." };
  const fault = taxIdFault(billingCountry, taxId);
  return fault === undefined ? undefined : { param: "/tax_id", message: `It is not valid: ${fault}.` };
}

/**
 * JSON pointers of the fields that an org must fill in before a quote; none if it may be quoted. An Indian org needs State
 * and PIN always (the proviso of CGST rule 46 for online services), a registered one its GSTIN. Abroad the country is enough.
 */
export function billingProfileGaps(org: TaxProfile): string[] {
  const { billingAddress, gstin } = org;
  const gaps: string[] = [];
  if (org.billingCountry === "IN") {
    if (!isIndianState(billingAddress.stateCode)) gaps.push("/billing_address/state_code");
    if (billingAddress.postalCode === "") gaps.push("/billing_address/postal_code");
  }
  if (needsGstin(org)) {
    const isOfState = billingAddress.stateCode === "" || gstin.startsWith(billingAddress.stateCode);
    if (gstin === "" || !isOfState) gaps.push("/gstin");
  }
  return gaps;
}
