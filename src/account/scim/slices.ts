/**
 * Long work in slices, between which the process does other work. What long work counts (`Steps`) also says when it pauses, so that
 * the length of a slice does not depend on a clock.
 */
import { nextTurn } from "../../base/clock.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { Steps } from "./steps.ts";

/** Work that may be left wherever it yields. */
export type Sliced<T> = Generator<undefined, T, undefined>;

/** Steps of one slice: about a millisecond. */
export const STEPS_AT_ONCE = 2_500;
/** Reading a row takes about as long as so many steps. */
export const STEPS_OF_ROW = 100;

/** How much was done since the process last did other work. */
export class Pace {
  #done = 0;

  /** @param steps of work that was done */
  did(steps: number): void {
    this.#done += steps;
  }

  get isDue(): boolean {
    return this.#done >= STEPS_AT_ONCE;
  }

  /** Lets the process do other work. */
  pause(): Promise<void> {
    this.#done = 0;
    return nextTurn();
  }

  /** Pauses if enough was done. */
  async pauseIfDue(): Promise<void> {
    if (this.isDue) await this.pause();
  }
}

/** Does all of it now. */
export function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/**
 * Does the work in slices; without a pause if it is short, and then without a promise.
 * @param steps that the work counts
 */
export function inSlices<T>(work: Sliced<T>, steps: Steps, pace: Pace): MaybePromise<T> {
  for (let before = steps.taken; ; before = steps.taken) {
    const { done, value } = work.next();
    pace.did(steps.taken - before);
    if (done === true) return value;
    if (pace.isDue) return pace.pause().then(() => inSlices(work, steps, pace));
  }
}
