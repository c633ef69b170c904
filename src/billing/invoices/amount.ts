/** Amounts as text, as people and as machines read them, and dollars in rupees. From digits, never through a float. */
import type { Currency } from "../../base/currency.ts";
import type { InvoiceRate } from "./invoice.ts";

/** `1180.05`: digits without groups, from digits, never through a float. */
export function decimalText(minor: number): string {
  const sign = minor < 0 ? "-" : "";
  const digits = String(Math.abs(minor)).padStart(3, "0");
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** `₹1,18,000.50`, `$1,234.50`; a minus stands before the sign of the currency. */
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

/** `2 %`, `1.25 %`. */
export const percentText = (bps: number): string => `${bps / 100} %`;
