/** Prices of foreign catalogues as exact decimals: digits are moved in the text, so that no binary fraction comes in between. */

/** Fractions of a USD per million tokens that are kept: a millionth of what a charge can show. */
const FRACTION_DIGITS = 9;
const NUMBER = /^(\d{1,20})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/;

/**
 * A price times ten to the power of `shift`, as a plain decimal of at most nine fractional digits, rounded half up:
 * `"0.00000015"` shifted by 6 is `"0.15"`.
 * @returns undefined where it is no number, or negative, which stands for "depends"
 */
export function decimal(price: unknown, shift = 0): string | undefined {
  if (typeof price !== "string" && typeof price !== "number") return undefined;
  const [matched, whole = "", fraction = "", exponent = "0"] = NUMBER.exec(String(price).trim()) ?? [];
  if (matched === undefined) return undefined;
  const places = fraction.length - Number(exponent) - shift;
  const digits = BigInt(whole + fraction);
  const excess = BigInt(Math.max(0, places - FRACTION_DIGITS));
  const scaled =
    places < 0 ? digits * 10n ** BigInt(-places) : (2n * digits + 10n ** excess) / (2n * 10n ** excess);
  const kept = Math.min(Math.max(0, places), FRACTION_DIGITS);
  const text = (excess === 0n && places >= 0 ? digits : scaled).toString().padStart(kept + 1, "0");
  if (kept === 0) return text;
  return `${text.slice(0, -kept)}.${text.slice(-kept)}`.replace(/\.?0{1,9}$/, "");
}
