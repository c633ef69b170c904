import fc from "fast-check";
import { expect, test } from "vitest";
import {
  bpsOf,
  leftBps,
  monthsAfter,
  periodAt,
  periodOf,
} from "../../../../src/billing/subscriptions/period.ts";

const at = (text: string) => Date.parse(text);
const days = (from: string, months: number[]) =>
  months.map((n) => new Date(monthsAfter(at(from), n)).toISOString().slice(0, 10));

test("a month that lacks the day ends on its last one, and the next has it again", () => {
  expect(days("2026-01-31T10:00:00Z", [1, 2, 3, 12, 13])).toEqual([
    "2026-02-28",
    "2026-03-31",
    "2026-04-30",
    "2027-01-31",
    "2027-02-28",
  ]);
  expect(days("2024-01-31T00:00:00Z", [1, 13, 49])).toEqual(["2024-02-29", "2025-02-28", "2028-02-29"]);
  expect(new Date(monthsAfter(at("2026-01-31T23:59:59.999Z"), 1)).toISOString()).toBe(
    "2026-02-28T23:59:59.999Z",
  );
});

const instant = fc.integer({ min: at("2020-01-01T00:00:00Z"), max: at("2060-01-01T00:00:00Z") });

test("months follow each other without gap, and each instant is in the one that is found for it", () => {
  fc.assert(
    fc.property(
      instant,
      fc.nat(400),
      fc.double({ min: 0, max: 0.999999, noNaN: true }),
      (start, month, part) => {
        const { startMs, endMs } = periodOf(start, month);
        expect(periodOf(start, month + 1).startMs).toBe(endMs);
        expect(periodAt(start, Math.floor(startMs + part * (endMs - startMs))).month).toBe(month);
        expect((endMs - startMs) / 86_400_000).toBeGreaterThanOrEqual(28);
        expect((endMs - startMs) / 86_400_000).toBeLessThanOrEqual(31);
      },
    ),
  );
});

test("what is left is floor(seconds left × 10⁴ / seconds of the period)", () => {
  const period = { startMs: at("2026-11-01T00:00:00Z"), endMs: at("2026-12-01T00:00:00Z") };
  expect(leftBps(period, period.startMs)).toBe(10_000);
  expect(leftBps(period, at("2026-11-11T00:00:00Z"))).toBe(6666);
  expect(leftBps(period, period.endMs - 1000)).toBe(0);
  expect([leftBps(period, period.endMs + 5), leftBps(period, period.startMs - 5)]).toEqual([0, 10_000]);
  expect(bpsOf(9_007_199_254_740_991, 9_999)).toBe(9_006_298_534_815_516);
});
