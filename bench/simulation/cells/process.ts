/**
 * Processes in virtual time. The product's code takes its timers from the global functions: while a process runs, they are those of
 * virtual time, and what they start runs as the same process. A paused process (SIGSTOP) runs what became due when it goes on; of one
 * that was killed nothing runs any more.
 */
import type { Clock } from "../../../src/base/clock.ts";
import type { VirtualTime } from "../virtual-time.ts";

let running: SimProcess | undefined;

export class SimProcess implements Clock {
  readonly name: string;
  readonly #time: VirtualTime;
  /** What the wall clock is ahead of virtual time. */
  wallAheadMs = 0;
  /** A newer process runs under its name, or its cell was retired: what it still holds is not counted. */
  isFenced = false;
  #isDead = false;
  #isPaused = false;
  #due: (() => void)[] = [];

  constructor(name: string, time: VirtualTime) {
    this.name = name;
    this.#time = time;
  }

  readonly now = (): number => this.#time.now() + this.wallAheadMs;
  readonly monotonic = (): number => this.#time.monotonic();

  get isDead(): boolean {
    return this.#isDead;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Runs `act` as this process now. */
  run(act: () => void): void {
    if (this.#isDead) return;
    if (this.#isPaused) {
      this.#due.push(act);
      return;
    }
    running = this;
    act();
  }

  /** @returns a function that cancels it */
  after(delayMs: number, act: () => void): () => void {
    let isCancelled = false;
    const cancel = this.#time.after(delayMs, () =>
      this.run(() => {
        if (!isCancelled) act();
      }),
    );
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (const act of this.#due.splice(0)) this.#time.after(0, () => this.run(act));
  }

  /** As kill -9 does. */
  kill(): void {
    this.#isDead = true;
    this.#due = [];
  }
}

/** Resolves when all that the latest event began has done what needs no time; nobody runs then. */
export const settled = (): Promise<void> =>
  new Promise((resolve) => {
    // Node's own queue: it runs this once no microtask is left.
    process.nextTick(() => {
      running = undefined;
      resolve();
    });
  });

class SimTimer {
  #cancel: () => void;

  constructor(owner: SimProcess, delayMs: number, act: () => void, isRepeated: boolean) {
    const everyMs = Math.max(1, Math.trunc(delayMs) || 1);
    const fire = () => {
      if (isRepeated) this.#cancel = owner.after(everyMs, fire);
      act();
    };
    this.#cancel = owner.after(everyMs, fire);
  }

  cancel(): void {
    this.#cancel();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

type Act = (...args: unknown[]) => void;

/** Has processes take their timers from virtual time. @returns a function that puts the others back */
export function takeTimers(): () => void {
  const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate };
  const clear = (timer: unknown, otherwise: (timer: never) => void) =>
    timer instanceof SimTimer ? timer.cancel() : otherwise(timer as never);
  const virtual = {
    setTimeout: (act: Act, ms: number, ...args: unknown[]) =>
      running === undefined
        ? real.setTimeout(act, ms, ...args)
        : new SimTimer(running, ms, () => act(...args), false),
    setInterval: (act: Act, ms: number, ...args: unknown[]) =>
      running === undefined
        ? real.setInterval(act, ms, ...args)
        : new SimTimer(running, ms, () => act(...args), true),
    setImmediate: (act: Act, ...args: unknown[]) =>
      running === undefined ? real.setImmediate(act, ...args) : running.after(0, () => act(...args)),
    clearTimeout: (timer: unknown) => clear(timer, real.clearTimeout),
    clearInterval: (timer: unknown) => clear(timer, real.clearInterval),
  };
  Object.assign(globalThis, virtual);
  return () => void Object.assign(globalThis, real);
}
