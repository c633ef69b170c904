/**
 * Budgets: definition, scope, and the error when one is spent. A key has a daily budget, its project and its org a monthly one
 * each, in local days and months of the org. A limit of 0 means no budget.
 */
import { isoTime } from "../../base/clock.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import { usdString } from "../../base/money.ts";

export interface Budget {
  /** Micro-USD per local day of a key, or per local month of a project or org; 0: no budget. */
  readonly limitMicroUsd: number;
  /** True: a call that could exceed it is refused. False: exceeding it is only reported. */
  readonly hard: boolean;
}

/** Key, its lineage, project and org of a call. */
export interface CallOwners {
  readonly keyId: string;
  /** Whose daily budget and spend the key has, with all keys of its lineage; absent: its own. */
  readonly lineageId?: string | undefined;
  readonly projectId: string;
  readonly orgId: string;
}

/** Whose budgets a call counts against, and which they are. Built once per key; a key never changes its project. */
export interface BudgetScope extends CallOwners {
  /** The org's IANA time zone: budgets reset at its midnight. */
  readonly timeZone: string;
  readonly keyDaily?: Budget | undefined;
  readonly projectMonthly?: Budget | undefined;
  readonly orgMonthly?: Budget | undefined;
  /** By how many percent the org's spend of a day must exceed the usual for an alert; undefined: no alert. */
  readonly spikeAlertPct?: number | undefined;
}

export const BUDGET_NAMES = ["key_daily", "project_monthly", "org_monthly"] as const;
export type BudgetName = (typeof BUDGET_NAMES)[number];

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
export interface BudgetExceeded extends BudgetStanding, CallOwners {
  readonly hard: boolean;
}

/** The org spends much more today than is usual: once a day. */
export interface SpendSpike {
  readonly orgId: string;
  /** `YYYY-MM-DD`, local. */
  readonly day: string;
  readonly spentMicroUsd: number;
  /** Mean of those of the seven days before that had any spend. */
  readonly usualMicroUsd: number;
  readonly alertPct: number;
  readonly dayEndsMs: number;
}

/** @param scope undefined where nothing is known of the key any more */
export function budgetOf(scope: BudgetScope | undefined, name: BudgetName): Budget | undefined {
  if (name === "key_daily") return scope?.keyDaily;
  return name === "project_monthly" ? scope?.projectMonthly : scope?.orgMonthly;
}

/** True when a hard budget does not allow a total of `microUsd` in its period. */
export const forbids = (budget: Budget | undefined, microUsd: number): boolean =>
  budget?.hard === true && budget.limitMicroUsd > 0 && microUsd > budget.limitMicroUsd;

/** Whether half of a budget is used, or more. */
export const isNear = (budget: Budget | undefined, spentMicroUsd: number): boolean =>
  budget !== undefined && budget.limitMicroUsd > 0 && spentMicroUsd * 2 >= budget.limitMicroUsd;

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

/** Whether a day's spend exceeds the usual by more than so many percent. @param usualMicroUsd 0: nothing is usual */
export const isSpike = (
  alertPct: number | undefined,
  { dayMicroUsd, usualMicroUsd }: { readonly dayMicroUsd: number; readonly usualMicroUsd: number },
): boolean =>
  alertPct !== undefined && usualMicroUsd > 0 && dayMicroUsd > usualMicroUsd * (1 + alertPct / 100);

/** A budget in a sentence: after "the", before "budget". */
export const WHOSE: Readonly<Record<BudgetName, string>> = {
  key_daily: "key's daily",
  project_monthly: "project's monthly",
  org_monthly: "organisation's monthly",
};

/**
 * The 402 for a refusal: names the budget, what is left of it and when it resets.
 * @param need what the request may cost, and how it may cost less
 */
export function budgetError(
  refusal: BudgetRefusal,
  need: { readonly text: string; readonly cure: string; readonly microUsd: number },
): WeirError {
  const resetsAt = isoTime(refusal.resetsAtMs);
  const leftMicroUsd = Math.max(0, refusal.limitMicroUsd - refusal.spentMicroUsd - refusal.heldMicroUsd);
  return fail(
    "budget_exceeded",
    `The ${WHOSE[refusal.budget]} budget does not cover this request. ${need.text}; ` +
      `$${usdString(leftMicroUsd)} of it is left until ${resetsAt}.${need.cure}`,
    {
      details: {
        required_micro_usd: need.microUsd,
        budget: refusal.budget,
        limit_micro: refusal.limitMicroUsd,
        spent_micro: refusal.spentMicroUsd,
        held_micro: refusal.heldMicroUsd,
        resets_at: resetsAt,
      },
    },
  );
}
