/** Dollars in rupees, and spreads: in whole numbers, never through a float. */
import type { InvoiceRate } from "./invoice.ts";

/** An amount in USD cents as INR paise, half up. @param usdInr INR per USD, at most eight digits after the point */
export function inPaise(cents: number, usdInr: string): number {
  return Number((BigInt(cents) * units(usdInr) + 50_000_000n) / 100_000_000n);
}

/** A rate in units of 10⁻⁸. */
function units(rate: string): bigint {
  const [whole = "", fraction = ""] = rate.split(".");
  return BigInt(whole + fraction.padEnd(8, "0").slice(0, 8));
}

/**
 * What of an amount in INR is the spread: the amount less what its credit is worth at the day's rate, half up. 0 where it was not
 * sold with a spread.
 */
export function spreadOf(
  minor: number,
  { usdInr, charged }: Pick<InvoiceRate, "usdInr" | "charged">,
): number {
  if (charged === undefined) return 0;
  const [mid, sold] = [units(usdInr), units(charged)];
  return minor - Number((2n * BigInt(minor) * mid + sold) / (2n * sold));
}

/** The source of rates that the operator wrote down without one, as invoices print it. */
export const SUPPLIERS_RATE = "set by the supplier";

/** `2 %`, `1.25 %`. */
export const percentText = (bps: number): string => `${bps / 100} %`;

/** Exact to two digits: the nearest number prints as the same decimal. */
export const rupees = (paise: number): number => paise / 100;
