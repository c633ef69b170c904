/**
 * Daily statistics of a model's endpoints. They cover all orgs, so they contain only sums. The answer waits less than a second
 * for ClickHouse, then goes without them.
 */
import { type Clock, inTime, type Timers } from "../../base/clock.ts";
import type { ClickHouse } from "../clickhouse/client.ts";
import { PUBLIC_TRAFFIC } from "./statistics.ts";

interface EndpointDay {
  readonly endpoint_id: string;
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly attempts: number;
  readonly ok: number;
  /** 0 if no attempt of the day had a token. */
  readonly ttft_p50_ms: number;
  readonly ttft_p95_ms: number;
  /** Milliseconds per output token, after the first; rounded: 0 is less than half a millisecond, or unknown. */
  readonly tpot_p50_ms: number;
}

interface ModelStats {
  /** Today and the 29 days before it, by endpoint and day; days without an attempt are omitted. */
  readonly series: readonly EndpointDay[];
}

/** Undefined if ClickHouse does not answer in time. */
export type ModelStatsReader = (modelId: string) => Promise<ModelStats | undefined>;

const FRESH_MS = 10_000;
const WAIT_MS = 800;
/** Models whose statistics are cached; beyond this number the least recently read one is dropped. */
const MAX_READINGS = 1000;

const SERIES = `
  SELECT endpoint_id, toString(toDate(hour)) AS day, sum(attempts) AS n, sum(ok) AS good,
    quantilesTDigestIfMerge(0.5, 0.95)(ttft) AS ttfts, quantilesTDigestIfMerge(0.5, 0.95)(tpot)[1] AS tpot_p50
  FROM attempts_hourly
  WHERE hour >= toStartOfDay(now('UTC')) - INTERVAL 29 DAY AND model = {model:String} AND ${PUBLIC_TRAFFIC}
  GROUP BY endpoint_id, day ORDER BY endpoint_id, day`;

interface SeriesRow {
  readonly endpoint_id: string;
  readonly day: string;
  readonly n: number;
  readonly good: number;
  /** Null (NaN) if nothing was measured. */
  readonly ttfts: readonly (number | null)[];
  readonly tpot_p50: number | null;
}

interface Reading {
  readonly startedMs: number;
  readonly stats: Promise<ModelStats>;
}

export interface ModelStatsDeps {
  readonly clickhouse: ClickHouse;
  readonly clock: Clock;
  readonly timers?: Timers;
  /** The models whose test calls count: those that only the simulator serves. */
  readonly simulated: () => readonly string[];
}

/** One reading is used for ten seconds, also by requests that arrive while it is under way. */
export function modelStats(deps: ModelStatsDeps): ModelStatsReader {
  const { clock, timers } = deps;
  const readings = new Map<string, Reading>();

  function readingOf(modelId: string): Reading {
    const last = readings.get(modelId);
    if (last !== undefined && clock.monotonic() - last.startedMs < FRESH_MS) return last;
    const reading = { startedMs: clock.monotonic(), stats: read(deps, modelId) };
    readings.delete(modelId);
    readings.set(modelId, reading);
    const [oldest] = readings.keys();
    if (readings.size > MAX_READINGS && oldest !== undefined) readings.delete(oldest);
    // A reading that failed is not used again: the next request makes a new one.
    reading.stats.catch(() => {
      if (readings.get(modelId) === reading) readings.delete(modelId);
    });
    return reading;
  }

  const none = () => undefined;
  return (modelId) => inTime(readingOf(modelId).stats.catch(none), WAIT_MS, none, timers);
}

async function read({ clickhouse, simulated }: ModelStatsDeps, modelId: string): Promise<ModelStats> {
  const rows = await clickhouse.rows<SeriesRow>(SERIES, { model: modelId, simulated: simulated() });
  const series = rows.map(({ endpoint_id, day, n, good, ttfts, tpot_p50 }) => ({
    endpoint_id,
    day,
    attempts: n,
    ok: good,
    ttft_p50_ms: Math.round(ttfts[0] ?? 0),
    ttft_p95_ms: Math.round(ttfts[1] ?? 0),
    tpot_p50_ms: Math.round(tpot_p50 ?? 0),
  }));
  return { series };
}
