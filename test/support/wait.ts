/**
 * The one way in which tests wait: for a condition, with one limit that only a hang reaches. A failure says what was waited for,
 * what was seen last and what the machine did meanwhile, which tells a late machine from a wrong Weir.
 */
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, freemem, loadavg, totalmem } from "node:os";
import { inspect, isDeepStrictEqual } from "node:util";
import type { Timers } from "../../src/base/clock.ts";

/** Each wait's. A machine with much else to do takes seconds for what takes milliseconds; minutes are a hang. */
export const LIMIT_MS = 120_000;

/** How often the time of a wait is counted, in milliseconds. */
const BEAT_MS = 250;
/** The most that one beat counts: a machine that stood still, or slept, has not given its time to what is waited for. */
const MOST_OF_BEAT_MS = 2_000;
/** So long a cheap look is taken in each turn of the event loop: what needs only some turns is not kept waiting by a timer. */
const TURNS_MS = 5;
const CHEAP_MS = 0.5;
/** A pause is three times as long as the look before it: most of the time belongs to what is waited for. */
const PAUSE_PER_LOOK = 3;
/** And a thousandth of the time that was waited: who waits for long looks seldom. */
const PAUSE_PER_WAIT = 1 / 1000;
const LEAST_PAUSE_MS = 2;
const MOST_PAUSE_MS = 500;
/** Characters of a value in a failure. */
const MOST_SHOWN = 2_000;

/** Ends a wait at once: thrown by a look at what can no longer come. */
export class Hopeless extends Error {}

/** What a wait goes by; a test of the wait itself gives its own. */
export interface Surroundings extends Timers {
  /** Milliseconds from an arbitrary origin. */
  monotonic(): number;
  figures(): Figures;
}

/** What this machine and this process do. Times are milliseconds since an arbitrary origin. */
export interface Figures {
  /** Processor time of this process with all its threads. */
  readonly ownMs: number;
  /** Processor time of everything on the machine. */
  readonly busyMs: number;
  /** Processor time that the host of this virtual machine gave to others (proc_stat(5): steal). */
  readonly stolenMs: number;
  readonly processors: number;
  /** Programs that ran or wanted to, on average over the last minute. */
  readonly load: number;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

type Look<T> = () => T | Promise<T>;
type Holds<T> = (seen: T) => unknown;

/** A wait by these surroundings: `until` is the one by the real ones. */
export const untilBy =
  (surroundings: Surroundings) =>
  /**
   * Looks until what it sees holds.
   * @param what behind "until": "the record is stored"
   * @param look returns what it sees, for the failure. An error is a look in vain (nothing listens yet, `expect` fails); `Hopeless`
   *   ends the wait. Looks are taken one at a time, and may be taken many times.
   * @param holds whether this is it; without it, whether what was seen is true. An error is a "no" with its reason.
   * @returns what was seen last, which holds
   */
  async <T>(what: string, look: Look<T>, holds: Holds<T> = Boolean): Promise<T> => {
    const watch = new Watch(surroundings);
    let last: Seen<T> | undefined;
    try {
      for (;;) {
        watch.lookBegins();
        const seen = await watch.unlessOver(see(look, holds));
        if (seen === OVER) throw failure(what, last, watch);
        if (seen.isIt) return seen.value as T;
        last = seen;
        if ((await watch.unlessOver(watch.pause())) === OVER) throw failure(what, last, watch);
      }
    } finally {
      watch.end();
    }
  };

/** The timers and the clock of the process as they were at its start: tests replace those of `globalThis`. */
const { clearImmediate, clearTimeout, performance, setImmediate, setTimeout } = globalThis;

export const until = untilBy({
  monotonic: () => performance.now(),
  after(delayMs, act) {
    const timer = delayMs > 0 ? setTimeout(act, delayMs) : undefined;
    const turn = delayMs > 0 ? undefined : setImmediate(act);
    return () => {
      clearTimeout(timer);
      clearImmediate(turn);
    };
  },
  figures,
});

/** For `until`: what is seen is equal in depth to `wanted`, which the failure shows too. */
export function equals(wanted: unknown): Holds<unknown> {
  const no = `it is not ${inspect(wanted)}`;
  return (seen) => {
    if (!isDeepStrictEqual(seen, wanted)) throw new Error(no);
    return true;
  };
}

interface Seen<T> {
  readonly isIt: boolean;
  readonly value?: T;
  readonly error?: unknown;
}

async function see<T>(look: Look<T>, holds: Holds<T>): Promise<Seen<T>> {
  let value: { value?: T } = {};
  try {
    value = { value: await look() };
    return { ...value, isIt: Boolean(await holds(value.value as T)) };
  } catch (error) {
    if (error instanceof Hopeless) throw error;
    return { ...value, isIt: false, error };
  }
}

const OVER = Symbol("the limit is reached");

/** The time of one wait, and what the machine did in it. */
class Watch {
  readonly #by: Surroundings;
  readonly #fromMs: number;
  /** At the first beat: most waits are over before it, and cost no reading. */
  #before: Figures | undefined;
  #beforeMs = 0;
  #beatMs: number;
  #end = () => {};
  #cancelBeat = () => {};
  #cancelPause = () => {};
  #countedMs = 0;
  #longestStandMs = 0;
  #looks = 0;
  #lookFromMs = 0;
  #longestLookMs = 0;

