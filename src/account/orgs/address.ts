/**
 * The billing address. Its parts may be empty, for a profile is filled in piece by piece; a part that is given must fit the
 * country. What an invoice needs beyond that is asked at the quote (`billingProfileGaps` of tax-profile.ts).
 */
import { z } from "zod";
import { countryField } from "../fields/countries.ts";
import { isIndianState } from "../fields/gst-states.ts";
import { ORG_MEANINGS } from "../fields/org-meanings.ts";
import { normalPostalCode, postalCodeFault } from "../fields/postal-code.ts";
import { asciiUpper, plainText } from "../fields/text-field.ts";
import type { BillingAddress } from "../org.ts";

/** A field at fault, for an error: `param` is its JSON pointer in the request, `message` a sentence for its sender. */
export interface Fault {
  readonly param: string;
  readonly message: string;
}

/** The field `billing_address` of a request; parts of the address that are absent stay as they are. */
export const addressField = z.strictObject({
  line1: plainText(200).optional().describe(ORG_MEANINGS.line1),
  city: plainText(100).optional().describe(ORG_MEANINGS.city),
  state_code: plainText(50).optional().describe(ORG_MEANINGS.stateCode),
  postal_code: plainText(20).optional().describe(ORG_MEANINGS.postalCode),
  country: countryField.optional().describe(ORG_MEANINGS.addressCountry),
});

/** ISO 3166-2 codes without the country, as the post of each country writes them. */
const STATES: Readonly<Record<string, readonly string[]>> = {
  US: [
    ..."AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ".split(" "),
    ..."NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC".split(" "),
    // Outlying areas, and the armed forces.
    ..."AS GU MP PR UM VI AA AE AP".split(" "),
  ],
  CA: "AB BC MB NB NL NS NT NU ON PE QC SK YT".split(" "),
  AU: "ACT NSW NT QLD SA TAS VIC WA".split(" "),
};

const statesOf = (country: string): readonly string[] | undefined =>
  Object.hasOwn(STATES, country) ? STATES[country] : undefined;

/** The address with state and postal code as its country writes them. Changes no part that is wrong. */
export function normalAddress(address: BillingAddress): BillingAddress {
  const { country, stateCode, postalCode } = address;
  return {
    ...address,
    stateCode: statesOf(country) === undefined ? stateCode : asciiUpper(stateCode),
    postalCode: normalPostalCode(country, postalCode),
  };
}

/** The first part of a normal address that does not fit its country. */
export function addressFault({ country, stateCode, postalCode }: BillingAddress): Fault | undefined {
  const state = stateCode === "" ? undefined : stateFault(country, stateCode);
  if (state !== undefined) return { param: "/billing_address/state_code", message: state };
  const postal = postalCode === "" ? undefined : postalCodeFault(country, postalCode);
  return postal === undefined ? undefined : { param: "/billing_address/postal_code", message: postal };
}

function stateFault(country: string, code: string): string | undefined {
  if (country === "IN") {
    if (isIndianState(code)) return undefined;
    return "In India the state is its GST state code of two digits, such as 29 for Karnataka.";
  }
  const states = statesOf(country);
  if (states === undefined || states.includes(code)) return undefined;
  return `${country} has no state ${code}. Use the post's letters, such as ${states[0]}.`;
}
