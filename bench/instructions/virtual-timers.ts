/**
 * Timers and clocks of the process that run by calls in place of seconds: work that follows the clock (the store's syncs, insertions
 * of records, looks at live calls) then falls on the same calls in each run, however fast the machine is.
 */

/** Wall time at the start, so that dates have the same digits in each run. */
const BEGIN_MS = Date.UTC(2026, 5, 1);

const { clearTimeout: clearReal } = globalThis;

/** Has what the code calls of a timer of Node's. */
class VirtualTimer {
  atMs: number;
  readonly everyMs: number | undefined;
  readonly act: () => void;
  readonly delayMs: number;
  readonly #timers: VirtualTimers;

  constructor(timers: VirtualTimers, delayMs: number, isRepeated: boolean, act: () => void) {
    this.#timers = timers;
    this.delayMs = Math.max(1, delayMs);
    this.everyMs = isRepeated ? this.delayMs : undefined;
    this.atMs = timers.nowMs + this.delayMs;
    this.act = act;
  }

  // No timer keeps this process alive: it ends when it has counted.
  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return false;
  }

  refresh(): this {
    this.#timers.restart(this);
    return this;
  }

  [Symbol.dispose](): void {
    this.#timers.clear(this);
  }
}

export class VirtualTimers {
  /** Monotonic. */
  nowMs = 0;
  readonly #timers = new Set<VirtualTimer>();
  /** No timer is due earlier. */
  #nextMs = Number.POSITIVE_INFINITY;

  /** Replaces those of the process, for all code that takes them from now on. */
  install(): void {
    const timer =
      (isRepeated: boolean) =>
      (act: (...args: unknown[]) => void, delayMs?: number, ...args: unknown[]) =>
        this.#add(new VirtualTimer(this, delayMs ?? 1, isRepeated, () => act(...args)));
    const clear = (given: unknown) => {
      if (given instanceof VirtualTimer) this.clear(given);
      else clearReal(given as NodeJS.Timeout);
    };
    const own = {
      setTimeout: timer(false),
      setInterval: timer(true),
      clearTimeout: clear,
      clearInterval: clear,
    };
    Object.assign(globalThis, own);
    Date.now = () => BEGIN_MS + Math.floor(this.nowMs);
    performance.now = () => this.nowMs;
  }

  clear(timer: VirtualTimer): void {
    this.#timers.delete(timer);
  }

  restart(timer: VirtualTimer): void {
    timer.atMs = this.nowMs + timer.delayMs;
    this.#add(timer);
  }

  /** Lets the time pass, and runs what is due in the order of its times. @returns whether any was due */
  advance(ms: number): boolean {
    const endMs = this.nowMs + ms;
    let hasRun = false;
    while (this.#nextMs <= endMs) {
      const due = this.#earliest();
      if (due === undefined || due.atMs > endMs) break;
      hasRun = true;
      this.nowMs = Math.max(this.nowMs, due.atMs);
      if (due.everyMs === undefined) this.#timers.delete(due);
      else due.atMs += due.everyMs;
      due.act();
    }
    this.nowMs = endMs;
    return hasRun;
  }

  #add(timer: VirtualTimer): VirtualTimer {
    this.#timers.add(timer);
    this.#nextMs = Math.min(this.#nextMs, timer.atMs);
    return timer;
  }

  #earliest(): VirtualTimer | undefined {
    let earliest: VirtualTimer | undefined;
    for (const timer of this.#timers)
      if (earliest === undefined || timer.atMs < earliest.atMs) earliest = timer;
    this.#nextMs = earliest?.atMs ?? Number.POSITIVE_INFINITY;
    return earliest;
  }
}
