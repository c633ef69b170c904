/**
 * What an erasure consists of. A step removes rows in slices, each an act of its own, whose size follows the time that the last
 * one took: rows differ a thousandfold in size, and nobody's call may wait for them.
 */
import { type Clock, nextTurn } from "../../base/clock.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { AccountTables } from "../tables.ts";

interface NamedStep {
  /** For the operator's log of a failure. */
  readonly name: string;
}

/** Its rows go, so that each slice finds the next ones at the beginning. */
export interface RemovingStep extends NamedStep {
  /**
   * In an act. Runs again until nothing is left, and again after that without harm.
   * @param most rows to remove at once
   * @returns whether more is left
   */
  erase(orgId: string, most: number): boolean;
}

/** Where a walk goes on: a key of the table that it walks. */
export type Position = string | readonly (string | number)[];

/** Its rows stay without what is personal, or stand among those of other orgs: it goes over all of them once. */
export interface WalkingStep extends NamedStep {
  /**
   * In an act. Rows that were done before are left as they are.
   * @param most rows to look at
   * @param after the position that the slice before returned; undefined: at the beginning
   * @returns undefined at the end
   */
  walk(orgId: string, most: number, after: Position | undefined): Position | undefined;
}

/** It removes something that is not in the store, such as files, or waits for something. */
export interface OutsideStep extends NamedStep {
  /** Not in an act. @returns whether more is left: the job comes again in some seconds, and begins with the first step */
  eraseOutside(orgId: string): MaybePromise<boolean>;
}

export type ErasureStep = RemovingStep | WalkingStep | OutsideStep;

const FIRST_ROWS = 25;
const MOST_ROWS = 200;
/** A slice that took longer is halved, one that took less than a quarter of it is doubled. */
const SLICE_MS = 1;

export interface StepDeps {
  readonly accounts: Pick<AccountTables, "act">;
  readonly clock: Clock;
  /** Port, called between two slices: resolves once the rows that were written so far wait for nothing any more. */
  readonly caughtUp: () => Promise<void>;
}

/** @returns false where something outside is not done yet. @throws Error when the process stops: the job runs again */
export async function runStep(
  deps: StepDeps,
  step: ErasureStep,
  orgId: string,
  signal: AbortSignal,
): Promise<boolean> {
  if ("eraseOutside" in step) return !(await step.eraseOutside(orgId));
  const { accounts, clock, caughtUp } = deps;
  let rows = FIRST_ROWS;
  let after: Position | undefined;
  for (let isMore = true; isMore; ) {
    if (signal.aborted) throw new Error(`stopped while erasing ${step.name}`);
    const [most, from] = [rows, after];
    let tookMs = 0;
    const slice = (): { readonly isMore: boolean; readonly next?: Position | undefined } => {
      const startMs = clock.monotonic();
      const next = "walk" in step ? step.walk(orgId, most, from) : undefined;
      const isLeft = "walk" in step ? next !== undefined : step.erase(orgId, most);
      tookMs = clock.monotonic() - startMs;
      return { isMore: isLeft, next };
    };
    ({ isMore, next: after } = await accounts.act(slice));
    if (tookMs > SLICE_MS) rows = Math.max(1, Math.floor(rows / 2));
    else if (tookMs < SLICE_MS / 4) rows = Math.min(MOST_ROWS, rows * 2);
    await caughtUp();
    await nextTurn();
  }
  return true;
}
