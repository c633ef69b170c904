/**
 * Budgets in force: spend is held before a call and counted at its settle, like credits.
 * Always true: for a hard budget, spend + held <= limit after every admission; spend on disk is what the committed
 * ledger charged in the period. A call counts in the period in which it settles, and still does when the clock by which
 * that was told is corrected.
 */
import type { Clock } from "../clock.ts";
import type { Store } from "../store/store.ts";
import {
  type BudgetExceeded,
  type BudgetName,
  type BudgetRefusal,
  type BudgetScope,
  type BudgetStanding,
  crosses,
  forbids,
} from "./budget.ts";
import { monthOf, openPeriods, type Period } from "./periods.ts";
import { openSpendTable, type ScopeSpend, type Spend, type SpendTable } from "./spend.ts";
import { WallClock } from "./wall-clock.ts";

/** Closed exactly once, by `charge` or `release`. In memory only. */
export interface BudgetHold {
  readonly admitted: true;
  readonly amountMicroUsd: number;
}

export interface PeriodSpend {
  readonly todayMicroUsd: number;
  readonly monthMicroUsd: number;
}

export interface Budgets {
  /** Whether `hold` would admit it now; reports nothing where it would not. */
  wouldHold(scope: BudgetScope, microUsd: number): boolean;
  /** Both budgets are checked before either is held. An amount of 0 is never refused. */
  hold(scope: BudgetScope, microUsd: number): BudgetHold | BudgetRefusal;
  /** Grows an open hold; false (and nothing changed) where a hard budget does not allow it. */
  extend(hold: BudgetHold, moreMicroUsd: number): boolean;
  /**
   * Closes the hold and counts the charge now. The function returned puts the counter; it must run inside the store
   * write of the ledger entry, and those writes must join the store's queue in the order of the charges.
   * @throws Error when the hold is closed.
   */
  charge(hold: BudgetHold, amountMicroUsd: number): () => void;
  /** @throws Error when the hold is closed. */
  release(hold: BudgetHold): void;
  spendOfKey(scope: Pick<BudgetScope, "keyId" | "projectId" | "timeZone">): PeriodSpend;
  spendOfProject(scope: Pick<BudgetScope, "projectId" | "timeZone">): PeriodSpend;
  /** Holds now open: zero at idle. */
  openHolds(): number;
}

export interface BudgetDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Names the boot of the machine since which `clock.monotonic` counts; undefined where nothing does. */
  readonly boot?: string | undefined;
  /** Port, called synchronously; must not throw. After a crash the same event may come again. */
  readonly onBudgetExceeded?: ((event: BudgetExceeded) => void) | undefined;
}

export const openBudgets = (deps: BudgetDeps): Budgets => new PeriodBudgets(deps);

/** A scope's counters as of now. */
interface Standing extends ScopeSpend {
  readonly nowMs: number;
  readonly period: Period;
}

class OpenBudgetHold implements BudgetHold {
  readonly admitted = true;
  readonly scope: BudgetScope;
  /** Those of its key and project, in which it is held: they stay the same objects. */
  readonly key: Spend;
  readonly project: Spend;
  amountMicroUsd = 0;
  closed = false;

  constructor(scope: BudgetScope, { key, project }: Standing) {
    this.scope = scope;
    this.key = key;
    this.project = project;
  }
}

class PeriodBudgets implements Budgets {
  #wall: WallClock;
  #table: SpendTable;
  #periodOf = openPeriods();
  #onBudgetExceeded: (event: BudgetExceeded) => void;
  #openHolds = 0;

  constructor({ store, clock, boot, onBudgetExceeded = () => {} }: BudgetDeps) {
    this.#wall = new WallClock({ store, clock, boot });
    this.#table = openSpendTable(store, this.#wall);
    this.#onBudgetExceeded = onBudgetExceeded;
  }

