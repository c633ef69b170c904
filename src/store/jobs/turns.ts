/**
 * Spreads work over turns of the event loop. All that came due while a process was stopped, or while its machine slept, is found at
 * once: done in one turn, it would keep each call waiting.
 */
import type { Clock } from "../../base/clock.ts";

/** Work that begins in a turn begins within this time of the first. */
const MOST_MS = 1;

export class Turns {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Oldest first. */
  readonly #waiting: (() => void)[] = [];
  /** When the first work of this turn began; undefined: none has. */
  #beganMs: number | undefined;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Runs it at once while this turn has time left, else in a later turn, in the order of the calls. */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting.length === 0 && this.#hasTime()) return work();
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => void work().then(resolve, reject));
    });
  }

  #hasTime(): boolean {
    const nowMs = this.#clock.monotonic();
    if (this.#beganMs === undefined) {
      this.#beganMs = nowMs;
      setImmediate(() => this.#next());
    }
    return nowMs - this.#beganMs < MOST_MS;
  }

  #next(): void {
    this.#beganMs = undefined;
    while (this.#waiting.length > 0 && this.#hasTime()) this.#waiting.shift()?.();
  }
}
