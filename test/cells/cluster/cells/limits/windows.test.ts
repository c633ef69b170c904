/** Requests and tokens a minute over several cells of one real Redis, in virtual time. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LimitedKey, openLimits } from "../../../../../src/credits/limits/limits.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { type LimitsCell, type LimitsRig, mostInWindow, openLimitsRig } from "./limits-rig.ts";

const missing = missingRedis();
const isThorough = process.env.WEIR_THOROUGH !== undefined;

describe.skipIf(missing !== undefined)("requests and tokens a minute", () => {
  let rig: LimitsRig;
  let cells: LimitsCell[];
  beforeAll(async () => {
    rig = await openLimitsRig();
    cells = await rig.eight();
  });
  afterAll(async () => await rig.close());
  const at = (index: number) => cells[index] as LimitsCell;

  interface Demand {
    /** Calls of each cell in each step. */
    readonly calls: number;
    readonly stepMs: number;
    readonly ms: number;
  }

  /** @param tokens of each call, by its number. @returns times and tokens of those that were admitted */
  async function demand(
    key: LimitedKey,
    { calls, stepMs, ms }: Demand,
    tokens: (call: number) => number,
  ): Promise<[atMs: number, tokens: number][]> {
    const times: [number, number][] = [];
    let made = 0;
    for (const endMs = rig.nowMs() + ms; rig.nowMs() < endMs; await rig.pass(stepMs, stepMs)) {
      for (const { limits } of cells)
        for (let i = 0; i < calls; i++) {
          const weight = tokens(made++);
          const answer = limits.admit(key, weight);
          const take = (value: Awaited<typeof answer>) => {
            if (!value.admitted) return;
            times.push([rig.nowMs(), weight]);
            value.release();
          };
          if (answer instanceof Promise) void answer.then(take);
          else take(answer);
        }
      await rig.rest();
    }
    return times;
  }

  /** What was used in the minute from then on. */
  const usedFrom = (times: readonly [number, number][], fromMs: number): number =>
    times.reduce((sum, [ms, weight]) => sum + (ms >= fromMs && ms < fromMs + 60_000 ? weight : 0), 0);

  test.each([
    [5, 1, 100],
    [100, 1, 100],
    [10_000, 4, 100],
  ])("of %i are used to 98 in a hundred by all cells, and never exceeded", async (rpm, calls, stepMs) => {
    const startMs = rig.nowMs();
    const before = cells.reduce((sum, { exchanges }) => sum + exchanges, 0);
    const key = { keyId: `steady-${rpm}`, limits: { rpm } };
    const times = await demand(key, { calls, stepMs, ms: 125_000 }, () => 0);
    const exchanges = cells.reduce((sum, cell) => sum + cell.exchanges, 0) - before;
    const each = times.map(([ms]): [number, number] => [ms, 1]);
    const used = usedFrom(each, startMs + 62_000);
    if (isThorough) console.log(JSON.stringify({ rpm, admitted: times.length, used, exchanges }));
    expect(mostInWindow(each)).toBeLessThanOrEqual(rpm);
    expect(used).toBeGreaterThanOrEqual(rpm * 0.98);
  });

  test.each([
    [5000, 1, 100, [10, 60, 25, 120, 75]],
    [100_000, 1, 100, [40, 700, 250, 90, 410]],
    [10_000_000, 4, 100, [900, 9000, 2500, 300, 1700]],
  ])(
    "of %i tokens are used to 98 in a hundred by calls of different weights, and never exceeded",
    async (tpm, calls, stepMs, weights) => {
      const startMs = rig.nowMs();
      const key = { keyId: `tokens-${tpm}`, limits: { tpm } };
      const times = await demand(
        key,
        { calls, stepMs, ms: 125_000 },
        (n) => weights[n % weights.length] as number,
      );
      const used = usedFrom(times, startMs + 62_000);
      if (isThorough) console.log(JSON.stringify({ tpm, admitted: times.length, used }));
      expect(mostInWindow(times)).toBeLessThanOrEqual(tpm);
      expect(used).toBeGreaterThanOrEqual(tpm * 0.98);
    },
  );

  test.each([
    [60, 4000],
    // C3: with parts ahead.
    [1000, 60_000],
  ])(
    "of %i and %i are the same for a key at one cell alone as in one process, with all waits and headers",
    async (rpm, tpm) => {
      const clock = { now: () => 0, monotonic: rig.nowMs };
      const local = openLimits({ clock });
      let state = 7;
      const random = () => {
        state = (state * 48271) % 2147483647;
        return state / 2147483647;
      };
      const key = { keyId: `alone-${rpm}`, limits: { rpm, tpm } };
      for (let i = 0; i < 1200; i++) {
        const tokens = Math.floor(random() * (tpm / 25));
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
    },
  );
});
