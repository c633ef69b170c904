/**
 * Bounds the time of a stop: each part may take a share of the time left. A part that exceeds its share is named in the
 * error of `finish` and no longer waited for, so that no part keeps the process from ending.
 */
import { type Clock, inTime, systemClock } from "../../base/clock.ts";

/** Reserved for the last part, the store, which applies the journal to LMDB even where an earlier part hangs. */
const KEPT_FOR_LAST_MS = 2000;

export class StopTime {
  readonly #clock: Clock;
  readonly #endMs: number;
  readonly #late: string[] = [];

  /** @param withinMs for all parts together, starting now. */
  constructor(withinMs: number, clock: Clock = systemClock) {
    this.#clock = clock;
    this.#endMs = clock.monotonic() + withinMs;
  }

  /** Milliseconds, never below 0. */
  get leftMs(): number {
    return Math.max(0, this.#endMs - this.#clock.monotonic());
  }

  /**
   * Waits for one part to end, but keeps time for the parts after it. Throws what the part rejects with.
   * @param name of the part, for the error where it does not end in time
   * @param isLast the part may take all the time that is left
   */
  async wait(name: string, ended: Promise<unknown>, isLast = false): Promise<void> {
    const withinMs = isLast ? this.leftMs : Math.max(this.leftMs - KEPT_FOR_LAST_MS, this.leftMs / 2);
    // A part that fails after its timeout is no longer awaited: without this its rejection would end the process.
    ended.catch(() => {});
    await inTime(ended, withinMs, () => this.#late.push(name));
  }

  /** @throws Error that names every part that did not end in its time. */
  finish(): void {
    if (this.#late.length > 0)
      throw new Error(`timeouts.shutdown_ms passed while waiting for ${this.#late.join(", ")}`);
  }
}
