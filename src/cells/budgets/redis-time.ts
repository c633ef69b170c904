/** Redis's time between two of its answers, never ahead of it but by the drift of a clock, and never going back: budgets' periods. */
import type { Clock } from "../../clock.ts";

export class RedisTime {
  readonly #clock: Clock;
  #redisMs: number;
  #heardMs: number;
  #latestMs = 0;

  /** @param startMs Redis's time when the cell began, or before */
  constructor(clock: Clock, startMs: number) {
    this.#clock = clock;
    this.#redisMs = startMs;
    this.#heardMs = clock.monotonic();
  }

  /** An answer that was just received says so. */
  heard(redisMs: number): void {
    this.#redisMs = redisMs;
    this.#heardMs = this.#clock.monotonic();
  }

  /** Milliseconds since 1970. */
  now(): number {
    const sinceMs = this.#clock.monotonic() - this.#heardMs;
    this.#latestMs = Math.max(this.#latestMs, Math.floor(this.#redisMs + sinceMs));
    return this.#latestMs;
  }
}
