/**
 * Taking the gateway down within a bound: each part gets a part of the time that is left, and one that does not end in it
 * is named and left behind, so that nothing keeps the process from ending.
 */
import { type Clock, systemClock } from "../clock.ts";

/** Whatever hangs before it, the store gets this long to bring LMDB up to date. */
const KEPT_FOR_LAST_MS = 2000;

export class Stopping {
  readonly #clock: Clock;
  readonly #endMs: number;
  readonly #late: string[] = [];

  /** @param withinMs for everything together, from now on. */
  constructor(withinMs: number, clock: Clock = systemClock) {
    this.#clock = clock;
    this.#endMs = clock.monotonic() + withinMs;
  }

  /** Milliseconds, never below 0. */
  get leftMs(): number {
    return Math.max(0, this.#endMs - this.#clock.monotonic());
  }

  /**
   * Waits for one part to end, for no longer than leaves time for the rest. What it rejects with is thrown.
   * @param name what is said to have been waited for in vain.
   */
  async wait(name: string, ended: Promise<unknown>, isLast = false): Promise<void> {
    const withinMs = isLast ? this.leftMs : Math.max(this.leftMs - KEPT_FOR_LAST_MS, this.leftMs / 2);
    const { promise: tooLong, resolve } = Promise.withResolvers<"late">();
    const timer = setTimeout(() => resolve("late"), withinMs);
    // A part that fails after its time must not end the process in place of the rest.
    ended.catch(() => {});
    const outcome = await Promise.race([ended, tooLong]).finally(() => clearTimeout(timer));
    if (outcome === "late") this.#late.push(name);
  }

  /** @throws Error that names all that did not end in its time. */
  finish(): void {
    if (this.#late.length > 0)
      throw new Error(`timeouts.shutdown_ms passed while waiting for ${this.#late.join(", ")}`);
  }
}
