import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asWeirError } from "../../../../src/base/errors.ts";
import {
  type Admission,
  type KeyLimits,
  openLimits,
  type Refusal,
  refusalError,
} from "../../../../src/credits/limits/limits.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";

function desk(limits: KeyLimits, keyId = "key_1") {
  const clock = new ManualClock("2026-03-01T10:00:00Z");
  const all = openLimits({ clock });
  const key = { keyId, limits };
  return { clock, limits: all, key, admit: (tokens = 1) => all.admit(key, tokens) };
}
const outcome = (a: Admission | Refusal) => (a.admitted ? "admitted" : `${a.code} ${a.retryAfterMs}`);

describe("rpm, tpm, concurrency", () => {
  test("the book of one key: rpm 2, tpm 100, concurrency 3", () => {
    const { clock, admit } = desk({ rpm: 2, tpm: 100, concurrency: 3 });
    const at = (ms: number, tokens: number) => {
      clock.advance(ms);
      return outcome(admit(tokens));
    };
    expect([
      at(0, 40), //          t=0
      at(1_000, 40), //      t=1,000
      at(0, 10), //          two requests in the minute: the first leaves at 60,000
      at(0, 61), //          and 61 tokens fit when the second has left too, at 61,000: the longer wait is named
      at(58_999, 10), //     t=59,999: one millisecond early
      at(1, 10), //          t=60,000
      at(0, 101), //         alone more than the limit: no wait helps
    ]).toEqual(["admitted", "admitted", "rpm 59000", "tpm 60000", "rpm 1", "admitted", "tpm 60000"]);
  });

  test("T65: a slot is held until released, once however often, also through an idle minute", () => {
    const { clock, limits, key, admit } = desk({ concurrency: 2 });
    const [first, second] = [admit(), admit()];
    expect(outcome(admit())).toBe("concurrency 1000");
    clock.advance(600_000);
    expect(outcome(admit())).toBe("concurrency 1000");
    if (first.admitted) for (let i = 0; i < 3; i++) first.release();
    expect(limits.state(key).concurrencyInUse).toBe(1);
    const third = admit();
    expect(outcome(admit())).toBe("concurrency 1000");
    for (const slot of [second, third]) if (slot.admitted) slot.release();
    expect(limits.inFlight()).toBe(0);
  });

  test("a refusal counts nothing, whichever limit refused", () => {
    const { clock, limits, key, admit } = desk({ rpm: 10, tpm: 100, concurrency: 1 });
    const slot = admit(60);
    const before = limits.state(key);
    expect([admit(41), admit(101), admit(1)].map((a) => a.admitted)).toEqual([false, false, false]);
    expect(limits.state(key)).toEqual(before);
    if (slot.admitted) slot.release();
    clock.advance(60_000);
    expect(limits.state(key)).toEqual({
      requests: { limit: 10, remaining: 10, resetMs: 0 },
      tokens: { limit: 100, remaining: 100, resetMs: 0 },
      concurrencyInUse: 0,
    });
  });

  test("T24: 200 at once against a limit of 7 admit 7, in each dimension", async () => {
    for (const limits of [{ rpm: 7 }, { tpm: 7 * 30 + 29 }, { concurrency: 7 }]) {
      const { admit } = desk(limits);
      const all = await Promise.all(Array.from({ length: 200 }, async () => admit(30)));
      expect(all.filter((a) => a.admitted)).toHaveLength(7);
    }
  });

  test("0 and absent are unlimited; keys do not share anything", () => {
    const { limits, admit } = desk({ rpm: 0, tpm: 0 });
    for (let i = 0; i < 1000; i++) expect(admit(1e9).admitted).toBe(true);
    const one = { keyId: "key_2", limits: { rpm: 1 } };
    expect(limits.admit(one, 1).admitted).toBe(true);
    expect(limits.admit(one, 1).admitted).toBe(false);
    expect(limits.state({ keyId: "key_1", limits: {} })).toEqual({ concurrencyInUse: 1000 });
  });

  test("a lowered limit binds at once, with the exact wait", () => {
    const { clock, limits, admit } = desk({ rpm: 5 });
    for (let i = 0; i < 5; i++) {
      admit();
      clock.advance(1_000);
    }
    const lowered = limits.admit({ keyId: "key_1", limits: { rpm: 2 } }, 1);
    // Events at 0 … 4,000, now 5,000: fewer than 2 count once the one at 3,000 has left.
    expect(outcome(lowered)).toBe("rpm 58000");
  });

  test("setting the wall clock does not move a window", () => {
    const { clock, admit } = desk({ rpm: 1 });
    admit();
    clock.set("2031-01-01T00:00:00Z");
    expect(outcome(admit())).toBe("rpm 60000");
    clock.set("2001-01-01T00:00:00Z");
    expect(outcome(admit())).toBe("rpm 60000");
  });

  test("state for headers: what remains, and when the full limit is available again", () => {
    const { clock, limits, key, admit } = desk({ rpm: 10, tpm: 1_000 });
    admit(300);
    clock.advance(20_000);
    admit(200);
    clock.advance(5_000);
    expect(limits.state(key)).toEqual({
      requests: { limit: 10, remaining: 8, resetMs: 55_000 },
      tokens: { limit: 1_000, remaining: 500, resetMs: 55_000 },
      concurrencyInUse: 2,
    });
  });

  test("idle keys are dropped from memory while others are admitted", () => {
    const { clock, limits } = desk({});
    for (let i = 0; i < 500; i++) {
      const slot = limits.admit({ keyId: `key_${i}`, limits: { rpm: 5 } }, 1);
      if (slot.admitted) slot.release();
    }
    expect(limits.tracked()).toBe(500);
    clock.advance(60_000);
    for (let i = 0; i < 1_100; i++) limits.admit({ keyId: "busy", limits: {} }, 1);
    expect(limits.tracked()).toBe(1);
  });
});

