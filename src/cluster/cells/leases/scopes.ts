/**
 * What budgets are of: a key, a project or an org, each with a name in the dataset. And what a batch of charges means for them: its
 * sums, and what it crossed by the dataset's answer.
 */

import type { BudgetExceeded, BudgetName, CallOwners, SpendSpike } from "../../../credits/budgets/budget.ts";
import type { ChargeSpend } from "../../../credits/ledger/purse.ts";

/** Names of scopes: see `scripts/exchange/60-budgets.lua`. */
export type ScopeNames = Readonly<Record<BudgetName, string>>;

/** @param lineageId first key of the lineage that has the budget */
export const keyScope = (lineageId: string): string => `k:${lineageId}`;
export const projectScope = (projectId: string): string => `p:${projectId}`;
export const orgScope = (orgId: string): string => `o:${orgId}`;

export const scopeNames = ({ keyId, lineageId = keyId, projectId, orgId }: CallOwners): ScopeNames => ({
  key_daily: keyScope(lineageId),
  project_monthly: projectScope(projectId),
  org_monthly: orgScope(orgId),
});

/** The budget that a scope has. */
export function budgetNameOf(scope: string): BudgetName {
  if (scope.startsWith("k:")) return "key_daily";
  return scope.startsWith("p:") ? "project_monthly" : "org_monthly";
}

/** A charge, as far as budgets need it. */
export interface SpentCharge {
  readonly orgId: string;
  readonly amountMicroUsd: number;
  readonly spend: ChargeSpend | undefined;
}

/** Sum of a scope's charges, all of one day. */
export interface ScopeSum {
  readonly day: string;
  /** When the last charge was made, see `SharedClock.steady`; 0: unknown. */
  steadyMs: number;
  sumMicroUsd: number;
}

const MOST_SCOPES = 3000;

export class ScopeSums {
  readonly sums = new Map<string, ScopeSum>();

  /** False where the charge belongs to another batch. */
  takes({ orgId, spend }: SpentCharge): boolean {
    if (spend === undefined) return true;
    const org = this.sums.get(orgScope(orgId));
    return org === undefined ? this.sums.size < MOST_SCOPES : org.day === spend.day;
  }

  add({ orgId, amountMicroUsd, spend }: SpentCharge): void {
    if (spend === undefined) return;
    const { keyId, lineageId = keyId, projectId, day, steadyMs = 0 } = spend;
    for (const scope of [keyScope(lineageId), projectScope(projectId), orgScope(orgId)]) {
      const sum = this.sums.get(scope);
      if (sum === undefined) this.sums.set(scope, { day, steadyMs, sumMicroUsd: amountMicroUsd });
      else {
        sum.sumMicroUsd += amountMicroUsd;
        sum.steadyMs = Math.max(sum.steadyMs, steadyMs);
      }
    }
  }
}

/** What charges of a batch crossed: told once over all cells, in the order of the batches. */
export type Crossed =
  | ({ readonly what: "budget" } & BudgetExceeded)
  | ({ readonly what: "spike" } & SpendSpike);

const CROSSED_VALUES = 7;

/**
 * @param values flat list of `exchange_budget`: scope, limit, spent, usual (-1: a soft budget), percent, end of the period, day
 * @param charges of the batch
 */
export function crossedIn(values: readonly (string | number)[], charges: Iterable<SpentCharge>): Crossed[] {
  const calls = new Map<string, CallOwners>();
  for (const { orgId, spend } of charges) {
    if (spend === undefined) continue;
    const { keyId, lineageId, projectId } = spend;
    const call = { keyId, lineageId, projectId, orgId };
    for (const scope of Object.values(scopeNames(call))) calls.set(scope, call);
    // A batch that the release before sent names the key.
    if (!calls.has(keyScope(keyId))) calls.set(keyScope(keyId), call);
  }
  const crossed: Crossed[] = [];
  for (let at = 0; at < values.length; at += CROSSED_VALUES) {
    const [scope, limitMicroUsd, spentMicroUsd, usualMicroUsd, alertPct, endMs, day] = values.slice(
      at,
      at + CROSSED_VALUES,
    ) as [string, number, number, number, number, number, string];
    const call = calls.get(scope);
    if (call === undefined) continue;
    if (usualMicroUsd >= 0) {
      const spike = { day, spentMicroUsd, usualMicroUsd, alertPct, dayEndsMs: endMs };
      crossed.push({ what: "spike", orgId: call.orgId, ...spike });
      continue;
    }
    const standing = { limitMicroUsd, spentMicroUsd, resetsAtMs: endMs };
    crossed.push({ what: "budget", budget: budgetNameOf(scope), ...standing, ...call, hard: false });
  }
  return crossed;
}
