/**
 * Indian goods and services tax on an amount: which heads, at which rate, and what a credit note takes back. Amounts are
 * integers in minor units; each head is rounded once, half up (CGST Act, section 170, to the paisa instead of the rupee).
 */
import { ABROAD, isIndianState } from "../../account/fields/gst-states.ts";
import { isAmount } from "../../base/money.ts";
import type { Recipient, SupplierIdentity, TaxedAmount, TaxHeads, TaxTreatment } from "./invoice.ts";

/** 18 %: SAC 9983, Notification 11/2017-Central Tax (Rate), entry 21. */
export const RATE_BPS = 1800;
const WHOLE_BPS = 10_000n;

/** Union territories without a legislature: UTGST takes the place of SGST (UTGST Act, section 1). */
const UNION_TERRITORIES: ReadonlySet<string> = new Set(["04", "26", "31", "35", "38"]);

/** Tax by head, each reckoned in the same way. */
export const eachHead = (minorOf: (head: keyof TaxHeads) => number): TaxHeads => ({
  cgstMinor: minorOf("cgstMinor"),
  sgstMinor: minorOf("sgstMinor"),
  igstMinor: minorOf("igstMinor"),
});

export const NO_HEADS: TaxHeads = Object.freeze(eachHead(() => 0));
export const NO_AMOUNT: TaxedAmount = Object.freeze({ taxableMinor: 0, heads: NO_HEADS });

/** What a treatment depends on, of the supplier. */
type TaxedSupplier = Pick<SupplierIdentity, "country" | "stateCode" | "lut">;

/**
 * How a supply to the recipient is taxed. Place of supply: IGST Act, section 12 (2) (the recipient's registration, else the
 * address on record, else the supplier's State) and 13 (2) for recipients abroad. Zero rates: section 16.
 */
export function treatmentFor(supplier: TaxedSupplier, recipient: Recipient): TaxTreatment {
  if (supplier.country !== "IN")
    return { kind: "none", placeOfSupply: "", rateBps: 0, isUnionTerritory: false };
  const placeOfSupply = placeOf(supplier, recipient);
  if (placeOfSupply === ABROAD || recipient.taxStatus === "sez") {
    const isUnderLut = supplier.lut !== "";
    return {
      kind: isUnderLut ? "zero_lut" : "zero_igst",
      placeOfSupply,
      rateBps: isUnderLut ? 0 : RATE_BPS,
      isUnionTerritory: false,
    };
  }
  const isIntra = placeOfSupply === supplier.stateCode;
  return {
    kind: isIntra ? "intra" : "inter",
    placeOfSupply,
    rateBps: RATE_BPS,
    isUnionTerritory: isIntra && UNION_TERRITORIES.has(placeOfSupply),
  };
}

function placeOf(supplier: TaxedSupplier, { address, gstin }: Recipient): string {
  if (address.country !== "IN") return ABROAD;
  if (gstin !== "") return gstin.slice(0, 2);
  return isIndianState(address.stateCode) ? address.stateCode : supplier.stateCode;
}

/** @throws RangeError where the amount is no integer of 0 to 2^53 − 1, or is not with its tax */
export function headsOf(treatment: TaxTreatment, taxableMinor: number): TaxHeads {
  assertMinor(taxableMinor);
  if (treatment.rateBps === 0) return NO_HEADS;
  const isSplit = treatment.kind === "intra";
  const each = taxAt(taxableMinor, isSplit ? treatment.rateBps / 2 : treatment.rateBps);
  const heads = isSplit
    ? { cgstMinor: each, sgstMinor: each, igstMinor: 0 }
    : { cgstMinor: 0, sgstMinor: 0, igstMinor: each };
  assertMinor(totalOf({ taxableMinor, heads }));
  return heads;
}

/** Half up. */
const taxAt = (taxableMinor: number, rateBps: number): number =>
  Number((BigInt(taxableMinor) * BigInt(rateBps) + WHOLE_BPS / 2n) / WHOLE_BPS);

