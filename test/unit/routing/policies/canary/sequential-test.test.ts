/** The canary's test: how often it raises a false alarm however long one looks, and how soon it finds a bad endpoint. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../../../src/base/clock.ts";
import {
  ENOUGH_EVIDENCE,
  errorRateTest,
  FALSE_ALARM_RATE,
  highestRate,
  lowestRate,
} from "../../../../../src/routing/policies/canary/sequential-test.ts";
import { rounds } from "../../../../support/effort.ts";

/** The number of results after which the test fires, looking after each; Infinity where it does not. */
function firesAfter(maxErrorRate: number, trueRate: number, longest: number, random: () => number): number {
  const test = errorRateTest(maxErrorRate);
  let failures = 0;
  for (let samples = 1; samples <= longest; samples++) {
    // Evidence only grows with a failure.
    if (random() >= trueRate) continue;
    failures++;
    if (test.logEvidence(failures, samples) >= ENOUGH_EVIDENCE) return samples;
  }
  return Number.POSITIVE_INFINITY;
}

function sorted(sequences: number, run: (random: () => number) => number): number[] {
  const random = seededRandom(7);
  return Array.from({ length: sequences }, () => run(random)).sort((a, b) => a - b);
}

describe("looked at after every result", () => {
  test.each([
    { limit: 0.05, sequences: 20_000, longest: 2_000 },
    { limit: 0.3, sequences: 5_000, longest: 500 },
    { limit: 0.002, sequences: 5_000, longest: 3_000 },
  ])(
    "an endpoint exactly at a limit of $limit is hardly ever taken for a bad one",
    ({ limit, sequences: all, longest }) => {
      const sequences = rounds(all);
      const ends = sorted(sequences, (random) => firesAfter(limit, limit, longest, random));
      const alarms = ends.filter(Number.isFinite).length / sequences;
      expect(alarms).toBeLessThanOrEqual(FALSE_ALARM_RATE);
      // It is a test that can fire, not one that never does.
      expect(alarms).toBeGreaterThan(0);
    },
  );

  test("an ordinary test at the same level, looked at as often, raises false alarms many times over", () => {
    const random = seededRandom(7);
    const limit = 0.05;
    let alarms = 0;
    for (let sequence = 0; sequence < 2_000; sequence++) {
      let failures = 0;
      for (let samples = 1; samples <= 1_000; samples++) {
        if (random() < limit) failures++;
        // One-sided z-test at 1 %.
        const z = (failures - samples * limit) / Math.sqrt(samples * limit * (1 - limit));
        if (samples >= 30 && z > 2.326) {
          alarms++;
          break;
        }
      }
    }
    expect(alarms / 2_000).toBeGreaterThan(5 * FALSE_ALARM_RATE);
  });

  test.each([
    { limit: 0.05, times: 2, medianWithin: 400, mostWithin: 1_000 },
    { limit: 0.05, times: 5, medianWithin: 45, mostWithin: 120 },
    { limit: 0.05, times: 20, medianWithin: 3, mostWithin: 3 },
    { limit: 0.01, times: 5, medianWithin: 260, mostWithin: 700 },
  ])("a rate $times times a limit of $limit is found within $medianWithin results", (row) => {
    const ends = sorted(1_000, (random) => firesAfter(row.limit, row.limit * row.times, 5_000, random));
    expect(ends[500]).toBeLessThanOrEqual(row.medianWithin);
    expect(ends[950]).toBeLessThanOrEqual(row.mostWithin);
  });
});

