/** What the leased purse of a cell, whose exchanges carry budgets, asks and tells of them. */
import type { Logger } from "pino";
import type { AccountTables } from "../../../account/tables.ts";
import type { BudgetScope } from "../../../credits/budgets/budget.ts";
import { A_BUDGET_IS_USED_UP, type BudgetTellers } from "../../../credits/open.ts";
import type { Store } from "../../../store/store.ts";
import { joinSpend } from "../budgets/join-spend.ts";
import type { Cell } from "../cell.ts";
import type { Crossed } from "../leases/scopes.ts";

/** Port of the leased purse, `onCrossed`: what its charges crossed is told of in an act. */
export const crossedTeller =
  (store: Pick<Store, "act">, { put, putSpike }: BudgetTellers, log: Logger) =>
  async (crossed: readonly Crossed[]): Promise<void> => {
    await store.act(() => {
      for (const event of crossed) {
        if (event.what === "spike") putSpike(event);
        else put(event);
      }
    });
    for (const event of crossed) if (event.what === "budget") log.warn({ event }, A_BUDGET_IS_USED_UP);
  };

/** Port of the leased purse: the budgets of a key by its row, also of one that was revoked. */
export function budgetsOfKey(accounts: AccountTables, keyId: string, nowMs: number): BudgetScope | undefined {
  const key = accounts.key(keyId);
  const project = key && accounts.project(key.projectId);
  const org = key && accounts.org(key.orgId);
  if (key === undefined || project === undefined || org === undefined) return undefined;
  const { budget: keyBudget } = accounts.rulerOf(key, nowMs);
  const budget = (microUsd: number | null, hard: boolean) =>
    microUsd === null ? undefined : { limitMicroUsd: microUsd, hard };
  return {
    keyId,
    lineageId: accounts.lineageOf(key),
    projectId: key.projectId,
    orgId: key.orgId,
    timeZone: org.timeZone,
    keyDaily: budget(keyBudget.dailyMicroUsd, keyBudget.hard),
    projectMonthly: budget(project.budget.monthlyMicroUsd, project.budget.hard),
    orgMonthly: budget(org.budget?.monthlyMicroUsd ?? null, org.budget?.hard ?? false),
    spikeAlertPct: org.budget?.spikeAlertPct ?? undefined,
  };
}

/** At each start: what cells of the release before have counted for keys that replaced others, since the last one. */
export async function joinSpendOfLineages(
  { clock, lane }: Pick<Cell, "clock" | "lane">,
  accounts: AccountTables,
): Promise<void> {
  function* later() {
    for (const { key, lineageId } of accounts.successors()) {
      const timeZone = accounts.org(key.orgId)?.timeZone;
      if (timeZone !== undefined) yield { keyId: key.id, lineageId, timeZone };
    }
  }
  await joinSpend(lane("spend_join"), later(), Math.floor(clock.now()));
}
