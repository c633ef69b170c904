/** The simulation of cells: some schedules of it, that it can be repeated, and that its Redis does what a real one does. */
import { expect, test } from "vitest";
import { Dice } from "../../../bench/simulation/billing/dice.ts";
import { simulateCells } from "../../../bench/simulation/cells/cells.ts";
import { planOf, TROUBLES, type Trouble } from "../../../bench/simulation/cells/plan.ts";
import { runSchedule } from "../../../bench/simulation/cells/schedule.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { RealTwin } from "./redis-twin.ts";

const missing = missingRedis();

/** Without a failover, which goes back in time, and without a stream that is trimmed to the entry. */
const SEEDS = Array.from({ length: 60 }, (_, at) => at + 1)
  .filter((seed) => {
    const { replicas, streamEntries, activeMs } = planOf(new Dice(seed));
    return replicas === 0 && streamEntries === 10_000 && activeMs > 1000 && activeMs < 3000;
  })
  .slice(0, 3);

const NO_TROUBLES = Object.fromEntries(Object.keys(TROUBLES).map((name) => [name, 0])) as Record<
  Trouble,
  number
>;

test("schedules of cells in trouble break no promise", async () => {
  const broken: unknown[] = [];
  const { counts } = await simulateCells({
    seed: 5000,
    schedules: 25,
    onBroken: (found) => void broken.push(found),
  });
  expect(broken).toEqual([]);
  // It was not quiet.
  for (const name of ["charges", "acts", "postings", "troubles"] as const)
    expect(counts[name]).toBeGreaterThan(25);
});

test.each([
  ["each is set a moment after the other, Redis's last", { jumpInTurn: 1 }],
  ["Redis's drifts by more than a minute and is set right", { redisDrift: 1 }],
] as const)("C1: cells go on by themselves where of all clocks %s", async (_, only) => {
  const troubles = { ...NO_TROUBLES, ...only };
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const plan = { troubles, activeMs: 30_000, troubleEveryMs: 10_000, callEveryMs: 200, actEveryMs: 500 };
    const { broken, counts } = await runSchedule({ seed, plan });
    expect([seed, broken]).toEqual([seed, undefined]);
    expect(counts.troubles).toBeGreaterThan(0);
  }
});

test("the same seed gives the same schedule", async () => {
  const lines: string[][] = [[], []];
  const [one, other] = [
    await runSchedule({ seed: 77, onLine: (line) => void lines[0]?.push(line) }),
    await runSchedule({ seed: 77, onLine: (line) => void lines[1]?.push(line) }),
  ];
  expect(other).toEqual(one);
  expect(lines[1]).toEqual(lines[0]);
  const third = await runSchedule({ seed: 78 });
  expect(third.hash).not.toBe(one.hash);
});

test.skipIf(missing)(`the Redis of the simulation replies as a real one does ${missing ?? ""}`, async () => {
  const twin = await RealTwin.start();
  try {
    for (const seed of SEEDS) {
      const ran = await twin.record((onRun) => runSchedule({ seed, onRun }));
      expect(ran).toBeGreaterThan(200);
      expect(await twin.differences()).toEqual([]);
    }
  } finally {
    await twin.stop();
  }
});
