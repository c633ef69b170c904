/** Jobs and results of the load process. Plain data: it is sent between processes. */
import type { Content } from "./fidelity.ts";
import type { FormatName } from "./formats.ts";

interface Job {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connections: number;
  readonly format: FormatName;
  readonly expected: Content;
  /** The job ends then, complete or not. */
  readonly timeoutMs: number;
}

/** Closed loop: each connection sends its next call when the last was answered. */
export interface CallsJob extends Job {
  readonly kind: "calls";
  /** Calls to make; 0: as many as `seconds` allows. */
  readonly amount: number;
  readonly seconds: number;
  /** Each call has an `Idempotency-Key` of its own. */
  readonly hasKeys?: boolean;
}

/** Long streams: each connection takes `callsEach`, the connections starting evenly spread over `rampMs`. */
export interface StreamsJob extends Job {
  readonly kind: "streams";
  readonly callsEach: number;
  readonly rampMs: number;
}

/**
 * Open loop: calls start at fixed times, whether earlier ones were answered or not, and a call's latency counts from
 * the time at which it should have started. So a stall delays all calls that fall into it, and not just one
 * for each connection (coordinated omission). `connections`: the most that are used.
 */
export interface RateJob extends Job {
  readonly kind: "rate";
  readonly callsPerSecond: number;
  readonly seconds: number;
}

export type LoadJob = CallsJob | StreamsJob | RateJob;

export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
}

export interface LoadResult {
  /** Complete answers, intact or not. */
  readonly calls: number;
  /** Answers whose content was exactly what the upstream sent. */
  readonly intact: number;
  /** Calls that failed or missed the deadline. */
  readonly failed: number;
  /** From the first request to the last answer. */
  readonly seconds: number;
  /** Whole answers. */
  readonly latencyMs: Percentiles;
  /** To the first event with content; only of streams jobs. */
  readonly firstMs: Percentiles | null;
  /** The first error, for people. */
  readonly fault: string;
}

/** Nearest-rank percentiles; NaN when there are no values. Sorts `values` in place. */
export function percentiles(values: number[]): Percentiles {
  values.sort((a, b) => a - b);
  const at = (q: number): number => values[Math.max(0, Math.ceil(q * values.length) - 1)] ?? Number.NaN;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999) };
}
