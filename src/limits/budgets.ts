/**
 * Enforces budgets: spend is held before a call and counted when it settles, like credits. Invariants: for a hard
 * budget, spend + held <= limit after every admission; stored spend is what the committed ledger charged in the period.
 * A call counts in the period in which it settles, even if the clock that determined the period is corrected later.
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
import { monthOf, openPeriods } from "./periods.ts";
import { type Now, openSpendTable, type Spend, type SpendTable } from "./spend.ts";
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
  /** Whether `hold` would admit it now; does not report a refusal. */
  wouldHold(scope: BudgetScope, microUsd: number): boolean;
  /**
   * Checks both budgets before holding either. An amount of 0 is never refused. Returns a promise where the budgets are
   * kept in another process.
   */
  hold(
    scope: BudgetScope,
    microUsd: number,
  ): BudgetHold | BudgetRefusal | Promise<BudgetHold | BudgetRefusal>;
  /**
   * Increases an open hold; false (with nothing changed) where a hard budget does not allow it. May return a promise,
   * like `hold`.
   */
  extend(hold: BudgetHold, moreMicroUsd: number): boolean | Promise<boolean>;
  /**
   * Reads the clock for a charge. The returned function closes the hold and counts the charge; call it in the act of
   * the ledger entry, in the same turn of the event loop.
   * @throws Error for an invalid amount; the returned function throws when the hold is closed.
   */
  charging(hold: BudgetHold, amountMicroUsd: number): () => void;
  /** Reduces an open hold: the extension was not needed. @throws Error when it is closed. */
  shrink(hold: BudgetHold, lessMicroUsd: number): void;
  /** @throws Error when the hold is closed. */
  release(hold: BudgetHold): void;
  spendOfKey(scope: Pick<BudgetScope, "keyId" | "projectId" | "timeZone">): PeriodSpend;
  spendOfProject(scope: Pick<BudgetScope, "projectId" | "timeZone">): PeriodSpend;
  /** Number of open holds; zero when idle. */
  openHolds(): number;
}

export interface BudgetDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Id of the machine's boot, which `clock.monotonic` counts from; undefined where the system has none. */
  readonly boot?: string | undefined;
  /** Port, called synchronously; must not throw. After a crash the same event may be reported again. */
  readonly onBudgetExceeded?: ((event: BudgetExceeded) => void) | undefined;
  /** Port, called in an act: puts what follows from it. After a crash the same event may be told again. */
  readonly putExceeded?: ((event: BudgetExceeded) => void) | undefined;
}

/** Budgets within one process: it knows all holds and spend, so it answers synchronously. */
export interface LocalBudgets extends Budgets {
  hold(scope: BudgetScope, microUsd: number): BudgetHold | BudgetRefusal;
  extend(hold: BudgetHold, moreMicroUsd: number): boolean;
}

export const openBudgets = (deps: BudgetDeps): LocalBudgets => new PeriodBudgets(deps);

class OpenBudgetHold implements BudgetHold {
  readonly admitted = true;
  readonly scope: BudgetScope;
  /** Spend objects of its key and project; they stay the same objects. */
  readonly key: Spend;
  readonly project: Spend;
  amountMicroUsd = 0;
  closed = false;

  constructor(scope: BudgetScope, { key, project }: Now) {
    this.scope = scope;
    this.key = key;
    this.project = project;
  }

  grow(microUsd: number): void {
    this.amountMicroUsd += microUsd;
    this.#add(microUsd);
  }

  close(): void {
    this.closed = true;
    this.#add(-this.amountMicroUsd);
  }

  reopen(): void {
    this.closed = false;
    this.#add(this.amountMicroUsd);
  }

  #add(microUsd: number): void {
    this.key.heldMicroUsd += microUsd;
    this.project.heldMicroUsd += microUsd;
  }
}

export class PeriodBudgets implements LocalBudgets {
  readonly #store: Store;
  #wall: WallClock;
  #table: SpendTable;
  #periodOf = openPeriods();
  #onBudgetExceeded: (event: BudgetExceeded) => void;
  readonly #putExceeded: (event: BudgetExceeded) => void;
  #openHolds = 0;
  /** Exceeded budgets of acts that may still be rolled back; reported once the acts cannot be. */
  readonly #crossed: BudgetExceeded[] = [];

