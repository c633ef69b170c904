/** Amounts and counts as people type them. Pure. Integers come out: millionths of a dollar, or minor units of a currency. */

const MICRO_DIGITS = 6;
const MINOR_DIGITS = 2;

/**
 * Dollars as typed, in millionths: `12.50`, `1,000`, `$0.000001`.
 * @returns undefined where it is no amount, has more digits than there are, or is less than nothing
 */
export const microOf = (text: string): number | undefined => scaled(text, MICRO_DIGITS);

/** An amount as typed, in minor units: `1,000.50` are 100050. @returns undefined where it is none */
export const minorOf = (text: string): number | undefined => scaled(text, MINOR_DIGITS);

/** Groups may be of any size, for India's are of two digits; a comma never opens the fraction. */
const AMOUNT = /^[$₹]?\s*(\d[\d,]*)?(?:\.(\d*))?$/;

function scaled(text: string, digits: number): number | undefined {
  const [whole, units = "", fraction = ""] = AMOUNT.exec(text.trim()) ?? [];
  if (whole === undefined || (units === "" && fraction === "")) return undefined;
  if (fraction.replace(/0+$/, "").length > digits) return undefined;
  const value = Number(units.replaceAll(",", "") + fraction.slice(0, digits).padEnd(digits, "0"));
  return Number.isSafeInteger(value) ? value : undefined;
}

/** What `microOf` reads as the same: for a field that shows an amount to change. */
export const microText = (micro: number): string => unscaled(micro, MICRO_DIGITS);
export const minorText = (minor: number): string => unscaled(minor, MINOR_DIGITS);

function unscaled(value: number, digits: number): string {
  const text = String(value).padStart(digits + 1, "0");
  const fraction = text.slice(-digits).replace(/0+$/, "");
  const units = text.slice(0, -digits);
  return fraction === "" ? units : `${units}.${fraction.padEnd(2, "0")}`;
}

/** A whole number of at least one, as typed: `600`, `1,200`. @returns undefined where it is none */
export function countOf(text: string): number | undefined {
  const plain = text.trim().replaceAll(",", "");
  if (!/^\d+$/.test(plain)) return undefined;
  const value = Number(plain);
  return value >= 1 && Number.isSafeInteger(value) ? value : undefined;
}
