/** Long work in slices, between which the event loop serves others. */
import { FairQueue } from "./fair-queue.ts";

/** Work that may be left wherever it yields, about each half millisecond. */
export type Sliced<T> = Generator<undefined, T, undefined>;

/**
 * Slices of all who share it: one in each turn of the event loop. So many callers at once keep the loop no longer than one of them does.
 * Orgs take turns, and the slices of one come in the order in which they were asked for.
 */
export class SharedTurns {
  readonly #waiting = new FairQueue<() => void>();

  /** Resolves in a turn that no other slice has. */
  next(orgId: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.isEmpty) this.#ask();
      this.#waiting.push(orgId, resolve);
    });
  }

  /** Does the work, a slice a turn; the first one too. Rejects with what the work throws. */
  async run<T>(orgId: string, work: Sliced<T>): Promise<T> {
    for (;;) {
      await this.next(orgId);
      const { done, value } = work.next();
      if (done === true) return value;
    }
  }

  #ask(): void {
    setImmediate(() => {
      this.#waiting.shift()?.();
      if (!this.#waiting.isEmpty) this.#ask();
    });
  }
}
