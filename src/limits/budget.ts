/**
 * What a budget is, whom it binds, and what is said when it is used up.
 * A key has a daily one, its project a monthly one, in local days and months of the org. A limit of 0 is none.
 */
import { isoTime } from "../clock.ts";
import { fail, type WeirError } from "../errors.ts";

export interface Budget {
  /** A key's micro-USD a local day, a project's a local month; 0: none. */
  readonly limitMicroUsd: number;
  /** True: a call that could pass it is refused. False: passing it is only reported. */
  readonly hard: boolean;
}

/** Whose budgets a call counts against. Built once a key; a key never changes its project. */
export interface BudgetScope {
  readonly keyId: string;
  readonly projectId: string;
  /** The org's IANA time zone: budgets reset at its midnight. */
  readonly timeZone: string;
  readonly keyDaily?: Budget | undefined;
  readonly projectMonthly?: Budget | undefined;
}

export type BudgetName = "key_daily" | "project_monthly";

/** Where a budget stands in its period. */
export interface BudgetStanding {
  readonly budget: BudgetName;
  readonly limitMicroUsd: number;
  readonly spentMicroUsd: number;
  readonly resetsAtMs: number;
}

export interface BudgetRefusal extends BudgetStanding {
  readonly admitted: false;
  /** By calls under way: a smaller call may pass once they have settled for less. */
  readonly heldMicroUsd: number;
}

/** A hard budget refused its first call, or a soft one was passed: once a period. */
export interface BudgetExceeded extends BudgetStanding {
  readonly keyId: string;
  readonly projectId: string;
  readonly hard: boolean;
}

/** True when a hard budget does not allow a spend of `microUsd` in its period. */
export const forbids = (budget: Budget | undefined, microUsd: number): boolean =>
  budget?.hard === true && budget.limitMicroUsd > 0 && microUsd > budget.limitMicroUsd;

/**
 * True when this charge took a soft budget past its limit. Spend only grows within a period, so that happens once
 * in it: there is no flag to keep, or to lose in a crash.
 */
export const crosses = (
  budget: Budget | undefined,
  spentMicroUsd: number,
  chargedMicroUsd: number,
): boolean =>
  budget?.hard === false &&
  budget.limitMicroUsd > 0 &&
  spentMicroUsd > budget.limitMicroUsd &&
  spentMicroUsd - chargedMicroUsd <= budget.limitMicroUsd;

/** The 402 for a refusal: names the budget and when it resets. */
export function budgetError(refusal: BudgetRefusal): WeirError {
  const resetsAt = isoTime(refusal.resetsAtMs);
  const whose = refusal.budget === "key_daily" ? "key's daily" : "project's monthly";
  return fail(
    "budget_exceeded",
    `The ${whose} budget does not cover this request. It resets at ${resetsAt}.`,
    {
      details: {
        budget: refusal.budget,
        limit_micro: refusal.limitMicroUsd,
        spent_micro: refusal.spentMicroUsd,
        held_micro: refusal.heldMicroUsd,
        resets_at: resetsAt,
      },
    },
  );
}
