/** Amounts in words: rupees by lakh and crore, dollars by thousand and million. Loaded by the thread that draws only. */
import { toWords as indianWords } from "to-words/en-IN";
import { toWords as americanWords } from "to-words/en-US";
import type { Currency } from "../../../base/currency.ts";

const UNITS: Readonly<Record<Currency, readonly [string, string]>> = {
  INR: ["Rupees", "Paise"],
  USD: ["US Dollars", "Cents"],
};

/** `Rupees One Lakh Eighteen Thousand and Paise Fifty Only`. @param minor an integer of 0 or more */
export function amountInWords(minor: number, currency: Currency): string {
  const words = currency === "INR" ? indianWords : americanWords;
  const [major, part] = UNITS[currency];
  const rest = minor % 100;
  const whole = `${major} ${words(BigInt((minor - rest) / 100))}`;
  return rest === 0 ? `${whole} Only` : `${whole} and ${part} ${words(rest)} Only`;
}
