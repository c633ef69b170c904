/** Amounts and counts as people type them. */
import { describe, expect, test } from "vitest";
import { countOf, microOf, microText, minorOf, minorText } from "../../../console/text/amounts.ts";

describe("amounts", () => {
  test.each([
    ["5", 5_000_000],
    ["0.50", 500_000],
    [".5", 500_000],
    ["$1,204.50", 1_204_500_000],
    ["1,00,000", 100_000_000_000],
    ["0.000001", 1],
    ["1.5000000", 1_500_000],
    [" 7. ", 7_000_000],
  ])("%s dollars are %i millionths", (text, micro) => expect(microOf(text)).toBe(micro));

  test.each(["", ".", "$", "-5", "1.0000001", "1,5.2.3", "5 USD", "1e3", "0x10", "99999999999999"])(
    "'%s' is no amount of dollars",
    (text) => expect(microOf(text)).toBeUndefined(),
  );

  test.each([
    ["1,000.50", 100_050],
    ["₹10", 1000],
    ["10.1", 1010],
  ])("%s are %i minor units", (text, minor) => expect(minorOf(text)).toBe(minor));

  test("no part of a paisa or cent can be paid", () => expect(minorOf("1.005")).toBeUndefined());

  test.each([0, 1, 999_999, 1_000_000, 1_230_000, 5_000_000, 123_456_789_012])(
    "%i millionths are read as they were written",
    (micro) => expect(microOf(microText(micro))).toBe(micro),
  );

  test.each([0, 5, 100_050, 11_800])("%i minor units are read as they were written", (minor) =>
    expect(minorOf(minorText(minor))).toBe(minor),
  );

  test("an amount to change has two digits or none behind the point", () => {
    expect(microText(500_000)).toBe("0.50");
    expect(microText(5_000_000)).toBe("5");
  });
});

test.each([
  ["600", 600],
  [" 1,200 ", 1200],
  ["0", undefined],
  ["1.5", undefined],
  ["-1", undefined],
  ["", undefined],
  ["ten", undefined],
])("'%s' is the count %s", (text, count) => expect(countOf(text)).toBe(count));
