/**
 * The budgets of an org that are in force, those nearest to their end first. Bounded work: an org's few keys and projects are looked at
 * one by one; of many, only those of which the budgets have noted that half is used (`budgets/near-budgets.ts`).
 */
import type { Budget } from "../budgets/budget.ts";
import type { Budgets, KeyScope } from "../budgets/budgets.ts";
import type { Period } from "../budgets/periods.ts";
import type { BudgetWindow } from "./forecast.ts";

export interface BudgetOwner {
  readonly of: "org" | "project" | "key";
  readonly id: string;
  readonly name: string;
  readonly budget: Budget;
  readonly createdAtMs: number;
  /** Whose spend it is; the org's time zone. */
  readonly scope: KeyScope;
  /** Keys whose calls count: those of the lineage that made calls lately. */
  readonly keyIds: readonly string[];
}

/** Who has a budget. */
export interface BudgetOwners {
  readonly owners: readonly BudgetOwner[];
  /** False: there are too many to look at; those are left out of which less than half is used. */
  readonly isWhole: boolean;
}

export interface BudgetState extends BudgetOwner {
  readonly spentMicroUsd: number;
  /** Undefined where it is not known here. */
  readonly heldMicroUsd: number | undefined;
  readonly window: BudgetWindow;
}

const BUDGET_NAME = { key: "key_daily", project: "project_monthly", org: "org_monthly" } as const;

/** The state of each, the greatest share of the limit first. @throws WeirError 503 where the spend of several cells cannot be asked for */
export async function budgetStates(
  budgets: Pick<Budgets, "spendOfKey" | "spendOfProject" | "spendOfOrg" | "heldOf">,
  owners: readonly BudgetOwner[],
  { dayStartsMs, dayEndsMs, monthStartsMs, monthEndsMs }: Period,
): Promise<BudgetState[]> {
  const day = { fromMs: dayStartsMs, toMs: dayEndsMs };
  const month = { fromMs: monthStartsMs, toMs: monthEndsMs };
  const states = await Promise.all(
    owners.map(async (owner): Promise<BudgetState> => {
      const { of, scope } = owner;
      const spent = await spendOf(budgets, owner);
      const isDaily = of === "key";
      return {
        ...owner,
        spentMicroUsd: isDaily ? spent.todayMicroUsd : spent.monthMicroUsd,
        heldMicroUsd: budgets.heldOf(scope, BUDGET_NAME[of]),
        window: isDaily ? day : month,
      };
    }),
  );
  return states.sort((a, b) => shareOf(b) - shareOf(a) || (a.id < b.id ? -1 : 1));
}

function spendOf(
  budgets: Pick<Budgets, "spendOfKey" | "spendOfProject" | "spendOfOrg">,
  { of, scope }: BudgetOwner,
) {
  if (of === "key") return budgets.spendOfKey(scope);
  return of === "project" ? budgets.spendOfProject(scope) : budgets.spendOfOrg(scope);
}

/** 0 to 1 and beyond: how much of the limit is spent. */
export const shareOf = ({ spentMicroUsd, budget }: Pick<BudgetState, "spentMicroUsd" | "budget">): number =>
  spentMicroUsd / Math.max(1, budget.limitMicroUsd);
