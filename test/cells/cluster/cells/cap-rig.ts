/** What eight cells spend of, up to a bound: an org's credit, and hard budgets, behind the same words. */
import { expect } from "vitest";
import type { BudgetScope } from "../../../../src/credits/budgets/budget.ts";
import { equals, until } from "../../../support/wait.ts";
import {
  begin,
  ENOUGH,
  giveUp,
  hard,
  isOpenCall,
  openBudgetCell,
  scopeOf,
  settle,
  spendRow,
} from "./budgets/budgets-fixtures.ts";
import { charge, creditOf, HeardLedger, openCreditCell, post, settled } from "./credit/credit-fixtures.ts";
import type { Bench } from "./fixtures.ts";

export const CELLS = ["a", "b", "c", "d", "e", "f", "g", "h"];
/** micro-USD that each call holds. */
export const CALL = 1000;
/** Calls that are paid for. */
export const PAID_CALLS = 100;

export interface CappedCall {
  settle(costMicroUsd: number): Promise<unknown>;
  giveUp(): void;
}

export interface CappedCells {
  /** Has the means for `PAID_CALLS` calls there. */
  pay(id: string): Promise<void>;
  /** Holds as a call does; undefined where it is refused. @throws where Redis does not answer in time */
  begin(cell: number, id: string): Promise<CappedCall | undefined>;
  /** Waits until nothing is leased or held, and expects that this was spent of it. */
  expectSpent(id: string, microUsd: number): Promise<void>;
  /** Cuts a cell's connections. */
  cut(cell: number): void;
  stop(): Promise<void>;
}

export async function openCredit(bench: Bench): Promise<CappedCells> {
  const ledger = new HeardLedger();
  const open = (name: string) => openCreditCell(bench, name, ledger, { idleMs: 200, waitMs: 5000 });
  const cells = await Promise.all(CELLS.map(open));
  const at = at8(cells);
  return {
    pay: async (id) => void (await post(at(0), id, PAID_CALLS * CALL)),
    async begin(index, id) {
      const cell = at(index);
      const hold = await cell.purse.hold(id, CALL);
      return hold && { settle: (cost) => charge(cell, hold, cost), giveUp: () => cell.purse.release(hold) };
    },
    async expectSpent(id, microUsd) {
      await settled(bench, ledger, id);
      expect((await creditOf(bench, id)).b).toBe(PAID_CALLS * CALL - microUsd);
    },
    cut: (index) => at(index).cut(),
    async stop() {
      for (const cell of cells) await cell.stop();
    },
  };
}

/** @param budgets of a call's scope, for this many micro-USD */
export async function openBudgets(
  bench: Bench,
  budgets: (microUsd: number) => Partial<BudgetScope>,
): Promise<CappedCells> {
  const cells = await Promise.all(CELLS.map((name) => openBudgetCell(bench, name)));
  const at = at8(cells);
  return {
    pay: async (id) => {
      await bench.link.call("HSET", `{weir}:credit:${scopeOf(id).orgId}`, "n", 0, "b", ENOUGH);
    },
    async begin(index, id) {
      const open = await begin(at(index), scopeOf(id, budgets(PAID_CALLS * CALL)), CALL);
      return isOpenCall(open)
        ? { settle: (cost) => settle(open, cost), giveUp: () => giveUp(open) }
        : undefined;
    },
    async expectSpent(id, microUsd) {
      const { keyId, projectId, orgId } = scopeOf(id);
      for (const scope of [`k:${keyId}`, `p:${projectId}`, `o:${orgId}`]) {
        await expectSpend(bench, scope, microUsd);
      }
    },
    cut: (index) => at(index).cut(),
    async stop() {
      for (const cell of cells) await cell.stop();
    },
  };
}

/** Waits until nothing of a scope is leased or held, and everything charged was counted. */
export async function expectSpend({ link }: Bench, scope: string, microUsd: number): Promise<void> {
  const spent = String(microUsd);
  // A budget that nobody has is known in Redis once its first charge is.
  const look = async () => {
    const { t, l = "0" } = await spendRow(link, scope);
    return { t, l };
  };
  await until("all is charged, and nothing is leased", look, equals({ t: spent, l: "0" }));
  const { d, t, m, l, h, u, v, n, p, ...rest } = await spendRow(link, scope);
  expect({ t, m, l, h, rest }).toEqual({ t: spent, m: spent, l: "0", h: "0", rest: {} });
}

export const BUDGETS: Readonly<Record<string, (microUsd: number) => Partial<BudgetScope>>> = {
  "a budget of a key": (microUsd) => ({ keyDaily: hard(microUsd) }),
  "a budget of a project": (microUsd) => ({ projectMonthly: hard(microUsd) }),
  "a budget of an org": (microUsd) => ({ orgMonthly: hard(microUsd) }),
  "budgets of key and org": (microUsd) => ({ keyDaily: hard(microUsd * 3), orgMonthly: hard(microUsd) }),
};

const at8 =
  <T>(cells: readonly T[]) =>
  (index: number): T =>
    cells[index % cells.length] as T;
