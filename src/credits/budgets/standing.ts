/** What a scope's budgets say of its spend at one moment: which forbids an amount, what they leave, and what is told of one that is used up. */
import {
  BUDGET_NAMES,
  type BudgetExceeded,
  type BudgetName,
  type BudgetRefusal,
  type BudgetScope,
  type BudgetStanding,
  budgetOf,
  forbids,
} from "./budget.ts";
import type { Now, Spend } from "./spend.ts";

/** Micro-USD; infinite without a hard budget. */
export interface BudgetRoom {
  /** Beside the open holds. */
  readonly microUsd: number;
  /** What it would be without them. */
  readonly idleMicroUsd: number;
}

/** The budget that does not allow this amount more. */
export function forbiddenBy(
  { keyDaily, projectMonthly, orgMonthly }: BudgetScope,
  { key, project, org }: Now,
  microUsd: number,
): BudgetName | undefined {
  if (microUsd === 0) return undefined;
  if (forbids(keyDaily, key.dayMicroUsd + key.heldMicroUsd + microUsd)) return "key_daily";
  const ofProject = project.monthMicroUsd + project.heldMicroUsd + microUsd;
  if (forbids(projectMonthly, ofProject)) return "project_monthly";
  return forbids(orgMonthly, org.monthMicroUsd + org.heldMicroUsd + microUsd) ? "org_monthly" : undefined;
}

/** What the hard budgets leave. */
export function roomIn(scope: BudgetScope, now: Now): BudgetRoom {
  let microUsd = Number.POSITIVE_INFINITY;
  let idleMicroUsd = Number.POSITIVE_INFINITY;
  for (const name of BUDGET_NAMES) {
    const budget = budgetOf(scope, name);
    if (budget?.hard !== true || budget.limitMicroUsd === 0) continue;
    const leftMicroUsd = budget.limitMicroUsd - standingOf(scope, name, now).spentMicroUsd;
    idleMicroUsd = Math.min(idleMicroUsd, leftMicroUsd);
    microUsd = Math.min(microUsd, leftMicroUsd - spendFor(name, now).heldMicroUsd);
  }
  return { microUsd, idleMicroUsd };
}

/** What a call is told that this budget does not admit. */
export const refusalOf = (scope: BudgetScope, name: BudgetName, now: Now): BudgetRefusal => ({
  admitted: false,
  ...standingOf(scope, name, now),
  heldMicroUsd: spendFor(name, now).heldMicroUsd,
});

/** The spend that this budget counts: its key's, its project's or its org's. */
export function spendFor(name: BudgetName, { key, project, org }: Now): Spend {
  if (name === "key_daily") return key;
  return name === "project_monthly" ? project : org;
}

function standingOf(scope: BudgetScope, name: BudgetName, now: Now): BudgetStanding {
  const { dayMicroUsd, monthMicroUsd } = spendFor(name, now);
  const { dayEndsMs, monthEndsMs } = now.period;
  return {
    budget: name,
    limitMicroUsd: budgetOf(scope, name)?.limitMicroUsd ?? 0,
    spentMicroUsd: name === "key_daily" ? dayMicroUsd : monthMicroUsd,
    resetsAtMs: name === "key_daily" ? dayEndsMs : monthEndsMs,
  };
}

/** What is told of a budget that is used up. */
export function exceeded(scope: BudgetScope, name: BudgetName, now: Now): BudgetExceeded {
  const { keyId, lineageId, projectId, orgId } = scope;
  const hard = budgetOf(scope, name)?.hard ?? false;
  return { ...standingOf(scope, name, now), keyId, lineageId, projectId, orgId, hard };
}
