/** Jobs and results of the load process. Plain data: it is sent between processes. */
import type { Content } from "./fidelity.ts";

interface Job {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connections: number;
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
}

/** Long streams: each connection takes `callsEach`, the connections starting evenly spread over `rampMs`. */
export interface StreamsJob extends Job {
  readonly kind: "streams";
  readonly callsEach: number;
  readonly rampMs: number;
}

export type LoadJob = CallsJob | StreamsJob;

export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
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
  return { p50: at(0.5), p99: at(0.99) };
}
