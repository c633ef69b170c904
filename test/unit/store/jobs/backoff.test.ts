import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { waitMs } from "../../../../src/store/jobs/runner.ts";
import { HOUR, kindOf, MINUTE, openRig, type Rig, SECOND } from "../../../support/jobs/fixtures.ts";

let rig: Rig;
beforeEach(() => {
  rig = openRig();
});
afterEach(() => rig.dispose());

describe("the wait after a failed try", () => {
  const backoffs = fc.record({
    firstMs: fc.integer({ min: 1, max: HOUR }),
    mostMs: fc.integer({ min: 1, max: 1e10 }),
  });
  const below1 = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  test("is between half and the whole of the first wait doubled with each try, up to the most", () => {
    fc.assert(
      fc.property(backoffs, fc.integer({ min: 1, max: 2000 }), below1, (backoff, tries, random) => {
        const ms = waitMs({ backoff }, tries, random);
        const wholeMs = Math.min(backoff.mostMs, backoff.firstMs * 2 ** (tries - 1));
        expect(ms).toBeGreaterThanOrEqual(Math.floor(wholeMs / 2));
        expect(ms).toBeLessThanOrEqual(wholeMs);
        expect(Number.isSafeInteger(ms)).toBe(true);
      }),
    );
  });

  test("spreads over all of its upper half", () => {
    const kind = { backoff: { firstMs: 1000, mostMs: 100_000 } };
    const tenth = (random: number) => waitMs(kind, 3, random);
    expect([0, 0.25, 0.5, 0.75, 0.9999].map(tenth)).toEqual([2000, 2500, 3000, 3500, 4000]);
  });

  test("is kept: no try comes before it, and the next one at its end", async () => {
    const cell = rig.cell();
    const kind = kindOf({ tries: 6, backoff: { firstMs: 10 * SECOND, mostMs: MINUTE } });
    const triedAtMs: number[] = [];
    cell.jobs.handle(kind, {
      run() {
        triedAtMs.push(rig.time.now());
        throw new Error("no");
      },
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, { key: "a", orgId: "org", payload: { n: 1 } });
    await rig.until("it was tried", () => triedAtMs.length === 1);
    await rig.settle();
    for (let tries = 2; tries <= 6; tries++) {
      const dueMs = rig.row(kind, "a")?.dueMs ?? 0;
      rig.time.advance(dueMs - rig.time.now() - 1);
      await rig.settle();
      expect(triedAtMs).toHaveLength(tries - 1);
      rig.time.advance(1);
      await rig.until("it was tried again", () => triedAtMs.length === tries);
      await rig.settle();
    }
    const waits = triedAtMs.slice(1).map((ms, i) => ms - (triedAtMs[i] ?? 0));
    const most = [10, 20, 40, 60, 60].map((seconds) => seconds * SECOND);
    expect(waits.every((ms, i) => ms >= (most[i] ?? 0) / 2 && ms <= (most[i] ?? 0))).toBe(true);
  });
});
