/**
 * The only source of time and randomness, so that a run can be repeated from a seed.
 */
import { randomFillSync } from "node:crypto";
// The global is a getter, and a getter for each reading of a clock costs more than the reading.
import { performance } from "node:perf_hooks";

export interface Clock {
  /** Wall time, milliseconds since 1970-01-01 UTC. */
  now(): number;
  /** Milliseconds from an arbitrary origin; never steps back. For durations. */
  monotonic(): number;
}

/** Offset of `performance.now()` from the machine's boot, in milliseconds. */
const STARTED_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Monotonic time counts from the boot of the machine, so that it continues across restarts of the process. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => STARTED_MS + performance.now(),
});

/** The monotonic time of an instant that Node tells by an origin of its own, as in entries of its performance timeline. */
export const monotonicOf = (performanceMs: number): number => STARTED_MS + performanceMs;

/** Wall time in microseconds that rises with every reading, whatever the clock does: stamps have the order of the stamping. */
export function risingMicros({ now }: Clock): () => number {
  let latestUs = 0;
  return () => {
    latestUs = Math.max(latestUs + 1, now() * 1000);
    return latestUs;
  };
}

/** Maximum slewing of a clock between two readings that is not a jump. */
const SLEWED_MS = 5_000;

/**
 * For code that permanently deletes old data: tells whether the wall clock has run without a jump since the last call.
 * So a clock that is wrong for less than the time between two calls deletes nothing.
 */
export function jumpWatch({ now, monotonic }: Clock): () => boolean {
  let offsetMs = Number.NaN;
  return () => {
    const before = offsetMs;
    offsetMs = now() - monotonic();
    return Math.abs(offsetMs - before) <= SLEWED_MS;
  };
}

/** Timers that can be cancelled. */
export interface Timers {
  /** @returns a function that cancels the timer; does nothing after it has fired. */
  after(delayMs: number, act: () => void): () => void;
}

export const systemTimers: Timers = Object.freeze({
  after(delayMs: number, act: () => void) {
    const timer = setTimeout(act, delayMs);
    return () => clearTimeout(timer);
  },
});

/** What the promise gives, or what `late` gives or throws where that takes longer than `ms`. No timer is left behind. */
export async function inTime<T, L>(
  promise: Promise<T>,
  ms: number,
  late: () => L,
  timers: Timers = systemTimers,
): Promise<T | L> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const cancel = timers.after(ms, resolve);
  return await Promise.race([promise, over.then(late)]).finally(cancel);
}

/** Resolves in the next turn of the event loop: long work that awaits this between its slices lets sockets and timers be served. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A uniform number in [0, 1). */
export type Random = () => number;

const pool = new Uint32Array(1024);
let used = pool.length;

/** From the CSPRNG, in blocks: one system call for 1,024 numbers. */
export const systemRandom: Random = () => {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return (pool[used++] as number) / 0x1_0000_0000;
};

/** Mulberry32: a small seeded generator for simulations and tests. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

const TWO = (n: number): string => (n < 10 ? `0${n}` : String(n));

/** `YYYY-MM-DD hh:mm:ss.mmm` in UTC: the `ts` of request records, and what ClickHouse's DateTime64(3) takes. */
export function recordTime(ms: number): string {
  return new Date(ms).toISOString().replace("T", " ").slice(0, 23);
}

/** ISO 8601 in UTC with milliseconds. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();

interface Zone {
  /** Undefined for UTC, whose days need no formatter: the first formatter of a process opens the data of every language, which takes 7 MB. */
  format: Intl.DateTimeFormat | undefined;
  day: string;
  fromMs: number;
  untilMs: number;
}
const zones = new Map<string, Zone>();

/**
 * The local calendar day (`YYYY-MM-DD`) of an instant in an IANA time zone. Budgets reset when it changes, so it must
 * be right across daylight-saving changes; the formatter is called at most once per quarter of an hour.
 */
export function localDay(ms: number, timeZone: string): string {
  let zone = zones.get(timeZone);
  if (zone !== undefined && ms >= zone.fromMs && ms < zone.untilMs) return zone.day;
  zone ??= {
    format: timeZone === "UTC" ? undefined : dayFormat(timeZone),
    day: "",
    fromMs: 0,
    untilMs: 0,
  };
  zone.day = zone.format === undefined ? isoTime(ms).slice(0, 10) : dayOf(zone.format, ms);
  // Every zone's offset is a multiple of a quarter of an hour, so no day begins inside one.
  zone.fromMs = ms - (ms % 900_000);
  zone.untilMs = zone.fromMs + 900_000;
  zones.set(timeZone, zone);
  return zone.day;
}

const dayFormat = (timeZone: string) =>
  new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });

function dayOf(format: Intl.DateTimeFormat, ms: number): string {
  const parts = format.formatToParts(ms);
  const part = (type: string) => Number(parts.find((p) => p.type === type)?.value ?? 0);
  return `${part("year")}-${TWO(part("month"))}-${TWO(part("day"))}`;
}
