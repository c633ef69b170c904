/** Opens credit and budgets: those of one gateway alone, or of a cell among others. */
import type { Logger } from "pino";
import { AccountTables } from "../../account/tables.ts";
import type { Cell } from "../../cluster/cells/cell.ts";
import { budgetEvents } from "../../credits/budgets/budget-events.ts";
import { type Budgets, openBudgets } from "../../credits/budgets/budgets.ts";
import { creditEvents } from "../../credits/ledger/credit-events.ts";
import { openCredits } from "../../credits/ledger/credits.ts";
import type { AutoTopupHook } from "./auto-topup.ts";
import { bootName } from "./boot.ts";
import type { BudgetTellers, CreditPorts, Credits, MoneyGround } from "./money-ports.ts";

/** @throws Error with a line for the operator, where a cell's folder is a copy of an older state */
export async function openMoney(ground: MoneyGround, topUpHook: AutoTopupHook, log: Logger) {
  const { store, clock, cell, events } = ground;
  const accounts = new AccountTables(store);
  const exceeded = budgetEvents({
    store,
    clock,
    events,
    onFailure: (err) => log.error({ err }, "the event of a budget could not be stored"),
  });
  const ports = creditPorts(ground, accounts, topUpHook, log);
  const money =
    cell === undefined
      ? openAlone(ground, accounts, { ...ports, exceeded }, log)
      : await openShared(ground, { ...ports, exceeded }, log);
  accounts.watch({ org: money.boundsChanged });
  return { ...money, closeTables: () => exceeded.close() };
}

type Money = Credits & { readonly budgets: Budgets };
type Ports = CreditPorts & { readonly exceeded: BudgetTellers };

function openAlone(
  { store, clock }: MoneyGround,
  accounts: AccountTables,
  { exceeded, ...ports }: Ports,
  log: Logger,
): Money {
  const credits = openCredits({ store, clock, ...ports });
  const budgets = openBudgets({
    store,
    clock,
    boot: bootName(),
    book: credits.book,
    orgOf(projectId) {
      const project = accounts.project(projectId);
      const timeZone = accounts.org(project?.orgId ?? "")?.timeZone ?? "UTC";
      return project && { orgId: project.orgId, timeZone };
    },
    lineageOf: accounts.lineageOfId,
    onBudgetExceeded: (event) => log.warn({ event }, "a budget is used up"),
    putExceeded: exceeded.put,
    putSpike: exceeded.putSpike,
  });
  return { ...credits, ...ALONE, budgets };
}

/** One gateway alone lists its charges itself, and owes nobody any. */
const ALONE = {
  connect() {},
  flushCharges: () => Promise.resolve(true),
  charges: { newest: () => 0, acknowledged: () => 0 },
  closeCredits: () => Promise.resolve(),
  leased: () => ({ orgs: 0, microUsd: 0 }),
};

function creditPorts(
  { events }: MoneyGround,
  accounts: AccountTables,
  topUpHook: AutoTopupHook,
  log: Logger,
): CreditPorts {
  const tellOfFall = creditEvents({
    events,
    onFailure: (err) => log.error({ err }, "the event of low credit could not be stored"),
  });
  return {
    bounds: {
      lowCredit: (orgId) => accounts.org(orgId)?.creditsLowMicroUsd ?? undefined,
      watchedBelow: topUpHook.watchedBelow,
    },
    onFall(fall) {
      topUpHook.onFall(fall);
      tellOfFall(fall);
    },
  };
}

async function openShared(ground: MoneyGround, ports: Ports, log: Logger): Promise<Money> {
  const { openSharedMoney } = await import("./shared-money.ts");
  return await openSharedMoney({ ...ground, cell: ground.cell as Cell }, ports, log);
}
