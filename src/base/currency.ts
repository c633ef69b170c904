/** Currencies in which orgs pay. Amounts of them are integers in minor units: paise and cents. Credit itself is micro-USD. */
export const CURRENCIES = ["INR", "USD"] as const;
export type Currency = (typeof CURRENCIES)[number];

/** An amount with its currency, in minor units. */
export interface Amount {
  readonly currency: Currency;
  readonly minor: number;
}

/** Hundredths as machines read them, `1180.05`: from digits, never through a float. */
export function decimalText(minor: number | bigint): string {
  const digits = String(minor).replace("-", "").padStart(3, "0");
  return `${minor < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** An amount as people read it, `₹1,18,000.50`, `$1,234.50`; a minus stands before the sign of the currency. */
export function moneyText(minor: number, currency: Currency): string {
  const text = decimalText(Math.abs(minor));
  const whole = text.slice(0, -3);
  const grouped = currency === "INR" ? indianGroups(whole) : groups(whole, 3);
  return `${minor < 0 ? "-" : ""}${currency === "INR" ? "₹" : "$"}${grouped}${text.slice(-3)}`;
}

/** The last three digits, then pairs. */
function indianGroups(digits: string): string {
  if (digits.length <= 3) return digits;
  return `${groups(digits.slice(0, -3), 2)},${digits.slice(-3)}`;
}

function groups(digits: string, size: number): string {
  const parts: string[] = [];
  for (let end = digits.length; end > 0; end -= size)
    parts.unshift(digits.slice(Math.max(0, end - size), end));
  return parts.join(",");
}
