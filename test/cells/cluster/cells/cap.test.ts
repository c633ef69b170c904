/** What is paid for 100 calls, over eight cells: it is spent to the last call, and never beyond, whether it is credit or budgets. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Random, seededRandom } from "../../../../src/base/clock.ts";
import { WeirError } from "../../../../src/base/errors.ts";
import { amount } from "../../../support/effort.ts";
import { anyMoment, rest } from "../../../support/pace.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { hard } from "./budgets/budgets-fixtures.ts";
import {
  BUDGETS,
  CALL,
  type CappedCall,
  type CappedCells,
  CELLS,
  openBudgets,
  openCredit,
  PAID_CALLS,
} from "./cap-rig.ts";
import { type Bench, openBench } from "./fixtures.ts";

const missing = missingRedis();
const AGAIN_MS = 20;
/** In which it is to be known whether there is room: a minute on a machine that is not late at all. */
const MOST_TRIES = 3000;

interface Means {
  readonly name: string;
  readonly open: (bench: Bench) => Promise<CappedCells>;
  /** Times that all calls come at once, in all and in `npm test`. */
  readonly rounds: readonly [all: number, part: number];
}

const budgets = (name: string, of: Parameters<typeof openBudgets>[1]): Means => ({
  name,
  open: (bench) => openBudgets(bench, of),
  rounds: [25, 1],
});
const CREDIT: Means = { name: "credit", open: openCredit, rounds: [50, 3] };
/** The org's is spent first by some calls, the key's by others. */
const NEAR = budgets("budgets of a key, and of its org somewhat more", (microUsd) => ({
  keyDaily: hard(microUsd),
  orgMonthly: hard((microUsd * 11) / 10),
}));

const ids = (() => {
  let last = 0;
  return () => `cap_${++last}`;
})();

describe.skipIf(missing !== undefined)(
  `a cap over cells${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let bench: Bench;
    beforeAll(async () => {
      bench = await openBench();
    });
    afterAll(() => bench.close());

    const all = [CREDIT, ...Object.entries(BUDGETS).map(([name, of]) => budgets(name, of))];
    test.each(all)("$name for 100 calls admits 100 of 10,000 at once", async ({ open, rounds }) => {
      const cells = await open(bench);
      for (let round = 0; round < amount(...rounds); round++) {
        const id = ids();
        await cells.pay(id);
        const calls = Array.from({ length: 10_000 }, async (_, call) => {
          const held = await decided(cells, call, id);
          await held?.settle(CALL);
          return held !== undefined;
        });
        const admitted = (await Promise.all(calls)).filter(Boolean).length;
        expect(admitted).toBeLessThanOrEqual(PAID_CALLS);
        expect(admitted).toBeGreaterThanOrEqual(PAID_CALLS - 1);
        await cells.expectSpent(id, admitted * CALL);
      }
      await cells.stop();
    });

    test.each([CREDIT, NEAR])(
      "$name for 100 calls admits no more while Redis stops, restarts and connections are cut",
      { timeout: 300_000 },
      async ({ open }) => {
        const seed = Number(process.env.WEIR_SEED ?? Date.now() % 1e9);
        const random = seededRandom(seed);
        const cells = await open(bench);
        for (let round = 0; round < amount(50, 3); round++) {
          const id = ids();
          await cells.pay(id);
          const calls = Array.from({ length: 10_000 }, (_, call) => costOf(cells, call, id, random));
          for (let fault = 0; fault < 4; fault++) await disturb(bench, cells, random);
          const spent = (await Promise.all(calls)).reduce((sum, cost) => sum + cost, 0);
          expect(spent, `seed ${seed}`).toBeLessThanOrEqual(PAID_CALLS * CALL);
          await bench.link.ready(5000);
          await cells.expectSpent(id, spent);
        }
        await cells.stop();
      },
    );
  },
);

/** Holds as a call does, once more where Redis took so long that it cannot be known whether there is room. */
async function decided(cells: CappedCells, call: number, id: string): Promise<CappedCall | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await cells.begin(call, id);
    } catch (error) {
      if (!(error instanceof WeirError) || error.status !== 503 || tries === MOST_TRIES) throw error;
      await rest(AGAIN_MS);
    }
  }
}

/** A call at some moment, that takes a while or none, and is given up now and then. @returns what it cost */
async function costOf(cells: CappedCells, call: number, id: string, random: Random): Promise<number> {
  await anyMoment(random, 200);
  const held = await cells.begin(call, id).catch(() => undefined);
  if (held === undefined) return 0;
  if (random() < 0.3) await anyMoment(random, 100);
  if (random() < 0.1) {
    held.giveUp();
    return 0;
  }
  const cost = Math.ceil(random() * CALL);
  await held.settle(cost);
  return cost;
}

async function disturb({ redis }: Bench, cells: CappedCells, random: Random): Promise<void> {
  await anyMoment(random, 60);
  const kind = random();
  if (kind < 0.4) {
    cells.cut(Math.floor(random() * CELLS.length));
  } else if (kind < 0.7) {
    redis.pause();
    await anyMoment(random, 100);
    redis.resume();
  } else {
    await redis.kill();
    await redis.start();
  }
}
