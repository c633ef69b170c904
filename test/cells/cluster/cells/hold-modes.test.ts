/**
 * Calls of all modes at several cells: held in full or fitted, waiting or not. Together they never spend more than there is, and who is
 * fitted or waits gets what other cells have idle.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Random, seededRandom } from "../../../../src/base/clock.ts";
import { WeirError } from "../../../../src/base/errors.ts";
import type { BudgetScope } from "../../../../src/credits/budgets/budget.ts";
import { amount } from "../../../support/effort.ts";
import { anyMoment } from "../../../support/pace.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { until } from "../../../support/wait.ts";
import { ENOUGH, hard, scopeOf, spendRow } from "./budgets/budgets-fixtures.ts";
import { CELLS, expectSpend } from "./cap-rig.ts";
import { creditOf } from "./credit/credit-fixtures.ts";
import { type Bench, openBench } from "./fixtures.ts";
import {
  type Asked,
  type HeldCall,
  type HoldCell,
  inFull,
  MARGIN,
  MIN_FIT_TOKENS,
  openHoldCell,
  pay,
} from "./hold-rig.ts";

const missing = missingRedis();
const LONG_MS = 120_000;
const TOKENS = 1000;
const CALLS = amount(5000, 1000);

const ids = (() => {
  let last = 0;
  return () => `modes_${++last}`;
})();

describe.skipIf(missing !== undefined)(
  `C14: calls of all modes over cells${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let bench: Bench;
    let cells: HoldCell[];
    const open = async (names: readonly string[], budgets?: Partial<BudgetScope>) => {
      cells = await Promise.all(names.map((name) => openHoldCell(bench, name, budgets)));
    };
    const at = (index: number) => cells[index % cells.length] as HoldCell;
    beforeAll(async () => {
      bench = await openBench();
    });
    afterAll(() => bench.close());
    const closed = () => Promise.all(cells.map((cell) => cell.stop()));

    test("a call is not made shorter while other cells have credit idle", async () => {
      await open(["idle_a", "idle_b"]);
      const id = ids();
      await pay(bench, id, inFull(TOKENS) + inFull(2 * MIN_FIT_TOKENS));
      // Some calls there, so that it leases more than they need.
      for (let call = 0; call < 5; call++) (await known(at(0), id, { tokens: 20 })).giveUp();
      const held = await known(at(1), id, { tokens: TOKENS, hold: "fit" });
      expect([held.limit, held.heldMicroUsd]).toEqual([undefined, inFull(TOKENS)]);
      const fitted = await known(at(0), id, { tokens: TOKENS, hold: "fit" });
      expect([fitted.limit, fitted.heldMicroUsd]).toEqual([2 * MIN_FIT_TOKENS, inFull(2 * MIN_FIT_TOKENS)]);
      held.giveUp();
      fitted.giveUp();
      await closed();
    });

    test("a call that waits is served by what ends at another cell, in its turn at its own", async () => {
      await open(["ends_a", "ends_b"]);
      const id = ids();
      await pay(bench, id, inFull(TOKENS));
      const first = await known(at(0), id, { tokens: TOKENS });
      const order: string[] = [];
      const waits = ["second", "third"].map(async (name) => {
        const held = await at(1).hold(id, { tokens: TOKENS - 100, waitMs: LONG_MS });
        order.push(name);
        await held.settle(0);
      });
      await until(
        "both wait",
        () => at(1).queue.size,
        (size) => size === 2,
      );
      await first.settle(500);
      await Promise.all(waits);
      expect(order).toEqual(["second", "third"]);
      await closed();
    });

    test("a call that could not be made if all cells were idle does not wait", async () => {
      await open(["never_a", "never_b"]);
      const id = ids();
      await pay(bench, id, inFull(TOKENS));
      const first = await known(at(0), id, { tokens: TOKENS - 10 });
      const refused = known(at(1), id, { tokens: TOKENS + 1, waitMs: LONG_MS });
      await expect(refused).rejects.toMatchObject({ code: "insufficient_credits" });
      first.giveUp();
      await closed();
    });

    const far = (microUsd: number) => ({ keyDaily: hard(microUsd), orgMonthly: hard(microUsd * 2) });
    test.each<[string, (microUsd: number) => Partial<BudgetScope>, number]>([
      ["credit", () => ({}), 1],
      ["budgets of a key and its org", far, ENOUGH],
    ])(
      "%s for some is never passed, while Redis stops, restarts and connections are cut",
      {
        timeout: 300_000,
      },
      async (what, budgets, credit) => {
        const seed = Number(process.env.WEIR_SEED ?? Date.now() % 1e9);
        const random = seededRandom(seed);
        const room = 20 * inFull(TOKENS);
        await open(
          CELLS.map((name) => `${name}_${what.slice(0, 1)}`),
          budgets(room),
        );
        for (let round = 0; round < amount(10, 2); round++) {
          const id = ids();
          await pay(bench, id, credit === ENOUGH ? ENOUGH : room);
          const calls = Array.from({ length: CALLS }, (_, call) => costOf(at(call), id, random));
          for (let fault = 0; fault < 4; fault++) await disturb(bench, at, random);
          const spent = (await Promise.all(calls)).reduce((sum, cost) => sum + cost, 0);
          expect(spent, `seed ${seed}`).toBeLessThanOrEqual(room);
          expect(spent, `seed ${seed}`).toBeGreaterThan(0);
          await bench.link.ready(5000);
          const { orgId, keyId } = scopeOf(id);
          await expectSpend(bench, `o:${orgId}`, spent);
          await until(
            "no credit is leased",
            async () => (await creditOf(bench, orgId)).l ?? 0,
            (l) => l === 0,
          );
          expect((await creditOf(bench, orgId)).b).toBe((credit === ENOUGH ? ENOUGH : room) - spent);
          if (credit === ENOUGH) expect(Number((await spendRow(bench.link, `k:${keyId}`)).t)).toBe(spent);
          expect(cells.map(({ queue }) => queue.size)).toEqual(cells.map(() => 0));
        }
        await closed();
        expect(Math.min(seen.fitted, seen.waited), JSON.stringify(seen)).toBeGreaterThan(0);
      },
    );
  },
);

/** Asked again where the cell could not know in time, as its client would. @throws WeirError 402 */
async function known(cell: HoldCell, id: string, asked: Asked): Promise<HeldCall> {
  const ask = () =>
    cell.hold(id, asked).catch((error: unknown) => {
      if (error instanceof WeirError && error.status === 503) return undefined;
      throw error;
    });
  let failed: unknown;
  const held = await until(
    "it is known whether there is credit",
    () =>
      ask().catch((error: unknown) => {
        failed = error;
        return undefined;
      }),
    (found) => found !== undefined || failed !== undefined,
  );
  if (held === undefined) throw failed;
  return held;
}

