/** Requests and tokens a minute over several cells of one real Redis, in virtual time. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openLimits } from "../../../src/limits/limits.ts";
import { type LimitsCell, type LimitsRig, mostInWindow, openLimitsRig } from "./limits-rig.ts";
import { missingRedis } from "./redis-server.ts";

const missing = missingRedis();
const isThorough = process.env.WEIR_THOROUGH !== undefined;

describe.skipIf(missing !== undefined)("requests and tokens a minute", () => {
  let rig: LimitsRig;
  let cells: LimitsCell[];
  beforeAll(async () => {
    rig = await openLimitsRig();
    cells = await Promise.all(["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => rig.cell(name)));
  });
  afterAll(async () => await rig.close());
  const at = (index: number) => cells[index] as LimitsCell;

  /** Every cell tries `calls` calls in each step. @returns the times of those that were admitted */
  async function demand(rpm: number, calls: number, stepMs: number, ms: number): Promise<[number, number][]> {
    const key = { keyId: `steady-${rpm}`, limits: { rpm } };
    const times: [number, number][] = [];
    for (const endMs = rig.nowMs() + ms; rig.nowMs() < endMs; await rig.pass(stepMs, stepMs)) {
      for (const { limits } of cells)
        for (let i = 0; i < calls; i++) {
          const answer = limits.admit(key, 0);
          const take = (value: Awaited<typeof answer>) => {
            if (!value.admitted) return;
            times.push([rig.nowMs(), 1]);
            value.release();
          };
          if (answer instanceof Promise) void answer.then(take);
          else take(answer);
        }
      await rig.rest();
    }
    return times;
  }

  test.each([
    [5, 1, 100],
    [100, 1, 100],
    [10_000, 4, 100],
  ])("of %i are used to 98 in a hundred by all cells, and never exceeded", async (rpm, calls, stepMs) => {
    const startMs = rig.nowMs();
    const before = cells.reduce((sum, { exchanges }) => sum + exchanges, 0);
    const times = await demand(rpm, calls, stepMs, 125_000);
    const exchanges = cells.reduce((sum, cell) => sum + cell.exchanges, 0) - before;
    const used = times.filter(([ms]) => ms >= startMs + 62_000 && ms < startMs + 122_000).length;
    if (isThorough) console.log(JSON.stringify({ rpm, admitted: times.length, used, exchanges }));
    expect(mostInWindow(times)).toBeLessThanOrEqual(rpm);
    expect(used).toBeGreaterThanOrEqual(rpm * 0.98);
  });

  test("are the same for a key at one cell alone as in one process, with all waits and headers", async () => {
    const clock = { now: () => 0, monotonic: rig.nowMs };
    const local = openLimits({ clock });
    let state = 7;
    const random = () => {
      state = (state * 48271) % 2147483647;
      return state / 2147483647;
    };
    const key = { keyId: "alone", limits: { rpm: 60, tpm: 4000 } };
    for (let i = 0; i < 1200; i++) {
      const tokens = Math.floor(random() * 160);
      const expected = local.admit(key, tokens);
      const found = await rig.admit(at(0), key, tokens);
      const plain = (answer: typeof found) => (answer?.admitted ? "admitted" : answer);
      expect(plain(found), `call ${i} at ${rig.nowMs()}`).toEqual(plain(expected));
      expect(at(0).limits.state(key).requests, `call ${i}`).toEqual(local.state(key).requests);
      expect(at(0).limits.state(key).tokens, `call ${i}`).toEqual(local.state(key).tokens);
      for (const answer of [expected, found]) if (answer?.admitted) answer.release();
      const pauses = [1, 20, 130, 700, 1500];
      await rig.pass(Math.ceil(random() * (pauses[Math.floor((i / 60) % 5)] as number)), 2000);
    }
  });
});
