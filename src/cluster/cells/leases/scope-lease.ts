/**
 * What a cell has leased of the hard budget of a key, project or org, and what it has charged to that since the dataset last heard of
 * it. Without a hard budget nothing is leased. Invariant: a call is admitted within a lease of the current period and the current
 * budget alone.
 */
import { type BudgetName, type BudgetScope, budgetOf } from "../../../credits/budgets/budget.ts";
import { daysBefore, monthOf, type Period } from "../../../credits/budgets/periods.ts";
import type { SharedClock } from "../clock/shared-clock.ts";
import { Lease, type LeaseAnswer } from "./lease.ts";
import { budgetNameOf, type ScopeSum } from "./scopes.ts";

const USUAL_DAYS = 7;

export class ScopeLease extends Lease {
  readonly kind = "budget";
  readonly budget: BudgetName;
  /** As the latest call had it; undefined where nothing is known of the key any more. */
  scope: BudgetScope | undefined;
  /** The newest day of the scope by the dataset's answer. */
  day = "";
  /** The hard budget that the lease is of; 0 for none. */
  #leasedOfMicroUsd = 0;
  #askedOfMicroUsd = 0;
  spentMicroUsd = 0;
  heldByAllMicroUsd = 0;
  /** The period of which it is noted that half of the budget is used. */
  near = "";
  /** The period of the last refusal that was told. */
  refused = "";

  readonly #time: SharedClock;
  /** How often all clocks had been set when the lease was asked for, and when it was granted. */
  #askedAfter = 0;
  #grantedAfter = 0;

  constructor(scope: string, time: SharedClock, aheadMs: number) {
    super(scope, time.monotonic(), aheadMs);
    this.#time = time;
    this.budget = budgetNameOf(scope);
  }

  get hardMicroUsd(): number {
    const budget = budgetOf(this.scope, this.budget);
    return budget?.hard === true ? budget.limitMicroUsd : 0;
  }

  /** False where the budget has changed since, or all clocks were set: the answer was then about another limit, or about charges of another period. */
  protected override get isAnswerCurrent(): boolean {
    return this.#leasedOfMicroUsd === this.hardMicroUsd && this.#grantedAfter === this.#time.changes;
  }

  /** Whether a call of today fits in. */
  covers(microUsd: number, day: string): boolean {
    return this.waiters.length === 0 && this.isAnswerCurrent && this.#isOf(day) && this.fits(microUsd);
  }

  /** Whether the dataset's answer was of this day's period, or a later one. */
  #isOf(day: string): boolean {
    return this.budget === "key_daily" ? this.day >= day : monthOf(this.day) >= monthOf(day);
  }

  /**
   * This scope's part of an exchange: what `exchange_budget` of `scripts/exchange/60-budgets.lua` takes.
   * @param sum of the charges that go with it
   */
  part(sum: ScopeSum | undefined, nowMs: number, period: Period): (string | number)[] {
    const { day, dayStartsMs, dayEndsMs, monthStartsMs, monthEndsMs } = period;
    const sentMicroUsd = sum?.sumMicroUsd ?? 0;
    const asked = this.ask(sentMicroUsd, nowMs);
    const hard = this.hardMicroUsd;
    this.#askedOfMicroUsd = hard;
    this.#askedAfter = this.#time.changes;
    if (hard === 0) this.reportedMicroUsd = 0;
    const wants = hard === 0 ? [0, 0, -1] : [asked.heldMicroUsd, asked.targetMicroUsd, asked.need];
    const budget = budgetOf(this.scope, this.budget);
    const soft = budget?.hard === false ? budget.limitMicroUsd : 0;
    const endsMs = this.budget === "key_daily" ? dayEndsMs : monthEndsMs;
    const pct = this.budget === "org_monthly" ? (this.scope?.spikeAlertPct ?? -1) : -1;
    const first = this.budget === "org_monthly" ? daysBefore(day, USUAL_DAYS) : "";
    return [
      this.id,
      day,
      dayStartsMs,
      monthStartsMs,
      sentMicroUsd,
      sum?.day ?? day,
      sum?.steadyMs ?? 0,
      ...wants,
      hard,
      soft,
      soft > 0 ? endsMs : 0,
      pct,
      first,
      pct < 0 ? 0 : dayEndsMs,
    ];
  }

  /** Takes in what `exchange_budget` answered. */
  told(values: readonly unknown[], sentMicroUsd: number): void {
    const [leaseMicroUsd, freeMicroUsd, availableMicroUsd, outcome, spent, held, day] = values as number[];
    this.#leasedOfMicroUsd = this.#askedOfMicroUsd;
    this.#grantedAfter = this.#askedAfter;
    this.spentMicroUsd = spent as number;
    this.heldByAllMicroUsd = held as number;
    this.day = String(day);
    const balanceMicroUsd = this.#askedOfMicroUsd - this.spentMicroUsd;
    const answer = { leaseMicroUsd, balanceMicroUsd, freeMicroUsd, availableMicroUsd, outcome };
    this.answered(answer as LeaseAnswer, sentMicroUsd);
  }
}

export const ANSWER_VALUES = 7;
