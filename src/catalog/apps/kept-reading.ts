/**
 * Figures that are read from ClickHouse and kept for a minute. Whoever asks waits at most 0.8 s for a new reading, then gets the
 * last one. One reading runs at a time, so a flood of questions costs no more than one.
 */
import { type Clock, inTime, type Timers } from "../../base/clock.ts";

export interface KeptReadingDeps<T> {
  readonly read: () => Promise<T>;
  readonly clock: Clock;
  readonly timers?: Timers | undefined;
}

export interface Reading<T> {
  readonly value: T;
  /** Wall clock, milliseconds. */
  readonly readAtMs: number;
  /** False: a newer one could not be had in time. */
  readonly isCurrent: boolean;
}

const FRESH_MS = 60_000;
/** A reading that took long serves for so many times as long: readings take a twentieth of ClickHouse's time at most. */
const REST = 19;
const WAIT_MS = 800;
/** After one that failed. */
const RETRY_MS = 1000;

export class KeptReading<T> {
  readonly #deps: KeptReadingDeps<T>;
  #last: { readonly value: T; readonly readAtMs: number } | undefined;
  #freshUntilMs = Number.NEGATIVE_INFINITY;
  #retryAtMs = Number.NEGATIVE_INFINITY;
  #running: { readonly startedMs: number; readonly done: Promise<void> } | undefined;

  constructor(deps: KeptReadingDeps<T>) {
    this.#deps = deps;
  }

  /** Undefined: nothing was read yet. Never rejects. */
  async get(): Promise<Reading<T> | undefined> {
    const nowMs = this.#deps.clock.monotonic();
    if (nowMs < this.#freshUntilMs) return this.#shown(true);
    if (this.#running === undefined && nowMs < this.#retryAtMs) return this.#shown(false);
    this.#running ??= { startedMs: nowMs, done: this.#read(nowMs) };
    const { startedMs, done } = this.#running;
    // From the reading's start, so that nobody waits long for one that hangs.
    const leftMs = startedMs + WAIT_MS - nowMs;
    if (leftMs > 0) await inTime(done, leftMs, () => {}, this.#deps.timers);
    return this.#shown(this.#deps.clock.monotonic() < this.#freshUntilMs);
  }

  #shown(isCurrent: boolean): Reading<T> | undefined {
    return this.#last && { ...this.#last, isCurrent };
  }

  async #read(startedMs: number): Promise<void> {
    const { clock, read } = this.#deps;
    try {
      const value = await read();
      const endMs = clock.monotonic();
      this.#last = { value, readAtMs: clock.now() };
      this.#freshUntilMs = Math.max(startedMs + FRESH_MS, endMs + REST * (endMs - startedMs));
    } catch {
      // The spool logs it when ClickHouse is unreachable.
      this.#retryAtMs = clock.monotonic() + RETRY_MS;
    }
    this.#running = undefined;
  }
}
