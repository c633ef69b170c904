/** When a delivery is tried again. */
import { describe, expect, test } from "vitest";
import { retryAfterMs, TRIED_MS, waitMs } from "../../../../src/account/webhooks/schedule.ts";
import { seededRandom } from "../../../../src/base/clock.ts";

const HOUR = 3_600_000;

describe("waits", () => {
  test("double from 5 seconds, and are 6 hours at most, whatever the chance", () => {
    for (const random of [() => 0, () => 0.999999, seededRandom(1)]) {
      const waits = Array.from({ length: 60 }, (_, retry) => waitMs(retry, random));
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(5_000);
      expect(Math.max(...waits)).toBeLessThanOrEqual(6 * HOUR);
      expect(waits[1]).toBeGreaterThanOrEqual(10_000);
      expect(waits[59]).toBeGreaterThan(4 * HOUR);
    }
  });

  test("differ between deliveries that failed together", () => {
    const random = seededRandom(2);
    expect(new Set(Array.from({ length: 100 }, () => waitMs(3, random))).size).toBeGreaterThan(90);
  });

  test("make 15 to 20 tries in the 24 hours", () => {
    for (const random of [() => 0, () => 0.999]) {
      let tries = 1;
      for (let ms = 0; ms < TRIED_MS; tries++) ms += waitMs(tries - 1, random);
      expect(tries).toBeGreaterThanOrEqual(15);
      expect(tries).toBeLessThanOrEqual(20);
    }
  });
});

describe("Retry-After", () => {
  const nowMs = Date.parse("2026-03-01T10:00:00Z");

  test.each([
    ["120", 120_000],
    ["0", 0],
    ["Sun, 01 Mar 2026 10:00:30 GMT", 30_000],
    ["Sun, 01 Mar 2026 09:00:00 GMT", 0],
    ["9999999999", 9_999_999_999_000],
    [undefined, 0],
    ["", 0],
    ["-5", 0],
    ["1.5", 0],
    ["1e9", 0],
    ["99999999999", 0],
    ["soon", 0],
    ["Sun, 99 Foo 2026 10:00:30 GMT", 0],
    ["2026-03-01T10:00:30Z", 0],
  ])("%j asks for %d ms", (value, expected) => {
    expect(retryAfterMs(value, nowMs)).toBe(expected);
  });
});
