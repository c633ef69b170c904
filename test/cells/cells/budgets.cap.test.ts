/** Hard budgets over eight cells: spent to the last call, and never beyond. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/clock.ts";
import type { BudgetScope } from "../../../src/limits/budget.ts";
import { amount } from "../../support/effort.ts";
import { missingRedis } from "../../support/redis-server.ts";
import {
  type BudgetCell,
  begin,
  ENOUGH,
  giveUp,
  hard,
  isOpenCall,
  type OpenCall,
  openBudgetCell,
  scopeOf,
  settle,
  spendRow,
} from "./budgets-fixtures.ts";
import { type Bench, openBench } from "./fixtures.ts";

const missing = missingRedis();
const CELLS = ["a", "b", "c", "d", "e", "f", "g", "h"];
const CALL = 1000;

describe.skipIf(missing !== undefined)(
  `budgets over cells${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let bench: Bench;
    let cells: (BudgetCell & { cut(): void })[];
    beforeAll(async () => {
      bench = await openBench();
      cells = await Promise.all(CELLS.map((name) => openBudgetCell(bench, name)));
    });
    afterAll(async () => {
      for (const cell of cells) await cell.stop();
      await bench.close();
    });
    const at = (index: number) => cells[index % cells.length] as BudgetCell & { cut(): void };
    const pay = async (orgId: string) =>
      await bench.link.call("HSET", `{weir}:credit:${orgId}`, "n", 0, "b", ENOUGH);

    /** Waits until nothing is leased or held, and everything charged was counted. */
    async function settled(scope: string, spentMicroUsd: number): Promise<void> {
      const spent = String(spentMicroUsd);
      // A budget that nobody has is known in Redis once its first charge is.
      await expect
        .poll(
          async () => {
            const { t, l = "0" } = await spendRow(bench.link, scope);
            return { t, l };
          },
          { timeout: 20_000, interval: 20 },
        )
        .toEqual({ t: spent, l: "0" });
      const { d, t, m, l, h, u, ...rest } = await spendRow(bench.link, scope);
      expect({ t, m, l, h, rest }).toEqual({ t: spent, m: spent, l: "0", h: "0", rest: {} });
    }

    const BUDGETS: Record<string, (limit: number) => Partial<BudgetScope>> = {
      "a key": (limit) => ({ keyDaily: hard(limit) }),
      "a project": (limit) => ({ projectMonthly: hard(limit) }),
      "an org": (limit) => ({ orgMonthly: hard(limit) }),
      "key and org": (limit) => ({ keyDaily: hard(limit * 3), orgMonthly: hard(limit) }),
    };

    test.each(Object.keys(BUDGETS))(
      "a budget of %s for 100 calls admits 100 of 10,000 at once",
      async (whose) => {
        for (let round = 0; round < amount(25, 1); round++) {
          const id = `cap_${whose.replaceAll(" ", "_")}_${round}`;
          const scope = scopeOf(id, BUDGETS[whose]?.(100 * CALL));
          await pay(scope.orgId);
          const calls = await Promise.all(
            Array.from({ length: 10_000 }, async (_, call) => {
              const open = await begin(at(call), scope, CALL);
              if (isOpenCall(open)) await settle(open, CALL);
              return isOpenCall(open);
            }),
          );
          const admitted = calls.filter(Boolean).length;
          expect(admitted).toBeLessThanOrEqual(100);
          expect(admitted).toBeGreaterThanOrEqual(99);
          for (const name of [`k:${scope.keyId}`, `p:${scope.projectId}`, `o:${scope.orgId}`])
            await settled(name, admitted * CALL);
        }
      },
    );

    test("a budget for 100 calls admits no more while Redis stops, restarts and connections are cut", async () => {
      const seed = Number(process.env.WEIR_SEED ?? Math.trunc(performance.now() * 1000));
      const random = seededRandom(seed);
      for (let round = 0; round < amount(50, 3); round++) {
        const scope = scopeOf(`faults_${round}`, {
          keyDaily: hard(100 * CALL),
          orgMonthly: hard(110 * CALL),
        });
        await pay(scope.orgId);
        const calling = Array.from({ length: 5000 }, async (_, call) => {
          await new Promise((resolve) => setTimeout(resolve, random() * 200));
          const open = await begin(at(call), scope, CALL).catch(() => undefined);
          if (open === undefined || !isOpenCall(open)) return 0;
          if (random() < 0.3) await new Promise((resolve) => setTimeout(resolve, random() * 100));
          if (random() < 0.1) {
            giveUp(open);
            return 0;
          }
          const cost = Math.ceil(random() * CALL);
          await settle(open, cost);
          return cost;
        });
        for (let fault = 0; fault < 4; fault++) {
          await new Promise((resolve) => setTimeout(resolve, random() * 60));
          const kind = random();
          if (kind < 0.4) at(Math.floor(random() * cells.length)).cut();
          else if (kind < 0.7) {
            bench.redis.pause();
            await new Promise((resolve) => setTimeout(resolve, random() * 100));
            bench.redis.resume();
          } else {
            await bench.redis.kill();
            await bench.redis.start();
          }
        }
        const charged = (await Promise.all(calling)).reduce<number>((a, b) => a + b, 0);
        expect(charged, `seed ${seed}`).toBeLessThanOrEqual(100 * CALL);
        await bench.link.ready(5000);
        await settled(`k:${scope.keyId}`, charged);
        await settled(`o:${scope.orgId}`, charged);
      }
    }, 300_000);

    test("the last of a budget, idle at several cells, is found for a call that needs all of it", async () => {
      const scope = scopeOf("split", { projectMonthly: hard(8 * CALL) });
      await pay(scope.orgId);
      for (const cell of cells) giveUp((await begin(cell, scope, CALL)) as OpenCall);
      // Each has told within some milliseconds that it holds nothing.
      const held = async () => (await spendRow(bench.link, `p:${scope.projectId}`)).h;
      await expect.poll(held, { timeout: 150, interval: 2 }).toBe("0");
      const all = await begin(at(3), scope, 8 * CALL);
      expect(isOpenCall(all)).toBe(true);
      const refused = await begin(at(4), scope, 1);
      expect(refused).toMatchObject({ admitted: false, budget: "project_monthly", heldMicroUsd: 8 * CALL });
      await settle(all as OpenCall, 8 * CALL);
      await settled(`p:${scope.projectId}`, 8 * CALL);
      expect(await begin(at(4), scope, 1)).toMatchObject({ spentMicroUsd: 8 * CALL, heldMicroUsd: 0 });
    });

    test("a budget that was lowered or raised is in force with the next call", async () => {
      const scope = scopeOf("changed", { keyDaily: hard(10 * CALL) });
      await pay(scope.orgId);
      for (let n = 0; n < 5; n++) await settle((await begin(at(n), scope, CALL)) as OpenCall, CALL);
      const lowered = scopeOf("changed", { keyDaily: hard(5 * CALL) });
      expect(await begin(at(0), lowered, 1)).toMatchObject({ budget: "key_daily", limitMicroUsd: 5 * CALL });
      const raised = scopeOf("changed", { keyDaily: hard(6 * CALL) });
      const call = await begin(at(0), raised, CALL);
      expect(isOpenCall(call)).toBe(true);
      // A soft budget refuses nothing, and what was leased of the hard one goes back.
      const open = await begin(at(1), scopeOf("changed", { keyDaily: { ...hard(1), hard: false } }), CALL);
      expect(isOpenCall(open)).toBe(true);
      await settle(call as OpenCall, CALL);
      await settle(open as OpenCall, CALL);
      await settled("k:key_changed", 7 * CALL);
    });

    test("what routes show of spend is of all cells", async () => {
      const scope = scopeOf("shown");
      await pay(scope.orgId);
      for (let n = 0; n < cells.length; n++)
        await settle((await begin(at(n), scope, CALL)) as OpenCall, CALL + n);
      const spent = 8 * CALL + 28;
      for (const cell of cells) {
        const { budgets } = cell;
        const ask = () =>
          Promise.all([budgets.spendOfKey(scope), budgets.spendOfProject(scope), budgets.spendOfOrg(scope)]);
        const expected = Array(3).fill({ todayMicroUsd: spent, monthMicroUsd: spent });
        await expect.poll(ask, { timeout: 1000, interval: 20 }).toEqual(expected);
      }
    });
  },
);
