/**
 * Rates of exchange, and credit for money. Rates are decimal strings of eight digits outside and integers of 10⁻⁸ inside; no
 * float touches them. Formulas: control-plane design, "FX".
 */

const UNIT = 100_000_000n;
/** Micro-USD of a cent, and of a paisa at a rate of 1. */
const MICRO_OF_MINOR = 10_000n;
const BPS = 10_000n;

export const USD_RATE = "1.00000000";

/** @returns undefined where the text is not a rate above zero and below a million, of at most eight fractional digits */
export function rateOf(text: string): bigint | undefined {
  const parts = /^(\d{1,6})(?:\.(\d{1,8}))?$/.exec(text);
  if (parts === null) return undefined;
  const rate = BigInt(parts[1] ?? 0) * UNIT + BigInt((parts[2] ?? "").padEnd(8, "0"));
  return rate > 0n ? rate : undefined;
}

/** The rate of a text that `rateText` made; with a spread it may be a million or more, which `rateOf` refuses. */
export const unitsOf = (text: string): bigint => BigInt(text.replace(".", ""));

export const rateText = (rate: bigint): string => `${rate / UNIT}.${String(rate % UNIT).padStart(8, "0")}`;

/** Rate with the spread on top, rounded up: the rounding never costs the operator. */
export const withSpread = (rate: bigint, spreadBps: number): bigint =>
  (rate * (BPS + BigInt(spreadBps)) + BPS - 1n) / BPS;

/** Credit for an amount before tax: floor(minor × 10⁴ / rate) micro-USD. */
export const creditsFor = (minor: number, rate: bigint): number =>
  Number((BigInt(minor) * MICRO_OF_MINOR * UNIT) / rate);

/** The part of `whole` that is `part` of `of`, rounded up. */
export const shareUp = (whole: number, part: number, of: number): number =>
  Number((BigInt(whole) * BigInt(part) + BigInt(of) - 1n) / BigInt(of));
