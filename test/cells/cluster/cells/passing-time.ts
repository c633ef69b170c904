/** Time and timers that go on by themselves, as the system's do, and that a test moves ahead. */
import { type Clock, systemClock, type Timers } from "../../../../src/base/clock.ts";
import { again } from "../../../support/pace.ts";

const LOOK_MS = 2;

export class PassingTime implements Clock, Timers {
  #aheadMs = 0;
  readonly #timers = new Set<{ readonly atMs: number; readonly act: () => void }>();
  readonly #endLooks = again(() => this.#fire(), LOOK_MS);

  readonly now = (): number => systemClock.now() + this.#aheadMs;
  readonly monotonic = (): number => systemClock.monotonic() + this.#aheadMs;

  readonly after = (delayMs: number, act: () => void): (() => void) => {
    const timer = { atMs: this.monotonic() + delayMs, act };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** Both clocks in one leap, and the timers whose time has come. */
  advance(ms: number): void {
    this.#aheadMs += ms;
    this.#fire();
  }

  /** No timer fires any more. */
  stop(): void {
    this.#endLooks();
    this.#timers.clear();
  }

  #fire(): void {
    const due = [...this.#timers].filter(({ atMs }) => atMs <= this.monotonic());
    for (const timer of due.sort((a, b) => a.atMs - b.atMs)) if (this.#timers.delete(timer)) timer.act();
  }
}
