/** What invoices will say of tax, by who is billed and who sells. Pure. */
import type { Operations } from "../../api/operations.ts";
import { GSTIN_LENGTH, gstinOf, stateOfCode } from "./gstin.ts";
import { hasGstin, type ProfileValues } from "./profile-values.ts";

type Gst = Operations["getPricing"]["answer"]["gst"];

export interface TaxWords {
  /** `Karnataka (29)`; undefined where documents name none. */
  readonly placeOfSupply: string | undefined;
  /** Heads with their rates, or why there are none. */
  readonly tax: string;
  /** What it means for who is billed; undefined where nothing is to be said. */
  readonly about: string | undefined;
}

const percent = (bps: number): string => `${bps / 100} %`;
/** Union territories without a legislature: UTGST takes the place of SGST (UTGST Act, section 1). */
const UNION_TERRITORIES = ["04", "26", "31", "35", "38"];

/**
 * As the supplier's law has it: IGST Act, section 12 (2): the place of supply is the recipient's State, by the GSTIN before the address.
 * @param country of the billing address, ISO 3166-1 alpha-2
 */
export function taxWords(country: string, values: ProfileValues, gst: Gst): TaxWords {
  if (gst.rate_bps === 0)
    return { placeOfSupply: undefined, tax: "None", about: "The seller is not registered for GST." };
  const rate = percent(gst.rate_bps);
  if (country !== "IN")
    return {
      placeOfSupply: "Outside India (96)",
      tax: `None under a letter of undertaking, else IGST at ${rate}`,
      about: "It is an export of services, which is zero-rated.",
    };
  const gstin = hasGstin(values.taxStatus) ? gstinOf(values.gstin) : "";
  const code = gstin.length === GSTIN_LENGTH ? gstin.slice(0, 2) : values.stateCode;
  const placeOfSupply = stateOfCode(code);
  if (values.taxStatus === "sez")
    return {
      placeOfSupply,
      tax: `None under a letter of undertaking, else IGST at ${rate}`,
      about: "A supply to a special economic zone is zero-rated, and is registered as an e-invoice.",
    };
  const about =
    gstin === ""
      ? "Without a GSTIN the tax cannot be claimed as input credit."
      : "With the GSTIN the tax can be claimed as input credit.";
  if (placeOfSupply === undefined) return { placeOfSupply, tax: `GST at ${rate}`, about };
  if (code !== gst.supplier_state) return { placeOfSupply, tax: `IGST at ${rate}`, about };
  const half = percent(gst.rate_bps / 2);
  const second = UNION_TERRITORIES.includes(code) ? "UTGST" : "SGST";
  return { placeOfSupply, tax: `CGST at ${half} and ${second} at ${half}`, about };
}
