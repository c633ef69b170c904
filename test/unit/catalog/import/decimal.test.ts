/** Prices as decimals: digits move, and nothing else changes. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { decimal } from "../../../../src/catalog/import/decimal.ts";

test.each<[unknown, number, string | undefined]>([
  ["0.00000015", 6, "0.15"],
  ["6e-7", 6, "0.6"],
  ["0.0000000416666666666667", 6, "0.041666667"],
  ["3", 6, "3000000"],
  ["0.000010", 6, "10"],
  ["12.50", 0, "12.5"],
  [0.1 + 0.2, 0, "0.3"],
  [1e-7, 0, "0.0000001"],
  [1e-12, 0, "0"],
  [100, 0, "100"],
  ["0", 6, "0"],
  ["-1", 6, undefined],
  ["", 6, undefined],
  ["1,5", 0, undefined],
  [null, 0, undefined],
  ["1e999999", 0, undefined],
  [Number.NaN, 0, undefined],
])("%j shifted by %d is %s", (price, shift, text) => {
  expect(decimal(price, shift)).toBe(text);
});

test("a decimal of up to nine digits stays what it is, however it is shifted before", () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.nat(999_999_999), (whole, fraction) => {
      const text = `${whole}.${String(fraction).padStart(9, "0")}`.replace(/\.?0+$/, "") || "0";
      const plain = fraction === 0 ? String(whole) : text;
      expect(decimal(plain)).toBe(plain);
      expect(decimal(`${plain}e-6`, 6)).toBe(plain);
    }),
  );
});
