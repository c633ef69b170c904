/**
 * What an org sets aside for a copy that it pays for: of its credit and of both budgets, all or nothing, in one synchronous
 * step. Not part of the call's own reservation, so that the call is charged as if there were no copy.
 */
import type { KeyContext } from "../account/keyring.ts";
import type { Credits } from "../credits/credits.ts";
import type { Budgets } from "../limits/budgets.ts";
import { scopeOf } from "./reserve.ts";

export interface CopyHoldDeps {
  readonly credits: Pick<Credits, "hold" | "settle" | "release">;
  readonly budgets: Pick<Budgets, "wouldHold" | "hold" | "charge" | "release">;
}

/** Closed once, by either. */
export interface CopyHold {
  /** Charges the copy in the store's running group. @param also joins the commit */
  settle(requestId: string, amountMicroUsd: number, atMs: number, also: () => void): Promise<unknown>;
  release(): void;
}

/** Undefined where credit or a hard budget has no room: the org's own calls come first. */
export function holdForCopy(
  { credits, budgets }: CopyHoldDeps,
  key: KeyContext,
  microUsd: number,
): CopyHold | undefined {
  const scope = scopeOf(key);
  // Asked first: a refusal is reported as a budget that is used up, and a copy that finds no room is no such thing.
  if (!budgets.wouldHold(scope, microUsd)) return undefined;
  const credit = credits.hold(key.orgId, microUsd);
  if (credit === undefined) return undefined;
  const budget = budgets.hold(scope, microUsd);
  if (!budget.admitted) {
    credits.release(credit);
    return undefined;
  }
  return {
    settle(requestId, amountMicroUsd, atMs, also) {
      const count = budgets.charge(budget, amountMicroUsd);
      const write = () => {
        count();
        also();
      };
      return credits.settle(credit, { requestId, amountMicroUsd, atMs, also: write });
    },
    release() {
      budgets.release(budget);
      credits.release(credit);
    },
  };
}