test("the wait is exact: refused one millisecond before it, admitted at it, whatever came before", () => {
  const call = fc.record({ gap: fc.oneof(fc.nat(5), fc.nat(20_000)), tokens: fc.nat(120) });
  const limits = fc.record({ rpm: fc.nat(6), tpm: fc.nat(250) });
  fc.assert(
    fc.property(limits, fc.array(call, { maxLength: 80 }), (limits, calls) => {
      const { clock, admit } = desk(limits);
      const log: { at: number; tokens: number }[] = [];
      for (const { gap, tokens } of calls) {
        clock.advance(gap);
        const first = admit(tokens);
        if (!first.admitted) {
          if (first.isHopeless) {
            expect(first.retryAfterMs).toBe(60_000);
            expect(tokens).toBeGreaterThan(limits.tpm);
            continue;
          }
          clock.advance(first.retryAfterMs - 1);
          expect(admit(tokens)).toMatchObject({ admitted: false, retryAfterMs: 1 });
          clock.advance(1);
          expect(admit(tokens).admitted).toBe(true);
        }
        const now = clock.monotonic();
        log.push({ at: now, tokens });
        const minute = log.filter(({ at }) => at > now - 60_000);
        if (limits.rpm > 0) expect(minute.length).toBeLessThanOrEqual(limits.rpm);
        const counted = minute.reduce((sum, e) => sum + e.tokens, 0);
        if (limits.tpm > 0) expect(counted).toBeLessThanOrEqual(limits.tpm);
      }
    }),
    { numRuns: 200 },
  );
});

test("O28: a refusal becomes the 429 of the error table: with its wait, or marked as past curing", () => {
  const { admit } = desk({ tpm: 100 });
  admit(60);
  const [wait, never] = [admit(50), admit(500)].map((a) => (a.admitted ? undefined : refusalError(a)));
  expect(asWeirError(wait)).toMatchObject({
    status: 429,
    code: "tpm",
    retryable: true,
    retryAfterMs: 60_000,
  });
  expect(asWeirError(never)).toMatchObject({
    status: 429,
    code: "tpm",
    retryable: false,
    retryAfterMs: 60_000,
  });
});