describe("the evidence", () => {
  test("is 1 before the first result, and the mean of the likelihood ratios after", () => {
    expect(errorRateTest(0.2).logEvidence(0, 0)).toBeCloseTo(0, 12);
    // Odds ¼ times the seven ratios, by hand for one failure: the mean of p_k ÷ 0.2.
    const rates = [1.5, 2, 3, 5, 10, 30, 100].map((ratio) => (0.25 * ratio) / (1 + 0.25 * ratio));
    const mean = rates.reduce((sum, rate) => sum + rate / 0.2, 0) / rates.length;
    expect(Math.exp(errorRateTest(0.2).logEvidence(1, 1))).toBeCloseTo(mean, 12);
  });

  test("is a martingale at the limit: one more result leaves its mean unchanged", () => {
    const { logEvidence } = errorRateTest(0.1);
    for (const [failures, samples] of [
      [0, 0],
      [3, 20],
      [40, 300],
    ] as const) {
      const next =
        0.1 * Math.exp(logEvidence(failures + 1, samples + 1)) +
        0.9 * Math.exp(logEvidence(failures, samples + 1));
      expect(next).toBeCloseTo(Math.exp(logEvidence(failures, samples)), 9);
    }
  });

  test("grows with a failure and shrinks with a success, and stays a number after a million results", () => {
    const { logEvidence } = errorRateTest(0.05);
    expect(logEvidence(5, 40)).toBeGreaterThan(logEvidence(4, 40));
    expect(logEvidence(5, 41)).toBeLessThan(logEvidence(5, 40));
    for (const failures of [0, 50_000, 1_000_000]) expect(logEvidence(failures, 1_000_000)).not.toBeNaN();
    expect(logEvidence(1_000_000, 1_000_000)).toBeGreaterThan(1e6);
  });

  test("at a limit of 0 one failure is proof, at 1 nothing is; next to them it stays a number", () => {
    expect(errorRateTest(0).logEvidence(0, 1_000)).toBeLessThan(ENOUGH_EVIDENCE);
    expect(errorRateTest(0).logEvidence(1, 1_000)).toBeGreaterThan(ENOUGH_EVIDENCE);
    expect(errorRateTest(1).logEvidence(1_000, 1_000)).toBeLessThan(ENOUGH_EVIDENCE);
    expect(errorRateTest(1e-12).logEvidence(2, 1_000)).toBeGreaterThan(ENOUGH_EVIDENCE);
    expect(errorRateTest(1 - 1e-12).logEvidence(1_000, 1_000)).toBeLessThan(ENOUGH_EVIDENCE);
  });
});

describe("the bounds of the rate", () => {
  test.each([
    [0, 0],
    [0, 500],
    [1, 5],
    [5, 5],
    [12, 300],
    [290, 300],
    [50_000, 1_000_000],
  ])("after %i failures of %i results they enclose the share that was seen", (failures, samples) => {
    const [low, high] = [lowestRate(failures, samples), highestRate(failures, samples)];
    const seen = samples === 0 ? 0.5 : failures / samples;
    expect(low).toBeLessThanOrEqual(seen);
    expect(high).toBeGreaterThanOrEqual(seen);
    expect(low).toBeGreaterThanOrEqual(0);
    expect(high).toBeLessThanOrEqual(1);
    // The other side is the same with failures and successes exchanged.
    expect(lowestRate(samples - failures, samples)).toBeCloseTo(1 - high, 9);
  });

  test("the lower one is exactly the highest limit that the test finds exceeded", () => {
    const low = lowestRate(12, 60);
    expect(low).toBeGreaterThan(0.05);
    expect(errorRateTest(low * 0.999).logEvidence(12, 60)).toBeGreaterThan(ENOUGH_EVIDENCE);
    expect(errorRateTest(low * 1.001).logEvidence(12, 60)).toBeLessThan(ENOUGH_EVIDENCE);
  });

  test("they come nearer with more results, and say nothing before the first", () => {
    expect([lowestRate(0, 0), highestRate(0, 0)]).toEqual([0, 1]);
    const width = (samples: number) => highestRate(samples / 10, samples) - lowestRate(samples / 10, samples);
    expect(width(1_000)).toBeLessThan(width(100));
    // No nearer than the test itself can tell: its nearest alternative has odds of 1.5 times the limit's.
    expect(width(100_000)).toBeLessThan(0.04);
  });
});