export const taxOf = ({ cgstMinor, sgstMinor, igstMinor }: TaxHeads): number =>
  cgstMinor + sgstMinor + igstMinor;

export const totalOf = ({ taxableMinor, heads }: TaxedAmount): number => taxableMinor + taxOf(heads);

/** @throws RangeError where the sum leaves 2^53 */
export function plus(one: TaxedAmount, other: TaxedAmount): TaxedAmount {
  const sum = {
    taxableMinor: one.taxableMinor + other.taxableMinor,
    heads: eachHead((head) => one.heads[head] + other.heads[head]),
  };
  assertMinor(totalOf(sum));
  return sum;
}

/**
 * Tax of a part of an invoice that is taken back: in proportion, each head so rounded that all parts so far are right to the
 * paisa together. So the part that empties the invoice takes each head's remainder, and no head is ever more than it was.
 * @param already what earlier credit notes took back
 * @throws RangeError where the part is not positive, or more than is left
 */
export function shareOf(original: TaxedAmount, already: TaxedAmount, partTaxableMinor: number): TaxHeads {
  assertMinor(partTaxableMinor);
  const upTo = already.taxableMinor + partTaxableMinor;
  if (partTaxableMinor === 0 || upTo > original.taxableMinor) {
    const left = original.taxableMinor - already.taxableMinor;
    throw new RangeError(`a part of ${partTaxableMinor} of an invoice of which ${left} is left`);
  }
  return eachHead((head) => {
    const whole = original.heads[head];
    const due = proportion(whole, upTo, original.taxableMinor);
    return Math.min(Math.max(0, due - already.heads[head]), whole - already.heads[head]);
  });
}

/**
 * A part of an invoice of which only the total is known, as money that went back elsewhere: its tax in proportion, each head so
 * rounded that all parts so far are right together, and the rest before tax. Amount and tax are this total to the paisa.
 * @param already what earlier credit notes took back
 * @returns undefined where no such part is left
 */
export function splitOf(
  original: TaxedAmount,
  already: TaxedAmount,
  partTotalMinor: number,
): TaxedAmount | undefined {
  assertMinor(partTotalMinor);
  const left = {
    taxableMinor: original.taxableMinor - already.taxableMinor,
    heads: eachHead((head) => original.heads[head] - already.heads[head]),
  };
  if (left.taxableMinor <= 0 || partTotalMinor === 0 || partTotalMinor > totalOf(left)) return undefined;
  if (partTotalMinor === totalOf(left)) return left;
  // Central and State tax are the same amount.
  const isHalves = original.heads.cgstMinor > 0;
  const [head, heads] = isHalves ? (["cgstMinor", 2] as const) : (["igstMinor", 1] as const);
  const due = proportion(original.heads[head], totalOf(already) + partTotalMinor, totalOf(original));
  // Something is taxable, and while tax is left, something taxable is too.
  const most = Math.min(left.heads[head], Math.floor((partTotalMinor - 1) / heads));
  const least = Math.max(0, Math.ceil((partTotalMinor - left.taxableMinor + 1) / heads));
  if (least > most) return undefined;
  const each = Math.min(most, Math.max(least, due - already.heads[head]));
  return {
    taxableMinor: partTotalMinor - heads * each,
    heads: isHalves
      ? { cgstMinor: each, sgstMinor: each, igstMinor: 0 }
      : { cgstMinor: 0, sgstMinor: 0, igstMinor: each },
  };
}

/** `whole × part / of`, half up. */
const proportion = (whole: number, part: number, of: number): number =>
  Number((2n * BigInt(whole) * BigInt(part) + BigInt(of)) / (2n * BigInt(of)));

function assertMinor(minor: number): void {
  if (!isAmount(minor)) throw new RangeError(`${minor} is no amount`);
}
