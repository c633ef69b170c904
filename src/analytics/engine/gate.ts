/** Bounds how many statements run at once, and how many wait. */
import { exception } from "../statements/engine-error.ts";

/** A semaphore with a bounded queue, first in first out. */
export class Gate {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  readonly #maxWaiting: number;

  constructor(places: number, maxWaiting: number) {
    this.#free = places;
    this.#maxWaiting = maxWaiting;
  }

  /** Runs it in a place. @throws EngineError 202 if too many wait */
  async run(act: () => Promise<void>): Promise<void> {
    if (this.#free > 0) this.#free--;
    else if (this.#waiting.length >= this.#maxWaiting) {
      throw exception(202, "Too many simultaneous queries.");
    } else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await act();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