  wouldHold(scope: BudgetScope, microUsd: number): boolean {
    return forbiddenBy(scope, this.#standing(scope), microUsd) === undefined;
  }

  hold(scope: BudgetScope, microUsd: number): BudgetHold | BudgetRefusal {
    const now = this.#standing(scope);
    const hold = new OpenBudgetHold(scope, now);
    const refusal = this.#grow(hold, microUsd, now);
    if (refusal === undefined) this.#openHolds += 1;
    return refusal ?? hold;
  }

  extend(hold: BudgetHold, moreMicroUsd: number): boolean {
    const mine = asOpen(hold);
    return this.#grow(mine, moreMicroUsd, this.#standing(mine.scope)) === undefined;
  }

  charge(hold: BudgetHold, amountMicroUsd: number): () => void {
    checkAmount(amountMicroUsd);
    const { scope } = this.#close(hold);
    if (amountMicroUsd === 0) return () => {};
    const now = this.#standing(scope);
    const put = this.#table.charge(scope, amountMicroUsd, now);
    if (crosses(scope.keyDaily, now.key.dayMicroUsd, amountMicroUsd)) this.#report(scope, "key_daily", now);
    if (crosses(scope.projectMonthly, now.project.monthMicroUsd, amountMicroUsd)) {
      this.#report(scope, "project_monthly", now);
    }
    return put;
  }

  release(hold: BudgetHold): void {
    this.#close(hold);
  }

  spendOfKey(scope: Pick<BudgetScope, "keyId" | "projectId" | "timeZone">): PeriodSpend {
    return periodSpend(this.#standing(scope).key);
  }

  spendOfProject({ projectId, timeZone }: Pick<BudgetScope, "projectId" | "timeZone">): PeriodSpend {
    return periodSpend(this.#table.ofProject(projectId, this.#periodOf(timeZone, this.#wall.now())));
  }

  openHolds(): number {
    return this.#openHolds;
  }

  #standing({ keyId, projectId, timeZone }: Pick<BudgetScope, "keyId" | "projectId" | "timeZone">): Standing {
    const nowMs = this.#wall.now();
    const period = this.#periodOf(timeZone, nowMs);
    const { key, project } = this.#table.of(projectId, keyId, period);
    return { nowMs, period, key, project };
  }

  #grow(hold: OpenBudgetHold, microUsd: number, now: Standing): BudgetRefusal | undefined {
    checkAmount(microUsd);
    const { scope, key, project } = hold;
    const forbidden = forbiddenBy(scope, now, microUsd);
    if (forbidden !== undefined) return this.#refuse(scope, forbidden, now);
    hold.amountMicroUsd += microUsd;
    key.heldMicroUsd += microUsd;
    project.heldMicroUsd += microUsd;
    return undefined;
  }

  #close(hold: BudgetHold): OpenBudgetHold {
    const mine = asOpen(hold);
    mine.closed = true;
    mine.key.heldMicroUsd -= mine.amountMicroUsd;
    mine.project.heldMicroUsd -= mine.amountMicroUsd;
    this.#openHolds -= 1;
    return mine;
  }

  #refuse(scope: BudgetScope, name: BudgetName, now: Standing): BudgetRefusal {
    const spend = name === "key_daily" ? now.key : now.project;
    const { day } = now.period;
    const label = name === "key_daily" ? day : monthOf(day);
    if (spend.reported !== label) {
      spend.reported = label;
      this.#report(scope, name, now);
    }
    return { admitted: false, ...standingOf(scope, name, now), heldMicroUsd: spend.heldMicroUsd };
  }

  #report(scope: BudgetScope, name: BudgetName, now: Standing): void {
    const { keyId, projectId } = scope;
    const hard = (name === "key_daily" ? scope.keyDaily : scope.projectMonthly)?.hard ?? false;
    this.#onBudgetExceeded({ ...standingOf(scope, name, now), keyId, projectId, hard });
  }
}

/** Which budget has no room for so much more. */
function forbiddenBy(
  scope: BudgetScope,
  { key, project }: Standing,
  microUsd: number,
): BudgetName | undefined {
  if (microUsd === 0) return undefined;
  if (forbids(scope.keyDaily, key.dayMicroUsd + key.heldMicroUsd + microUsd)) return "key_daily";
  const month = project.monthMicroUsd + project.heldMicroUsd + microUsd;
  return forbids(scope.projectMonthly, month) ? "project_monthly" : undefined;
}

const standingOf = (
  scope: BudgetScope,
  name: BudgetName,
  { period, key, project }: Standing,
): BudgetStanding =>
  name === "key_daily"
    ? {
        budget: name,
        limitMicroUsd: scope.keyDaily?.limitMicroUsd ?? 0,
        spentMicroUsd: key.dayMicroUsd,
        resetsAtMs: period.dayEndsMs,
      }
    : {
        budget: name,
        limitMicroUsd: scope.projectMonthly?.limitMicroUsd ?? 0,
        spentMicroUsd: project.monthMicroUsd,
        resetsAtMs: period.monthEndsMs,
      };

const periodSpend = ({ dayMicroUsd, monthMicroUsd }: Spend): PeriodSpend => ({
  todayMicroUsd: dayMicroUsd,
  monthMicroUsd,
});

function asOpen(hold: BudgetHold): OpenBudgetHold {
  if (!(hold instanceof OpenBudgetHold)) throw new Error("not a budget hold");
  if (hold.closed) throw new Error(`a budget hold of ${hold.scope.keyId} was charged or released before`);
  return hold;
}

function checkAmount(microUsd: number): void {
  if (!Number.isSafeInteger(microUsd) || microUsd < 0) throw new Error(`not an amount: ${microUsd}`);
}
