/**
 * Who may change a conversation: one at a time, so that no turn is lost and each has the whole of what was before it. Others wait a
 * moment, since a client may ask again as soon as it has an answer; then they are refused, as at OpenAI.
 */
import type { Timers } from "../../../../base/clock.ts";

/** More do not wait for one conversation. */
const MOST_WAITING = 16;

type Waiter = (isTaken: boolean) => void;

export class Locks {
  readonly #timers: Timers;
  /** By name: who waits for it, in their order. */
  readonly #held = new Map<string, Waiter[]>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Resolves true once the caller has it, which must `free` it; false after this time. */
  take(name: string, withinMs: number): Promise<boolean> {
    const waiting = this.#held.get(name);
    if (waiting === undefined) {
      this.#held.set(name, []);
      return Promise.resolve(true);
    }
    if (waiting.length >= MOST_WAITING) return Promise.resolve(false);
    return new Promise((resolve) => {
      const cancel = this.#timers.after(withinMs, () => {
        waiting.splice(waiting.indexOf(waiter), 1);
        resolve(false);
      });
      const waiter: Waiter = (isTaken) => {
        cancel();
        resolve(isTaken);
      };
      waiting.push(waiter);
    });
  }

  /** The next one who waits has it. */
  free(name: string): void {
    const next = this.#held.get(name)?.shift();
    if (next === undefined) this.#held.delete(name);
    else next(true);
  }
}
