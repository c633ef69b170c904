import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SlidingWindow } from "../../../../src/credits/limits/window.ts";

/** The definition, by brute force: every event, counted from t until t + 60,000 exclusive. */
class NaiveWindow {
  readonly events: { at: number; weight: number }[] = [];
  total = (now: number) =>
    this.events.reduce((sum, { at, weight }) => (at <= now && now < at + 60_000 ? sum + weight : sum), 0);
  fits = (now: number, weight: number, limit: number) => this.total(now) + weight <= limit;
}

describe("a sliding minute", () => {
  test.each([
    // now, what counts of 3 at 0, 4 at 1000, 5 at 1000, 6 at 59999
    [0, 3],
    [999, 3],
    [1000, 12],
    [59_999, 18],
    [60_000, 15],
    [60_999, 15],
    [61_000, 6],
    [119_998, 6],
    [119_999, 0],
  ])("at %i counts %i", (now, counted) => {
    const window = new SlidingWindow();
    const events: [number, number][] = [
      [0, 3],
      [1000, 4],
      [1000, 5],
      [59_999, 6],
    ];
    for (const [at, weight] of events) if (at <= now) window.add(at, weight);
    expect(window.total(now)).toBe(counted);
  });

  test("a wait is 0 if the weight fits, and infinite if it never will", () => {
    const window = new SlidingWindow();
    window.add(0, 90);
    expect(window.waitMs(10, 10, 100)).toBe(0);
    expect(window.waitMs(10, 11, 100)).toBe(59_990);
    expect(window.waitMs(10, 100, 100)).toBe(59_990);
    expect(window.waitMs(10, 101, 100)).toBe(Number.POSITIVE_INFINITY);
    expect(window.emptyInMs(10)).toBe(59_990);
  });

  test("counts, waits and empties exactly as the definition says, whatever comes when", () => {
    const gap = fc.oneof(
      { weight: 4, arbitrary: fc.nat(3) },
      { weight: 4, arbitrary: fc.nat(9_000) },
      { weight: 1, arbitrary: fc.integer({ min: 55_000, max: 65_000 }) },
    );
    const event = fc.record({ gap, weight: fc.nat(50), limit: fc.integer({ min: 1, max: 300 }) });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        const window = new SlidingWindow();
        const naive = new NaiveWindow();
        let now = 1_000;
        for (const { gap, weight, limit } of events) {
          now += gap;
          expect(window.total(now)).toBe(naive.total(now));
          const wait = window.waitMs(now, weight, limit);
          if (weight > limit) expect(wait).toBe(Number.POSITIVE_INFINITY);
          else {
            expect(naive.fits(now + wait, weight, limit)).toBe(true);
            if (wait > 0) expect(naive.fits(now + wait - 1, weight, limit)).toBe(false);
          }
          const emptyIn = window.emptyInMs(now);
          expect(naive.total(now + emptyIn)).toBe(0);
          if (emptyIn > 0) expect(naive.total(now + emptyIn - 1)).toBeGreaterThan(0);
          // Admitted without a limit: the log must be right also when it is over one.
          window.add(now, weight);
          naive.events.push({ at: now, weight });
        }
      }),
      { numRuns: 300 },
    );
  });

  test("a burst of one event a millisecond, then silence: exact all the way down", () => {
    const window = new SlidingWindow();
    for (let at = 0; at < 5_000; at++) {
      window.add(at, 1);
      window.add(at, 1);
    }
    expect(window.total(4_999)).toBe(10_000);
    expect(window.waitMs(4_999, 1, 10_000)).toBe(55_001);
    expect(window.waitMs(4_999, 101, 10_000)).toBe(55_051);
    for (const gone of [1, 10, 100, 1_000, 4_990]) {
      expect(window.total(60_000 + gone - 1)).toBe(10_000 - 2 * gone);
    }
    window.add(64_998, 7);
    expect(window.total(64_998)).toBe(9);
    expect(window.total(64_999)).toBe(7);
  });
});