/** How many calls were fitted, and how many had waited. */
const seen = { fitted: 0, waited: 0 };

/** A call of any mode at some moment, that takes a while or none, and is given up now and then. @returns what it cost */
async function costOf(cell: HoldCell, id: string, random: Random): Promise<number> {
  await anyMoment(random, 200);
  const tokens = MIN_FIT_TOKENS + Math.floor(random() ** 3 * 5 * TOKENS);
  const hold = random() < 0.5 ? "fit" : "full";
  const waitMs = random() < 0.3 ? Math.ceil(random() * 1000) : 0;
  const held = await cell.hold(id, { tokens, hold, waitMs }).catch(() => undefined);
  if (held === undefined) return 0;
  if (held.limit !== undefined) seen.fitted++;
  if (held.waitedMs > 0) seen.waited++;
  if (random() < 0.3) await anyMoment(random, 100);
  if (random() < 0.3) {
    held.giveUp();
    return 0;
  }
  // No fitted call costs more than it holds, nor does another.
  const cost = Math.ceil(random() * (held.heldMicroUsd - MARGIN));
  await held.settle(cost);
  return cost;
}

async function disturb({ redis }: Bench, at: (index: number) => HoldCell, random: Random): Promise<void> {
  await anyMoment(random, 60);
  const kind = random();
  if (kind < 0.4) at(Math.floor(random() * CELLS.length)).cut();
  else if (kind < 0.7) {
    redis.pause();
    await anyMoment(random, 100);
    redis.resume();
  } else {
    await redis.kill();
    await redis.start();
  }
}
