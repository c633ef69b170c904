/**
 * The clock of all cells: Redis's wall time, which each beat tells. So what is due, ends or is dated is so at every cell at the same
 * moment, whatever the clocks of their machines say.
 */
import type { Clock } from "../clock.ts";

/** Both times are cut to whole milliseconds. */
const CUT_MS = 1;

export class SharedClock implements Clock {
  readonly #machine: Clock;
  /** How far Redis's clock is ahead of the machine's. */
  #aheadMs = 0;

  constructor(machine: Clock) {
    this.#machine = machine;
  }

  /** Milliseconds since 1970; as far as Redis could be asked. It may step back, like any wall clock. */
  readonly now = (): number => this.#machine.now() + this.#aheadMs;

  readonly monotonic = (): number => this.#machine.monotonic();

  /** What the machine's clock says, to be given to `heard`. */
  readonly stamp = (): number => this.#machine.now();

  /**
   * A reply that just came says Redis's time. It was so at some moment since the request was sent: the clock is changed only as far
   * as it cannot be right.
   * @param sentMs `stamp()` before the request was sent
   */
  heard(redisMs: number, sentMs: number): void {
    const leastMs = redisMs - this.#machine.now() - CUT_MS;
    const mostMs = redisMs - sentMs + CUT_MS;
    // The machine's clock was set back meanwhile: the next reply tells.
    if (leastMs > mostMs) return;
    this.#aheadMs = Math.min(Math.max(this.#aheadMs, leastMs), mostMs);
  }
}
