/** Forecasts of budgets and credit: sound at the edges of a window, and of what spends nothing. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DAY_MS, HOUR_MS } from "../../../../src/base/time.ts";
import { emptyAt, forecast, LOOK_BACK_MS, rateOf } from "../../../../src/credits/limits/forecast.ts";

const NOON = Date.parse("2026-03-10T12:00:00Z");
const day = { fromMs: NOON - 12 * HOUR_MS, toMs: NOON + 12 * HOUR_MS };
const past = (recentMicroUsd: number | undefined, sinceMs = 0) => ({
  recentMicroUsd,
  lookBackMs: LOOK_BACK_MS.day,
  sinceMs,
});
const perHour = (rate: number) => Math.round(rate * HOUR_MS);

describe("the rate", () => {
  test("is that of the recent past, so a window that has just begun goes by the one before", () => {
    const begun = { fromMs: NOON - 60_000, spentMicroUsd: 0 };
    expect(perHour(rateOf(past(2400), begun, NOON))).toBe(100);
  });

  test("of what is new is not diluted by the time before it, nor blown up by its first minutes", () => {
    const window = { fromMs: day.fromMs, spentMicroUsd: 600 };
    expect(perHour(rateOf(past(600, NOON - 6 * HOUR_MS), window, NOON))).toBe(100);
    expect(perHour(rateOf(past(600, NOON - 1000), window, NOON))).toBe(600);
    expect(perHour(rateOf(past(600, NOON + 5000), window, NOON))).toBe(600);
  });

  test("goes by the window where the past is not known", () => {
    const window = { fromMs: day.fromMs, spentMicroUsd: 1200 };
    expect(perHour(rateOf(past(undefined), window, NOON))).toBe(100);
    expect(perHour(rateOf(past(undefined, NOON - 3 * HOUR_MS), window, NOON))).toBe(400);
    expect(perHour(rateOf(past(undefined), { fromMs: NOON, spentMicroUsd: 50 }, NOON))).toBe(50);
  });

  test("is never below nothing: refunds are no income", () => {
    expect(rateOf(past(-5), { fromMs: day.fromMs, spentMicroUsd: 0 }, NOON)).toBe(0);
  });
});

describe("a forecast", () => {
  const rate = 100 / HOUR_MS;

  test("is what is spent, and the rate for the time that is left", () => {
    const told = forecast({ spentMicroUsd: 1000, limitMicroUsd: 2000 }, rate, day, NOON);
    expect(told).toEqual({ microUsd: 2200, reachedAtMs: NOON + 10 * HOUR_MS });
    expect(
      forecast({ spentMicroUsd: 1000, limitMicroUsd: 2200 }, rate, day, NOON).reachedAtMs,
    ).toBeUndefined();
  });

  test("of what spends nothing is what is spent, and its limit is not reached", () => {
    const told = forecast({ spentMicroUsd: 7, limitMicroUsd: 8 }, 0, day, NOON);
    expect(told).toEqual({ microUsd: 7, reachedAtMs: undefined });
  });

  test("of what is used up is reached now, and at the window's end nothing comes any more", () => {
    expect(forecast({ spentMicroUsd: 9, limitMicroUsd: 8 }, 0, day, NOON).reachedAtMs).toBe(NOON);
    expect(forecast({ spentMicroUsd: 7, limitMicroUsd: 8 }, rate, day, day.toMs)).toEqual({
      microUsd: 7,
      reachedAtMs: undefined,
    });
  });

  test("is a whole number, no less than what is spent, whatever it is made of", () => {
    const amount = fc.integer({ min: 0, max: 1e15 });
    fc.assert(
      fc.property(
        amount,
        amount,
        amount,
        fc.integer({ min: 0, max: 40 * DAY_MS }),
        (spent, limit, recent, at) => {
          const nowMs = day.fromMs + at;
          const window = { fromMs: day.fromMs, toMs: day.fromMs + 31 * DAY_MS };
          const rate = rateOf(past(recent), { fromMs: window.fromMs, spentMicroUsd: spent }, nowMs);
          const told = forecast({ spentMicroUsd: spent, limitMicroUsd: limit }, rate, window, nowMs);
          expect(Number.isSafeInteger(told.microUsd)).toBe(true);
          expect(told.microUsd).toBeGreaterThanOrEqual(spent);
          if (told.reachedAtMs === undefined) expect(told.microUsd).toBeLessThanOrEqual(limit + 1);
          else expect(told.reachedAtMs).toBeGreaterThanOrEqual(nowMs);
        },
      ),
    );
  });
});

test("credit lasts as long as the rate says, up to ten years", () => {
  expect(emptyAt(2400, 100 / HOUR_MS, NOON)).toBe(NOON + DAY_MS);
  expect(emptyAt(0, 0, NOON)).toBe(NOON);
  expect(emptyAt(-5, 1, NOON)).toBe(NOON);
  expect(emptyAt(1, 0, NOON)).toBeUndefined();
  expect(emptyAt(1e15, 1 / DAY_MS, NOON)).toBeUndefined();
});