  constructor(by: Surroundings) {
    this.#by = by;
    this.#fromMs = by.monotonic();
    this.#beatMs = this.#fromMs;
    this.#waitForBeat();
  }

  /** What the promise brings, or that the limit is reached. One at a time: a race with one long promise would keep all that it won. */
  unlessOver<R>(promise: Promise<R>): Promise<R | typeof OVER> {
    return new Promise((resolve, reject) => {
      this.#end = () => resolve(OVER);
      promise.then(resolve, reject);
    });
  }

  lookBegins(): void {
    this.#looks++;
    this.#lookFromMs = this.#by.monotonic();
  }

  /** Between the look that is over and the next one. */
  pause(): Promise<void> {
    const nowMs = this.#by.monotonic();
    const lookMs = nowMs - this.#lookFromMs;
    this.#longestLookMs = Math.max(this.#longestLookMs, lookMs);
    const waitedMs = nowMs - this.#fromMs;
    const isTurn = lookMs < CHEAP_MS && waitedMs < TURNS_MS;
    const wantedMs = Math.max(PAUSE_PER_LOOK * lookMs, PAUSE_PER_WAIT * waitedMs, LEAST_PAUSE_MS);
    const pauseMs = Math.min(wantedMs, MOST_PAUSE_MS);
    return new Promise((resolve) => {
      this.#cancelPause = this.#by.after(isTurn ? 0 : pauseMs, resolve);
    });
  }

  end(): void {
    this.#cancelBeat();
    this.#cancelPause();
  }

  /** How long it was, and what the machine did. */
  report(): { readonly length: string; readonly meanwhile: string; readonly lookMs: number } {
    const nowMs = this.#by.monotonic();
    const tookMs = nowMs - this.#fromMs;
    const [now, before] = [this.#by.figures(), this.#before];
    const sinceMs = nowMs - this.#beforeMs;
    const ran = (one: "ownMs" | "busyMs" | "stolenMs") =>
      ((now[one] - (before?.[one] ?? now[one])) / sinceMs).toFixed(2);
    const gb = (bytes: number) => (bytes / 1e9).toFixed(1);
    const lines = [
      `of ${now.processors} processors this process used ${ran("ownMs")}, all together ${ran("busyMs")}, the host took ${ran("stolenMs")}`,
      `load ${now.load.toFixed(1)}`,
      `${gb(now.freeBytes)} of ${gb(now.totalBytes)} GB free`,
      `the event loop stood still for ${ms(this.#longestStandMs)} at the most`,
      `the longest look took ${ms(this.#longestLookMs)}`,
    ];
    const stood =
      tookMs - this.#countedMs > BEAT_MS ? `, ${ms(tookMs - this.#countedMs)} of them not counted` : "";
    return {
      length: `${this.#looks} looks in ${ms(tookMs)}${stood}`,
      meanwhile: lines.join("; "),
      lookMs: nowMs - this.#lookFromMs,
    };
  }

  #waitForBeat(): void {
    this.#cancelBeat = this.#by.after(BEAT_MS, () => this.#beat());
  }

  #beat(): void {
    const nowMs = this.#by.monotonic();
    if (this.#before === undefined) [this.#before, this.#beforeMs] = [this.#by.figures(), nowMs];
    const beatMs = nowMs - this.#beatMs;
    this.#beatMs = nowMs;
    this.#longestStandMs = Math.max(this.#longestStandMs, beatMs - BEAT_MS);
    this.#countedMs += Math.min(beatMs, MOST_OF_BEAT_MS);
    if (this.#countedMs >= LIMIT_MS) this.#end();
    this.#waitForBeat();
  }
}

function failure<T>(what: string, last: Seen<T> | undefined, watch: Watch): Error {
  const { length, meanwhile, lookMs } = watch.report();
  const open = lookMs > LIMIT_MS / 2 ? ` (the last one has not returned for ${ms(lookMs)})` : "";
  const lines = [
    `waited in vain until ${what}: ${length}${open}`,
    `seen last: ${last === undefined ? "nothing" : shown(last)}`,
    `meanwhile: ${meanwhile}`,
  ];
  return new Error(lines.join("\n"), { cause: last?.error });
}

function shown<T>(seen: Seen<T>): string {
  const value =
    "value" in seen ? [inspect(seen.value, { depth: 5, breakLength: 120 }).slice(0, MOST_SHOWN)] : [];
  const error = "error" in seen ? [`the error ${String(seen.error).slice(0, MOST_SHOWN)}`] : [];
  return [...value, ...error].join(", with ");
}

const ms = (count: number): string =>
  count < 1000 ? `${Math.round(count)} ms` : `${(count / 1000).toFixed(1)} s`;

function figures(): Figures {
  const { user, system } = process.cpuUsage();
  const all = cpus().map(({ times }) => times.user + times.nice + times.sys + times.irq);
  return {
    ownMs: (user + system) / 1000,
    busyMs: all.reduce((sum, one) => sum + one, 0),
    stolenMs: stolenMs(),
    processors: availableParallelism(),
    load: loadavg()[0] ?? 0,
    freeBytes: freemem(),
    totalBytes: totalmem(),
  };
}

/** The eighth figure of the first line, in ticks of 10 ms; 0 where there is no such file. */
function stolenMs(): number {
  if (process.platform !== "linux") return 0;
  const [, ...ticks] = readFileSync("/proc/stat", "utf8").split("\n", 1)[0]?.split(/\s+/) ?? [];
  return 10 * Number(ticks[7] ?? 0);
}
