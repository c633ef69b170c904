/** Calls in flight of a key over several cells of one real Redis, in virtual time. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededRandom } from "../../../../../src/base/clock.ts";
import { HOUR_MS } from "../../../../../src/base/time.ts";
import { STALE_MS } from "../../../../../src/cluster/cells/settings.ts";
import type { Admission } from "../../../../../src/credits/limits/limits.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { type LimitsCell, type LimitsRig, openLimitsRig } from "./limits-rig.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)("calls in flight", () => {
  let rig: LimitsRig;
  let cells: LimitsCell[];
  beforeAll(async () => {
    rig = await openLimitsRig();
    cells = await rig.eight();
  });
  afterAll(async () => await rig.close());
  const at = (index: number) => cells[index] as LimitsCell;

  test.each([
    [5, 1, 20],
    [100, 4, 20],
    [10_000, 80, 50],
  ])(
    "up to %i are used to 98 in a hundred by all cells, and never exceeded",
    async (concurrency, tries, stepMs) => {
      const random = seededRandom(concurrency);
      const key = { keyId: `busy-${concurrency}`, limits: { concurrency } };
      let inFlight = 0;
      let most = 0;
      let calls = 0;
      const ends: [number, Admission][] = [];
      const take = (answer: { admitted: boolean }) => {
        if (!answer.admitted) return;
        calls++;
        most = Math.max(most, ++inFlight);
        ends.push([rig.nowMs() + 500 + Math.floor(random() * 1500), answer as Admission]);
      };
      const used: number[] = [];
      const startMs = rig.nowMs();
      for (; rig.nowMs() < startMs + 5000; await rig.pass(stepMs, stepMs)) {
        const over = ends.filter(([endMs]) => endMs <= rig.nowMs());
        for (const [, admission] of over) {
          admission.release();
          inFlight--;
        }
        for (const ended of over) ends.splice(ends.indexOf(ended), 1);
        for (const { limits } of cells)
          for (let i = 0; i < tries; i++) {
            const answer = limits.admit(key, 0);
            if (answer instanceof Promise) void answer.then(take);
            else take(answer);
          }
        await rig.rest();
        if (rig.nowMs() > startMs + 3000) used.push(inFlight);
      }
      const mean = used.reduce((sum, n) => sum + n, 0) / used.length;
      if (process.env.WEIR_THOROUGH !== undefined)
        console.log(JSON.stringify({ concurrency, calls, most, mean }));
      expect(most).toBeLessThanOrEqual(concurrency);
      expect(mean).toBeGreaterThanOrEqual(concurrency * 0.98);
      for (const [, admission] of ends) admission.release();
      await rig.pass(STALE_MS + 1500);
      expect(await rig.link.call("EXISTS", `{weir}:leased:busy-${concurrency}`)).toBe(0);
    },
  );

  /** Admits as many calls as a cell can. */
  async function fill(cell: LimitsCell, keyId: string, concurrency: number): Promise<Admission[]> {
    const taken: Admission[] = [];
    for (;;) {
      const answer = await rig.admit(cell, { keyId, limits: { concurrency } });
      if (answer === undefined || !answer.admitted) return taken;
      taken.push(answer);
    }
  }

  test("are never freed by time while they last, and end with the call", async () => {
    const taken = await fill(at(0), "lasting", 5);
    expect(taken).toHaveLength(5);
    await rig.pass(HOUR_MS + 40_000, 60_000);
    expect(await fill(at(1), "lasting", 5)).toHaveLength(0);
    taken[0]?.release();
    await rig.rest();
    const more = await fill(at(1), "lasting", 5);
    expect(more).toHaveLength(1);
    for (const admission of [...taken, ...more]) admission.release();
  });

  test("of a cell that was killed end with its new life, or with its retirement, or when no call can last", async () => {
    const cell = await rig.cell("mortal");
    expect(await fill(cell, "killed", 5)).toHaveLength(5);
    cell.isDead = true;
    await rig.pass(60_000, 10_000);
    expect(await fill(at(1), "killed", 5)).toHaveLength(0);
    const again = await rig.cell("mortal");
    const taken = await fill(again, "killed", 5);
    expect(taken).toHaveLength(5);
    again.isDead = true;
    await rig.retire("mortal");
    const others = await fill(at(1), "killed", 5);
    expect(others).toHaveLength(5);
    for (const admission of others) admission.release();
    const silent = await rig.cell("silent");
    expect(await fill(silent, "killed", 5)).toHaveLength(5);
    silent.isDead = true;
    await rig.pass(HOUR_MS, 600_000);
    expect(await fill(at(2), "killed", 5)).toHaveLength(0);
    await rig.pass(31_000, 31_000);
    const last = await fill(at(2), "killed", 5);
    expect(last).toHaveLength(5);
    for (const admission of last) admission.release();
  });

  test("that are free at one cell come back as soon as another wants them", async () => {
    const limit = 1000;
    const taken = await fill(at(0), "wanted", limit);
    expect(taken).toHaveLength(limit);
    for (const admission of taken) admission.release();
    // Free slots are kept for a moment; the refusal asks for them.
    await fill(at(1), "wanted", limit);
    await rig.pass(700);
    const others = await fill(at(1), "wanted", limit);
    expect(others.length).toBeGreaterThanOrEqual(1);
    for (const admission of others) admission.release();
    await rig.pass(2000);
    const all = await fill(at(2), "wanted", limit);
    expect(all).toHaveLength(limit);
    for (const admission of all) admission.release();
  });

  test("begin on a free slot of a process that stood still only while it is surely set aside", async () => {
    const cell = await rig.cell("stopped");
    const key = { keyId: "stopped", limits: { concurrency: 100 } };
    const [first, second] = await fill(cell, "stopped", 100);
    const begin = (admission: Admission | undefined) => {
      admission?.release();
      cell.isPaused = true;
    };
    begin(first);
    await rig.pass(29_000, 1000);
    expect(cell.limits.admit(key, 0)).toMatchObject({ admitted: true });
    begin(second);
    await rig.pass(2000, 1000);
    const asked = cell.limits.admit(key, 0);
    cell.isPaused = false;
    expect(asked).toBeInstanceOf(Promise);
    await rig.pass(100);
    expect(await asked).toMatchObject({ admitted: true });
  });
});
