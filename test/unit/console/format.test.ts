/** Money, numbers and times as people read them, in the locale and the zone of their org. */
import { describe, expect, test } from "vitest";
import { formatFor, localeOf } from "../../../console/text/format.ts";

const us = formatFor({ locale: localeOf("US"), zone: "UTC" });
const india = formatFor({ locale: localeOf("IN"), zone: "Asia/Kolkata" });

describe("money", () => {
  test.each([
    [0, "$0.00"],
    [1, "$0.000001"],
    [1_230_000, "$1.23"],
    [1_234_567_891, "$1,234.567891"],
    [-5_000, "-$0.005"],
  ])("%i millionths are %s, with every digit that was charged", (micro, text) => {
    expect(us.money(micro)).toBe(text);
  });

  test.each([
    [10, "$0.00001"],
    [42, "$0.000042"],
    [4_213, "$0.0042"],
    [99_999, "$0.10"],
    [12_345_678, "$12.35"],
    [12_345_678_901, "$12.3K"],
  ])("%i millionths are %s in short", (micro, text) => {
    expect(us.shortMoney(micro)).toBe(text);
  });

  test("digits are grouped as the org's country groups them", () => {
    expect(india.money(123_456_780_000)).toBe("$1,23,456.78");
    expect(india.minor(11_800_000, "INR")).toBe("₹1,18,000.00");
  });
});

test.each([
  [812, "812 ms"],
  [1_204, "1.20 s"],
  [41_250, "41.3 s"],
  [61_250, "1 min 1 s"],
  [5_520_000, "1 h 32 min"],
])("%i ms are %s", (ms, text) => expect(us.duration(ms)).toBe(text));

test("a time is the org's, whether a record or another answer gives it", () => {
  expect(us.time("2026-11-30T20:04:05.123Z")).toBe("30 Nov 2026, 20:04:05");
  expect(us.time("2026-11-30 20:04:05.123")).toBe("30 Nov 2026, 20:04:05");
  expect(india.time("2026-11-30T20:04:05.123Z")).toBe("1 Dec 2026, 01:34:05");
});

test("what is counted in short has K, M and B, in every locale", () => {
  expect(india.shortCount(79_000_000)).toBe("79M");
  expect(india.shortCount(4_321)).toBe("4,321");
  expect(india.shortMoney(12_345_678_901)).toBe("$12.3K");
});
