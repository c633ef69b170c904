/** Long work in slices, between which the event loop serves others. */

/** Work that may be left wherever it yields, about each half millisecond. */
export type Sliced<T> = Generator<undefined, T, undefined>;

/**
 * Slices of all who share it: one in each turn of the event loop, in the order in which they were asked for. So many callers at once
 * keep the loop no longer than one of them does.
 */
export class SharedTurns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves in a turn that no other slice has. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#ask();
    });
  }

  /** Does the work, a slice a turn; the first one too. Rejects with what the work throws. */
  async run<T>(work: Sliced<T>): Promise<T> {
    for (;;) {
      await this.next();
      const { done, value } = work.next();
      if (done === true) return value;
    }
  }

  #ask(): void {
    setImmediate(() => {
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#ask();
    });
  }
}
