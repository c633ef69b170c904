/** Pauses before a process is started again, and how often its end is told: a crash loop fills no log. */
import type { Clock } from "../../base/clock.ts";

const FIRST_MS = 100;
const MOST_MS = 5000;
/** A process that has run this long starts anew with the shortest pause. */
const STEADY_MS = 10_000;
const TOLD_EVERY_MS = 60_000;

export class Backoff {
  readonly #clock: Clock;
  #nextMs = FIRST_MS;
  #toldMs = Number.NEGATIVE_INFINITY;
  #untold = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The process has ended.
   * @param ranMs how long it served; 0 if it never did
   * @returns the pause before the next start, and the number of ends to tell of now; 0: tell nothing
   */
  ended(ranMs: number): { readonly pauseMs: number; readonly tell: number } {
    if (ranMs >= STEADY_MS) this.#nextMs = FIRST_MS;
    const pauseMs = this.#nextMs;
    this.#nextMs = Math.min(2 * this.#nextMs, MOST_MS);
    this.#untold++;
    const nowMs = this.#clock.monotonic();
    // The first end is told at once, however short ago an earlier, finished series was.
    if (pauseMs > FIRST_MS && nowMs - this.#toldMs < TOLD_EVERY_MS) return { pauseMs, tell: 0 };
    const tell = this.#untold;
    this.#untold = 0;
    this.#toldMs = nowMs;
    return { pauseMs, tell };
  }
}