  constructor({ store, clock, boot, onBudgetExceeded = () => {}, putExceeded = () => {} }: BudgetDeps) {
    this.#store = store;
    this.#wall = new WallClock({ store, clock, boot });
    this.#table = openSpendTable(store, this.#wall);
    this.#onBudgetExceeded = onBudgetExceeded;
    this.#putExceeded = putExceeded;
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

  shrink(hold: BudgetHold, lessMicroUsd: number): void {
    checkAmount(lessMicroUsd);
    const mine = asOpen(hold);
    if (lessMicroUsd > mine.amountMicroUsd) throw new Error("a budget hold cannot shrink below nothing");
    mine.grow(-lessMicroUsd);
  }

  charging(hold: BudgetHold, amountMicroUsd: number): () => void {
    checkAmount(amountMicroUsd);
    const mine = asOpen(hold);
    // Outside the act: a clock jump is written in an act of its own.
    const now = this.#standing(mine.scope);
    return () => {
      this.#close(mine);
      this.#store.ifDropped(() => this.#reopen(mine));
      if (amountMicroUsd === 0) return;
      const { scope } = mine;
      this.#table.charge(scope, amountMicroUsd, now);
      if (crosses(scope.keyDaily, now.key.dayMicroUsd, amountMicroUsd)) this.#cross(scope, "key_daily", now);
      if (crosses(scope.projectMonthly, now.project.monthMicroUsd, amountMicroUsd)) {
        this.#cross(scope, "project_monthly", now);
      }
    };
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

  #standing({ keyId, projectId, timeZone }: Pick<BudgetScope, "keyId" | "projectId" | "timeZone">): Now {
    const nowMs = this.#wall.now();
    const period = this.#periodOf(timeZone, nowMs);
    const { key, project } = this.#table.of(projectId, keyId, period);
    return { nowMs, period, key, project };
  }

  #grow(hold: OpenBudgetHold, microUsd: number, now: Now): BudgetRefusal | undefined {
    checkAmount(microUsd);
    const { scope } = hold;
    const forbidden = forbiddenBy(scope, now, microUsd);
    if (forbidden !== undefined) return this.#refuse(scope, forbidden, now);
    hold.grow(microUsd);
    return undefined;
  }

  #close(hold: BudgetHold): void {
    asOpen(hold).close();
    this.#openHolds -= 1;
  }

  #reopen(hold: OpenBudgetHold): void {
    hold.reopen();
    this.#openHolds += 1;
  }

  #refuse(scope: BudgetScope, name: BudgetName, now: Now): BudgetRefusal {
    const spend = name === "key_daily" ? now.key : now.project;
    const { day } = now.period;
    const label = name === "key_daily" ? day : monthOf(day);
    if (spend.reported !== label) {
      spend.reported = label;
      const event = exceeded(scope, name, now);
      this.#onBudgetExceeded(event);
      // The call is refused whether or not this can be stored; the next refusal tries again.
      this.#store.act(() => this.#putExceeded(event)).catch(() => (spend.reported = ""));
    }
    return { admitted: false, ...standingOf(scope, name, now), heldMicroUsd: spend.heldMicroUsd };
  }

  /** Runs in an act, which may still be rolled back. */
  #cross(scope: BudgetScope, name: BudgetName, now: Now): void {
    const event = exceeded(scope, name, now);
    this.#putExceeded(event);
    this.#crossed.push(event);
    this.#store.ifDropped(() => this.#crossed.pop());
    queueMicrotask(() => {
      for (const event of this.#crossed.splice(0)) this.#onBudgetExceeded(event);
    });
  }
}

/** The budget that does not allow this amount more. */
function forbiddenBy(scope: BudgetScope, { key, project }: Now, microUsd: number): BudgetName | undefined {
  if (microUsd === 0) return undefined;
  if (forbids(scope.keyDaily, key.dayMicroUsd + key.heldMicroUsd + microUsd)) return "key_daily";
  const month = project.monthMicroUsd + project.heldMicroUsd + microUsd;
  return forbids(scope.projectMonthly, month) ? "project_monthly" : undefined;
}

const standingOf = (scope: BudgetScope, name: BudgetName, { period, key, project }: Now): BudgetStanding =>
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

function exceeded(scope: BudgetScope, name: BudgetName, now: Now): BudgetExceeded {
  const { keyId, projectId } = scope;
  const hard = (name === "key_daily" ? scope.keyDaily : scope.projectMonthly)?.hard ?? false;
  return { ...standingOf(scope, name, now), keyId, projectId, hard };
}

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
