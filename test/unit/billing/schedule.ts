/**
 * A schedule: everything that may happen next is a step, and a seed says which step does. Time passes only where a step says so or
 * where nothing else is left, so the same seed and length give the same run.
 */

import { type Clock, type Random, seededRandom, type Timers } from "../../../src/base/clock.ts";
import { DAY_MS } from "../../../src/base/time.ts";

interface Step {
  readonly what: string;
  readonly go: () => void;
}

interface Timer {
  readonly atMs: number;
  readonly act: () => void;
}

/** Steps of one schedule; more means that it does not end. */
const MOST_STEPS = 20_000;
/** Timers that pass in a row without a step: then all only look whether something is due. */
const IDLE = 4;
/** How often time passes although something else could happen. */
const IMPATIENCE = 1 / 40;

export class Schedule implements Clock, Timers {
  readonly #beginMs: number;
  #passedMs = 0;
  #random: Random = seededRandom(0);
  /** Steps that are drawn; those after them come in the order in which they became possible. */
  #drawn = 0;
  #steps: Step[] = [];
  #timers: Timer[] = [];
  /** What happened, in order. */
  trace: string[] = [];

  constructor(begin: string) {
    this.#beginMs = Date.parse(begin);
  }

  readonly now = (): number => this.#beginMs + this.#passedMs;
  readonly monotonic = (): number => this.#passedMs;

  /** @param length so many steps are drawn: the shorter, the plainer the run */
  begin(seed: number, length: number): void {
    this.#random = seededRandom(seed);
    this.#drawn = length;
    this.#steps = [];
    this.#timers = [];
    this.trace = [];
  }

  /** Before anything is added: time passes until it is so late in a day, UTC. */
  sleepUntil(minuteOfDay: number): void {
    const inMs = (minuteOfDay * 60_000 - this.now()) % DAY_MS;
    this.#passedMs += inMs < 0 ? inMs + DAY_MS : inMs;
  }

  /** Something that may happen from now on, whenever it is drawn. */
  add(what: string, go: () => void): void {
    this.#steps.push({ what, go });
  }

  after(delayMs: number, act: () => void): () => void {
    const timer = { atMs: this.#passedMs + Math.max(0, delayMs), act };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /**
   * Until nothing is left to happen.
   * @param settled awaited before each step: what the last one began has come as far as it comes by itself
   * @param leaps where timers never end: how much time passes at once, each time only timers are left. Behind the last one it ends
   * @param onLeap told of each, before what is due begins
   */
  async run(
    settled: () => Promise<void>,
    leaps?: readonly number[],
    onLeap: (leap: number) => void = () => {},
  ): Promise<void> {
    let leap = 0;
    let idle = 0;
    for (let n = 0; n < MOST_STEPS; n++) {
      await settled();
      if (this.#drawn-- > 0 && this.#random() < IMPATIENCE && this.#pass()) continue;
      const i = this.#drawn > 0 ? Math.floor(this.#random() * this.#steps.length) : 0;
      const [step] = this.#steps.splice(i, 1);
      if (step !== undefined) {
        idle = 0;
        this.trace.push(step.what);
        step.go();
      } else if (leaps === undefined || idle++ < IDLE) {
        if (!this.#pass() && leaps === undefined) return;
      } else if (leap < leaps.length) {
        this.#leap(leaps[leap] as number);
        onLeap(leap++);
        idle = 0;
      } else return;
    }
    throw new Error("the schedule does not end");
  }

  /** As where a machine slept: what is due meanwhile begins at its end. */
  #leap(ms: number): void {
    this.#passedMs += ms;
    this.trace.push(`-- time leaps by ${ms} ms --`);
    const due = this.#timers.filter(({ atMs }) => atMs <= this.#passedMs);
    this.#timers = this.#timers.filter(({ atMs }) => atMs > this.#passedMs);
    for (const { act } of due) act();
  }

  /** To the next timer. @returns false where there is none */
  #pass(): boolean {
    const [first] = this.#timers.toSorted((a, b) => a.atMs - b.atMs);
    if (first === undefined) return false;
    this.#timers = this.#timers.filter((timer) => timer !== first);
    this.#passedMs = Math.max(this.#passedMs, first.atMs);
    this.trace.push(`time passes: ${this.#passedMs}`);
    first.act();
    return true;
  }
}
