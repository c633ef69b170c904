/** Credit and budgets of one gateway alone; those of a cell among others are opened by `cluster/cells/money`, to the same type. */
import type { Clock } from "../base/clock.ts";
import type { Events } from "../store/events/events.ts";
import type { Store } from "../store/store.ts";
import type { BudgetExceeded, SpendSpike } from "./budgets/budget.ts";
import { budgetEvents } from "./budgets/budget-events.ts";
import { type BudgetDeps, type Budgets, openBudgets } from "./budgets/budgets.ts";
import { type NearBudgets, openNearBudgets } from "./budgets/near-budgets.ts";
import type { CreditBounds } from "./ledger/accounts.ts";
import type { Book } from "./ledger/book.ts";
import { type CreditFall, creditEvents } from "./ledger/credit-events.ts";
import { openCredits } from "./ledger/credits.ts";
import type { CreditLots } from "./ledger/lots.ts";
import type { Purse } from "./ledger/purse.ts";

export interface Money {
  readonly purse: Purse;
  readonly book: Book;
  readonly lots: CreditLots;
  readonly budgets: Budgets;
  /** What bounds an org's credit may have changed, committed. */
  readonly boundsChanged: (orgId: string) => void;
  /** What this process has leased of orgs' credit: nothing at a gateway alone. Micro-USD. */
  leased(): { readonly orgs: number; readonly microUsd: number };
  /** No call is under way any more. */
  close(): Promise<void>;
}

/** What is told of budgets: called in an act, the second time in a period they put nothing. */
export interface BudgetTellers {
  readonly put: (event: BudgetExceeded) => void;
  readonly putSpike: (event: SpendSpike) => void;
}

/** What both kinds of gateways tell of falling credit and of budgets that are used up. */
export interface MoneyTellers {
  readonly bounds: CreditBounds;
  readonly onFall: (fall: CreditFall) => void;
  readonly exceeded: BudgetTellers;
  /** Budgets of which half is used. */
  readonly near: NearBudgets;
}

export interface MoneyTellerPorts extends CreditBounds {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Events;
  /** Beside the event: whoever tops up by itself hears of it. */
  readonly onFall: (fall: CreditFall) => void;
  readonly log: { error(fields: object, message: string): void };
}

/** Once for a process, for either kind of `Money`. */
export function openMoneyTellers({
  store,
  clock,
  events,
  log,
  ...ports
}: MoneyTellerPorts): MoneyTellers & { closeTables(): void } {
  const exceeded = budgetEvents({
    store,
    clock,
    events,
    onFailure: (err) => log.error({ err }, "the event of a budget could not be stored"),
  });
  const near = openNearBudgets({
    store,
    clock,
    onFailure: (err) => log.error({ err }, "what is noted of budgets near their end could not be stored"),
  });
  const tellOfFall = creditEvents({
    events,
    onFailure: (err) => log.error({ err }, "the event of low credit could not be stored"),
  });
  return {
    bounds: ports,
    onFall(fall) {
      ports.onFall(fall);
      tellOfFall(fall);
    },
    exceeded,
    near,
    closeTables() {
      exceeded.close();
      near.close();
    },
  };
}

export interface MoneyPorts
  extends Pick<BudgetDeps, "store" | "clock" | "boot">,
    Required<Pick<BudgetDeps, "orgOf" | "lineageOf">> {
  readonly tellers: MoneyTellers;
  readonly log: { warn(fields: object, message: string): void };
}

export const A_BUDGET_IS_USED_UP = "a budget is used up";

export function openMoney({ tellers, log, ...deps }: MoneyPorts): Money {
  const { store, clock } = deps;
  const { bounds, onFall, exceeded, near } = tellers;
  const credits = openCredits({ store, clock, bounds, onFall });
  const budgets = openBudgets({
    ...deps,
    book: credits.book,
    onBudgetExceeded: (event) => log.warn({ event }, A_BUDGET_IS_USED_UP),
    putExceeded: exceeded.put,
    putSpike: exceeded.putSpike,
    noteNear: near.note,
  });
  return {
    ...credits,
    budgets,
    leased: () => ({ orgs: 0, microUsd: 0 }),
    close: () => Promise.resolve(),
  };
}
