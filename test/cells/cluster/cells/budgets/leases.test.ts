/** Hard budgets over eight cells: leases, changes and what is shown. That no more than a budget is spent: cap.test.ts; within what time others know: test/timed/cluster/cells/budgets.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { retire } from "../../../../../src/cluster/cells/membership/registry.ts";
import { chargingFormer } from "../../../../../src/inference/exchange/reservation/holds.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import { CALL, CELLS, expectSpend } from "../cap-rig.ts";
import { type Bench, openBench } from "../fixtures.ts";
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

const missing = missingRedis();

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

    const settled = (scope: string, spentMicroUsd: number) => expectSpend(bench, scope, spentMicroUsd);

    test("the last of a budget, idle at several cells, is found for a call that needs all of it", async () => {
      const scope = scopeOf("split", { projectMonthly: hard(8 * CALL) });
      await pay(scope.orgId);
      for (const cell of cells) giveUp((await begin(cell, scope, CALL)) as OpenCall);
      const held = async () => (await spendRow(bench.link, `p:${scope.projectId}`)).h;
      await until("each has told that it holds nothing", held, equals("0"));
      const all = await begin(at(3), scope, 8 * CALL);
      expect(isOpenCall(all)).toBe(true);
      const refused = await begin(at(4), scope, 1);
      expect(refused).toMatchObject({ admitted: false, budget: "project_monthly", heldMicroUsd: 8 * CALL });
      await settle(all as OpenCall, 8 * CALL);
      await settled(`p:${scope.projectId}`, 8 * CALL);
      expect(await begin(at(4), scope, 1)).toMatchObject({ spentMicroUsd: 8 * CALL, heldMicroUsd: 0 });
    });

    test("half of a budget is noted by what all cells have charged, hard or soft", async () => {
      const scope = scopeOf("near", {
        keyDaily: { ...hard(6 * CALL), hard: false },
        projectMonthly: hard(8 * CALL),
      });
      await pay(scope.orgId);
      const noted = () =>
        cells.flatMap(({ near }) => near).filter((id) => [scope.keyId, scope.projectId].includes(id));
      for (let n = 0; n < 2; n++) await settle((await begin(at(n), scope, CALL)) as OpenCall, CALL);
      await settled(`k:${scope.keyId}`, 2 * CALL);
      expect(noted()).toEqual([]);
      await settle((await begin(at(2), scope, CALL)) as OpenCall, CALL);
      await until("the key is noted", noted, (ids) => ids.includes(scope.keyId));
      expect(noted()).not.toContain(scope.projectId);
      await settle((await begin(at(3), scope, CALL)) as OpenCall, CALL);
      await until("the project is noted", noted, (ids) => ids.includes(scope.projectId));
      const last = cells[3] as BudgetCell;
      expect(last.near.filter((id) => id === scope.projectId)).toHaveLength(1);
    });

    test("a call that a former process left unfinished counts in its budgets, one of a retired life in none", async () => {
      const scope = scopeOf("former", { keyDaily: hard(10 * CALL) });
      await pay(scope.orgId);
      const atMs = Date.now();
      const leave = async (cell: BudgetCell, life: string, requestId: string) => {
        const charge = { requestId, amountMicroUsd: CALL, atMs };
        const former = chargingFormer(cell, { scope, life, charge });
        await expect(
          cell.store.act(() => {
            former.charge();
            throw new Error("dropped");
          }),
        ).rejects.toThrow("dropped");
        await cell.store.act(former.charge, { isOwed: true });
      };
      const first = await openBudgetCell(bench, "former");
      await first.stop();
      const next = await openBudgetCell(bench, "former");
      await leave(next, first.purse.life, "req_former_1");
      await settled(`k:${scope.keyId}`, CALL);
      await settled(`o:${scope.orgId}`, CALL);
      await next.stop();
      expect(await retire(bench.link, bench.id, "former", 0)).toBe(true);
      const last = await openBudgetCell(bench, "former");
      for (const { purse } of [first, next]) await leave(last, purse.life, `req_of_${purse.life}`);
      await until("all is passed on", () => last.purse.passed(1000));
      await settled(`k:${scope.keyId}`, CALL);
      expect(last.budgets.openHolds()).toBe(0);
      await last.stop();
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

    test("C9: a key and its successor have one budget, whichever cells their calls go to", async () => {
      const old = scopeOf("rotated", { keyDaily: hard(6 * CALL) });
      const fresh = { ...old, keyId: "key_successor", lineageId: old.keyId };
      await pay(old.orgId);
      const calls: OpenCall[] = [];
      for (let n = 0; n < 6; n++)
        calls.push((await begin(at(n), n % 2 === 0 ? old : fresh, CALL)) as OpenCall);
      expect(calls.filter(isOpenCall)).toHaveLength(6);
      for (const [n, scope] of [old, fresh].entries())
        expect(await begin(at(n), scope, CALL)).toMatchObject({ admitted: false, budget: "key_daily" });
      for (const call of calls) await settle(call, CALL);
      await settled("k:key_rotated", 6 * CALL);
      expect(await spendRow(bench.link, "k:key_successor")).toEqual({});
      for (const scope of [old, fresh]) {
        const shown = async () => (await at(2).budgets.spendOfKey(scope)).todayMicroUsd;
        await until("the spend is shown", shown, equals(6 * CALL));
      }
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
        await until("the cell knows what all spent", ask, equals(expected));
      }
    });
  },
);
