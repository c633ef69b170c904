/**
 * The holds of a call on its org's credit and on all budgets: either all are taken or none. They are taken before an
 * upstream is asked, extended while a stream runs, and closed once, by a charge or by a release. Nothing is awaited between
 * a check and its hold (T24); a purse or budget that answers with a promise must ensure that itself.
 */
import type { KeyContext } from "../../../account/keyring.ts";
import { after, afterWith, type MaybePromise } from "../../../base/maybe-promise.ts";
import type { BudgetRefusal, BudgetScope } from "../../../credits/budgets/budget.ts";
import type { BudgetHold, Budgets } from "../../../credits/budgets/budgets.ts";
import type { Charge } from "../../../credits/ledger/book.ts";
import type { Hold, Purse } from "../../../credits/ledger/purse.ts";

export interface HoldDeps {
  readonly purse: Pick<Purse, "hold" | "extend" | "settle" | "release" | "isRetired" | "chargeFormer">;
  readonly budgets: Pick<Budgets, "hold" | "extend" | "shrink" | "charging" | "release">;
}

export interface Holds {
  readonly credit: Hold;
  readonly budget: BudgetHold;
}

/** Why no hold was taken. */
export type HoldRefusal =
  | { readonly refusedBy: "budget"; readonly budget: BudgetRefusal }
  | { readonly refusedBy: "credit" };

/** @param isTrial a refusal is not the end of the call, so no budget is told of as exceeded */
export function takeHolds(
  deps: HoldDeps,
  key: KeyContext,
  microUsd: number,
  isTrial = false,
): MaybePromise<Holds | HoldRefusal> {
  const budget = deps.budgets.hold(scopeOf(key), microUsd, isTrial);
  return afterWith(budget, withCredit, deps, { orgId: key.orgId, microUsd });
}

/** Holds the credit, or gives the budget's hold back. */
function withCredit(
  budget: BudgetHold | BudgetRefusal,
  deps: HoldDeps,
  { orgId, microUsd }: { readonly orgId: string; readonly microUsd: number },
): MaybePromise<Holds | HoldRefusal> {
  if (!budget.admitted) return { refusedBy: "budget", budget };
  let credit: MaybePromise<Hold | undefined>;
  try {
    credit = deps.purse.hold(orgId, microUsd);
  } catch (error) {
    deps.budgets.release(budget);
    throw error;
  }
  if (credit instanceof Promise) return releasedOnError(deps, budget, credit);
  return bothOrNone(credit, deps, budget);
}

const releasedOnError = (deps: HoldDeps, budget: BudgetHold, credit: Promise<Hold | undefined>) =>
  credit.then(
    (known) => bothOrNone(known, deps, budget),
    (error: unknown) => {
      deps.budgets.release(budget);
      throw error;
    },
  );

function bothOrNone(
  credit: Hold | undefined,
  { budgets }: HoldDeps,
  budget: BudgetHold,
): Holds | HoldRefusal {
  if (credit !== undefined) return { credit, budget };
  budgets.release(budget);
  return { refusedBy: "credit" };
}

/** Extends both holds or neither. @returns whether they were extended */
export function growHolds(
  { purse, budgets }: HoldDeps,
  { credit, budget }: Holds,
  moreMicroUsd: number,
): MaybePromise<boolean> {
  return after(budgets.extend(budget, moreMicroUsd), (hasBudget) => {
    if (!hasBudget) return false;
    const giveBack = () => budgets.shrink(budget, moreMicroUsd);
    return undoOnError(giveBack, () =>
      after(purse.extend(credit, moreMicroUsd), (hasCredit) => {
        if (!hasCredit) giveBack();
        return hasCredit;
      }),
    );
  });
}

/**
 * Returns an act that closes both holds, charges the call, also above the hold, and does what follows. It must run in the same turn of
 * the event loop.
 * @throws Error if the amount is not valid; the returned function throws, without any change, if a hold is closed already
 */
export function charging(
  { purse, budgets }: HoldDeps,
  { credit, budget }: Holds,
  charge: Charge,
  follow: () => void = NOTHING,
): () => void {
  const count = budgets.charging(budget, charge.amountMicroUsd);
  return () => {
    // The entry comes first: the org's spend remembers up to which one it has counted.
    count(purse.settle(credit, charge, budget.spend).entry?.seq);
    follow();
  };
}

/** A call that a former process of this folder left unfinished. */
export interface FormerCall {
  readonly scope: BudgetScope;
  /** `Purse.life` of that process. */
  readonly life: string;
  readonly charge: Charge;
}

/** What charges such a call. Nothing is held for it. */
export interface FormerCharging {
  /** In the act that ends the call's row, in the same turn of the event loop: counts and charges the call. */
  charge(): void;
  /** That act did not happen, and will not. */
  giveUp(): void;
}

/** @throws Error if the amount is not valid */
export function chargingFormer(
  { purse, budgets }: HoldDeps,
  { scope, life, charge }: FormerCall,
): FormerCharging {
  const { orgId } = scope;
  // No budget counts what is charged to nobody.
  if (purse.isRetired(life))
    return { charge: () => void purse.chargeFormer(orgId, charge, life), giveUp: NOTHING };
  // A hold of nothing is never refused, nor waited for.
  const budget = budgets.hold(scope, 0, true) as BudgetHold;
  const count = budgets.charging(budget, charge.amountMicroUsd);
  return {
    charge: () => count(purse.chargeFormer(orgId, charge, life, budget.spend)?.seq),
    giveUp: () => budgets.release(budget),
  };
}

/** Releases the holds that are still open. */
export function releaseHolds({ purse, budgets }: HoldDeps, { credit, budget }: Holds): void {
  for (const release of [() => purse.release(credit), () => budgets.release(budget)]) {
    try {
      release();
    } catch {
      // Closed already.
    }
  }
}

const NOTHING = (): void => {};

/** One scope per key context: the keyring freezes and caches contexts. */
const scopes = new WeakMap<KeyContext, BudgetScope>();

/** The budgets that calls of a key count against. */
export function scopeOf(key: KeyContext): BudgetScope {
  let scope = scopes.get(key);
  if (scope === undefined) {
    const { keyBudget, projectBudget, orgBudget } = key;
    scope = {
      keyId: key.keyId,
      lineageId: key.lineageId,
      projectId: key.projectId,
      orgId: key.orgId,
      timeZone: key.timeZone,
      keyDaily: keyBudget && { limitMicroUsd: keyBudget.dailyMicroUsd, hard: keyBudget.hard },
      projectMonthly: projectBudget && {
        limitMicroUsd: projectBudget.monthlyMicroUsd,
        hard: projectBudget.hard,
      },
      orgMonthly: orgBudget && { limitMicroUsd: orgBudget.monthlyMicroUsd, hard: orgBudget.hard },
      spikeAlertPct: key.spikeAlertPct,
    };
    scopes.set(key, scope);
  }
  return scope;
}

/** Runs `act`, and `undo` if it throws or rejects. */
function undoOnError<T>(undo: () => void, act: () => MaybePromise<T>): MaybePromise<T> {
  try {
    const value = act();
    if (!(value instanceof Promise)) return value;
    return value.catch((error: unknown) => {
      undo();
      throw error;
    });
  } catch (error) {
    undo();
    throw error;
  }
}
