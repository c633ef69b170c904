/** Amounts as text and in words. */
import { expect, test } from "vitest";
import { decimalText, moneyText } from "../../../../../src/base/currency.ts";
import { inPaise } from "../../../../../src/billing/invoices/amount.ts";
import { splitBy } from "../../../../../src/billing/invoices/inr-value.ts";
import { amountInWords } from "../../../../../src/billing/invoices/pages/words.ts";

test.each([
  [0, "INR", "₹0.00", "Rupees Zero Only"],
  [5, "INR", "₹0.05", "Rupees Zero and Paise Five Only"],
  [11_800, "INR", "₹118.00", "Rupees One Hundred Eighteen Only"],
  [11_800_050, "INR", "₹1,18,000.50", "Rupees One Lakh Eighteen Thousand and Paise Fifty Only"],
  [1_234_567_890, "INR", "₹1,23,45,678.90"],
  [-5_00, "INR", "-₹5.00"],
  [123_456, "USD", "$1,234.56", "US Dollars One Thousand Two Hundred Thirty Four and Cents Fifty Six Only"],
  [Number.MAX_SAFE_INTEGER, "INR", "₹9,00,71,99,25,47,409.91"],
] as const)("%d %s", (minor, currency, text, words?: string) => {
  expect(moneyText(minor, currency)).toBe(text);
  if (words !== undefined) expect(amountInWords(minor, currency)).toBe(words);
});

test("the largest amount is exact in words", () => {
  expect(amountInWords(Number.MAX_SAFE_INTEGER, "USD")).toMatch(
    /Four Hundred Nine and Cents Ninety One Only$/,
  );
});

test("decimals keep their digits", () => {
  expect([0, 7, 100, -250].map(decimalText)).toEqual(["0.00", "0.07", "1.00", "-2.50"]);
});

test("dollars become rupees at eight digits, half up", () => {
  expect(inPaise(10_000, "88.12345678")).toBe(881_235);
  expect(inPaise(1, "88.5")).toBe(89);
  expect(inPaise(1, "88.49999999")).toBe(88);
});

test("parts of a whole add up to it", () => {
  expect(splitBy(100, [1, 1, 1])).toEqual([33, 34, 33]);
  expect(splitBy(7, [0, 5, 0])).toEqual([0, 7, 0]);
});
