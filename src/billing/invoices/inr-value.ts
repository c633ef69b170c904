/**
 * What a document is worth in rupees, as returns and the registration portal take it: an export in dollars by the rate that
 * stands on it. Parts add up to their whole to the paisa.
 */

import { inPaise } from "./amount.ts";
import type { InvoiceRow, TaxedAmount } from "./invoice.ts";
import { eachHead, totalOf } from "./tax.ts";

export interface InrValue extends TaxedAmount {
  readonly totalMinor: number;
}

export function inrValue({ currency, taxableMinor, heads, rate, totalMinor }: InvoiceRow): InrValue {
  if (currency === "INR") return { taxableMinor, heads, totalMinor };
  const paise = (cents: number) => inPaise(cents, rate.usdInr);
  const value = {
    taxableMinor: paise(taxableMinor),
    heads: eachHead((head) => paise(heads[head])),
  };
  return { ...value, totalMinor: totalOf(value) };
}

/** Splits a whole by weights, to the unit: each part ends where its share of the whole ends. @param weights 0 or more */
export function splitBy(whole: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((total, weight) => total + BigInt(weight), 0n);
  let upTo = 0n;
  let given = 0n;
  return weights.map((weight) => {
    upTo += BigInt(weight);
    const end = sum === 0n ? 0n : (2n * BigInt(whole) * upTo + sum) / (2n * sum);
    const part = end - given;
    given = end;
    return Number(part);
  });
}
