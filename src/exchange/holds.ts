/**
 * What is set aside for a call: of its org's credit and of both budgets, both or neither. Taken before any upstream is asked, grown
 * while a stream runs, and closed once, by a charge or by giving all of it back. Here nothing is awaited between a check and its
 * hold (T24); a purse or budget that answers later must keep that rule by itself.
 */
import type { KeyContext } from "../account/keyring.ts";
import type { Charge } from "../credits/book.ts";
import type { Hold, Purse } from "../credits/purse.ts";
import type { BudgetRefusal, BudgetScope } from "../limits/budget.ts";
import type { BudgetHold, Budgets } from "../limits/budgets.ts";
import { after, type MaybePromise } from "../maybe-promise.ts";

export interface HoldDeps {
  readonly purse: Pick<Purse, "hold" | "extend" | "settle" | "release">;
  readonly budgets: Pick<Budgets, "hold" | "extend" | "shrink" | "charging" | "release">;
}

export interface Holds {
  readonly credit: Hold;
  readonly budget: BudgetHold;
}

/** Why nothing was taken. */
export type HoldRefusal =
  | { readonly refusedBy: "budget"; readonly budget: BudgetRefusal }
  | { readonly refusedBy: "credit" };

export function takeHolds(
  { purse, budgets }: HoldDeps,
  key: KeyContext,
  microUsd: number,
): MaybePromise<Holds | HoldRefusal> {
  return after(budgets.hold(scopeOf(key), microUsd), (budget) => {
    if (!budget.admitted) return { refusedBy: "budget", budget };
    const giveBack = () => budgets.release(budget);
    return undoOnError(giveBack, () =>
      after(purse.hold(key.orgId, microUsd), (credit) => {
        if (credit !== undefined) return { credit, budget };
        giveBack();
        return { refusedBy: "credit" };
      }),
    );
  });
}

/** Both grow or neither does. */
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
 * What an act does to close both and to charge the call, whatever that cost. The act runs in the same turn of the event loop.
 * @throws Error for an amount that is none; what it returns does, with nothing changed, where a hold is closed.
 */
export function charging(
  { purse, budgets }: HoldDeps,
  { credit, budget }: Holds,
  charge: Charge,
): () => void {
  const count = budgets.charging(budget, charge.amountMicroUsd);
  return () => {
    purse.settle(credit, charge);
    count();
  };
}

/** Gives back whichever is still open. */
export function releaseHolds({ purse, budgets }: HoldDeps, { credit, budget }: Holds): void {
  for (const release of [() => purse.release(credit), () => budgets.release(budget)]) {
    try {
      release();
    } catch {
      // Closed already.
    }
  }
}

/** Made once a key: contexts are frozen and cached by the keyring. */
const scopes = new WeakMap<KeyContext, BudgetScope>();

/** Whose budgets the calls of a key count against. */
export function scopeOf(key: KeyContext): BudgetScope {
  let scope = scopes.get(key);
  if (scope === undefined) {
    const { keyBudget, projectBudget } = key;
    scope = {
      keyId: key.keyId,
      projectId: key.projectId,
      timeZone: key.timeZone,
      keyDaily: keyBudget && { limitMicroUsd: keyBudget.dailyMicroUsd, hard: keyBudget.hard },
      projectMonthly: projectBudget && {
        limitMicroUsd: projectBudget.monthlyMicroUsd,
        hard: projectBudget.hard,
      },
    };
    scopes.set(key, scope);
  }
  return scope;
}

/** Runs `undo` where `act` throws or rejects. */
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
