/**
 * Budgets: definition, scope, and the error when one is spent. A key has a daily budget, its project a monthly one, in
 * local days and months of the org. A limit of 0 means no budget.
 */
import { isoTime } from "../clock.ts";
import { fail, type WeirError } from "../errors.ts";

export interface Budget {
  /** Micro-USD per local day of a key, or per local month of a project; 0: no budget. */
  readonly limitMicroUsd: number;
  /** True: a call that could exceed it is refused. False: exceeding it is only reported. */
  readonly hard: boolean;
}

/** The key and project whose budgets a call counts against. Built once per key; a key never changes its project. */
export interface BudgetScope {
  readonly keyId: string;
  readonly projectId: string;
  /** The org's IANA time zone: budgets reset at its midnight. */
  readonly timeZone: string;
  readonly keyDaily?: Budget | undefined;
  readonly projectMonthly?: Budget | undefined;
}

export type BudgetName = "key_daily" | "project_monthly";

/** State of a budget in its current period. */
export interface BudgetStanding {
  readonly budget: BudgetName;
  readonly limitMicroUsd: number;
  readonly spentMicroUsd: number;
  readonly resetsAtMs: number;
}

export interface BudgetRefusal extends BudgetStanding {
  readonly admitted: false;
  /** Held by calls in flight: a smaller call may be admitted once they have settled for less. */
  readonly heldMicroUsd: number;
}

/** A hard budget refused its first call, or a soft one was exceeded: once per period. */
export interface BudgetExceeded extends BudgetStanding {
  readonly keyId: string;
  readonly projectId: string;
  readonly hard: boolean;
}

/** True when a hard budget does not allow a total of `microUsd` in its period. */
export const forbids = (budget: Budget | undefined, microUsd: number): boolean =>
  budget?.hard === true && budget.limitMicroUsd > 0 && microUsd > budget.limitMicroUsd;

/**
 * True when this charge exceeded a soft budget. Spend only grows within a period, so this is true once per period
 * without a stored flag, which a crash could lose.
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
