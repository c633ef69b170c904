/** The scale of intervals: even ticks around all that is drawn, and where a value stands. */
import { describe, expect, test } from "vitest";
import {
  apart,
  type Estimate,
  placeOf,
  scaleOf,
  sideOf,
} from "../../../console/parts/charts/interval-scale.ts";

const of = (estimate: number, low?: number, high?: number): Estimate => ({
  estimate,
  interval: low === undefined || high === undefined ? undefined : { low, high },
});

describe("a scale", () => {
  test.each([
    // Shares: from none on, and never above all.
    [[of(0.4, 0.1, 0.8)], 0.02, 1, [0, 0.2, 0.4, 0.6, 0.8]],
    [[of(1, 0.56, 1)], 0.02, 1, [0, 0.5, 1]],
    [[of(0, 0, 0.013)], 0.02, 1, [0, 0.005, 0.01, 0.015, 0.02]],
    // Differences, on both sides of none.
    [[of(-40, -60, -20)], 0, undefined, [-60, -40, -20, 0]],
    [[of(40, -139, 219)], 0, undefined, [-200, -100, 0, 100, 200, 300]],
    // Without an interval, and where everything is nothing.
    [[of(120)], undefined, undefined, [0, 50, 100, 150]],
    [[of(0)], undefined, 1, [0, 1]],
    [[], undefined, undefined, [0, 1]],
  ] as const)("of %j beside %j", (estimates, bound, most, ticks) => {
    const scale = scaleOf(estimates, bound, most);
    expect(scale.ticks).toEqual(ticks);
    expect([scale.low, scale.high]).toEqual([ticks[0], ticks.at(-1)]);
  });

  test("has room for all, at any magnitude", () => {
    for (const size of [1e-6, 0.003, 7, 12_345, 9e9]) {
      const scale = scaleOf([of(size, size / 3, size * 2.7)], size * 3.3);
      expect(scale.high).toBeGreaterThanOrEqual(size * 3.3);
      expect(scale.ticks.length).toBeGreaterThanOrEqual(3);
      expect(scale.ticks.length).toBeLessThanOrEqual(7);
    }
  });
});

test("a value stands in proportion, and at an end where it is beyond", () => {
  const scale = scaleOf([of(-50, -100, 100)], 0);
  expect([-100, -50, 0, 100].map((value) => placeOf(value, scale))).toEqual([0, 25, 50, 100]);
  expect([-1e9, 1e9].map((value) => placeOf(value, scale))).toEqual([0, 100]);
});

test("an interval is on a side of a value only as a whole", () => {
  const interval = { low: 0.1, high: 0.3 };
  expect([0.05, 0.1, 0.2, 0.3, 0.4].map((value) => sideOf(interval, value))).toEqual([
    "above",
    "around",
    "around",
    "around",
    "below",
  ]);
  expect(sideOf(undefined, 0)).toBe("around");
});

test("two intervals are apart only where they share nothing", () => {
  const [a, b, c] = [
    { low: 1, high: 2 },
    { low: 3, high: 4 },
    { low: 2, high: 3 },
  ];
  expect([apart(a, b), apart(b, a), apart(a, c), apart(a, undefined)]).toEqual([
    "lower",
    "higher",
    "no",
    "no",
  ]);
});
