/**
 * Shadow runs in analytics: the exchange puts them into a queue on disk, from which they are inserted into ClickHouse;
 * reports show them by policy. Neither a call nor its copy waits for the insertion. They are samples, not money: while ClickHouse is
 * unreachable, the oldest are dropped.
 */

import { isoTime } from "../../base/clock.ts";
import type { Store } from "../../store/store.ts";
import { CONFIDENCE, differenceInterval, type Interval, wilson } from "../intervals.ts";
import { BatchQueue } from "./batch-queue.ts";
import { rowsNotIn, withinRetention } from "./row-lookup.ts";
import {
  encodeRow,
  type IdentifiedRun,
  identified,
  insertable,
  SHADOW_COLUMNS,
  type ShadowRow,
} from "./shadow-rows.ts";
import type { Spool } from "./spool.ts";
import { type TableSpoolDeps, tableSpool } from "./table-spool.ts";

/** `Shadow` of the service's API: the copies of one policy's calls at one endpoint, compared with the calls at another. */
type ShadowSummary = {
  readonly shadow_endpoint: string;
  readonly primary_endpoint: string;
  readonly policy_version: number;
  readonly bill: "platform" | "org";
  /** Copies that were not cancelled. */
  readonly runs: number;
  /** Runs whose copy failed. */
  readonly errors: number;
  /** Runs in which both call and copy were answered in full; the members below cover only these. */
  readonly compared: number;
  readonly stop_mismatch: number;
  readonly primary_cost_micro: number;
  readonly shadow_cost_micro: number;
  /** Shadow minus primary. */
  readonly cost_delta_micro: number;
  /** Means over streams; 0 if nothing was measured. */
  readonly primary_ttft_ms: number;
  readonly shadow_ttft_ms: number;
  /** When the first of the calls came. */
  readonly since: string;
  readonly confidence: number;
  readonly error_rate: number;
  readonly error_rate_interval: Interval;
  /** Mean of the pairs; null for fewer than two. */
  readonly cost_delta_per_run_micro: number;
  readonly cost_delta_per_run_micro_interval: Interval | null;
  /** Pairs of streams that both had a first token. */
  readonly ttft_compared: number;
  readonly ttft_delta_ms: number | null;
  readonly ttft_delta_ms_interval: Interval | null;
};

/** What the query answers: sums, and deviations from which intervals are made. */
interface SummaryRow
  extends Pick<
    ShadowSummary,
    | "shadow_endpoint"
    | "primary_endpoint"
    | "policy_version"
    | "bill"
    | "runs"
    | "errors"
    | "compared"
    | "stop_mismatch"
    | "primary_cost_micro"
    | "shadow_cost_micro"
    | "cost_delta_micro"
    | "primary_ttft_ms"
    | "shadow_ttft_ms"
    | "ttft_compared"
  > {
  readonly since_ms: number;
  /** Sample standard deviations of the differences; 0 for fewer than two. */
  readonly cost_delta_deviation: number;
  readonly ttft_delta_mean: number;
  readonly ttft_delta_deviation: number;
}

export interface ShadowRunsDeps extends Omit<TableSpoolDeps, "queue"> {
  readonly store: Store;
  /** Pending rows; beyond this number the oldest are dropped. Default: 100,000. */
  readonly maxWaiting?: number | undefined;
}

interface ShadowRunsMetrics {
  readonly pending: number;
  readonly inserted: number;
  readonly dropped: number;
  readonly insertFailures: number;
}

export interface ShadowRuns extends Pick<Spool, "flush" | "hold"> {
  /** Encodes the row. @returns a function that puts it into the queue; call it only inside an act */
  prepare(row: ShadowRow): () => void;
  /**
   * One entry for each pair of endpoints, version and payer, newest version first, over all runs kept (400 days).
   * @throws WeirError `analytics_unavailable`
   */
  shadows(orgId: string, policy: string): Promise<ShadowSummary[]>;
  metrics(): ShadowRunsMetrics;
  /**
   * Inserts pending rows for at most `withinMs` if ClickHouse is reachable, then stops. Rows that are left wait for the
   * next start.
   */
  stop(withinMs: number): Promise<void>;
}

const MAX_WAITING = 100_000;
/** A report waits this long for rows that were put just before it. */
const CATCH_UP_MS = 1000;
/** Combinations of version and pair of endpoints in one report. */
const MAX_SUMMARIES = 1000;

export function openShadowRuns(deps: ShadowRunsDeps): ShadowRuns {
  const { store, clickhouse, clock, maxWaiting = MAX_WAITING } = deps;
  const queue = new BatchQueue({ store, name: "shadow_runs", maxWaiting });
  const spool = tableSpool<IdentifiedRun>(
    { ...deps, queue },
    {
      table: "shadow_runs",
      columns: SHADOW_COLUMNS,
      what: "shadow runs",
      tokenPrefix: "weir-shadows",
      bounds: { rows: 1000, bytes: 8 * 1024 * 1024 },
      decoded: identified,
      encoded: insertable,
      missing: (rows) =>
        rowsNotIn(clickhouse, "shadow_runs", "shadow_request_id", withinRetention(rows, clock.now())),
    },
  );
  spool.start();
  return {
    prepare(row) {
      const bytes = encodeRow(row);
      return () => void queue.put(bytes);
    },
    async shadows(orgId, policy) {
      // If not all rows are inserted in time, the report covers those that are.
      await spool.flush(CATCH_UP_MS);
      const rows = await clickhouse.rows<SummaryRow>(SUMMARY, { org: orgId, policy, limit: MAX_SUMMARIES });
      return rows.map(summaryOf);
    },
    flush: (withinMs, options) => spool.flush(withinMs, options),
    hold: (withinMs) => spool.hold(withinMs),
    metrics() {
      const { rows, failures } = spool.counts();
      return {
        pending: queue.pending(),
        dropped: queue.dropped(),
        inserted: rows,
        insertFailures: failures,
      };
    },
    async stop(withinMs) {
      await spool.flush(withinMs, { ifReachable: true });
      await spool.stop(withinMs);
    },
  };
}

function summaryOf({
  since_ms: sinceMs,
  cost_delta_deviation: costDeviation,
  ttft_delta_mean: ttftMean,
  ttft_delta_deviation: ttftDeviation,
  ...sums
}: SummaryRow): ShadowSummary {
  const { runs, errors, compared, cost_delta_micro: delta, ttft_compared: streams } = sums;
  const costMean = compared === 0 ? 0 : delta / compared;
  return {
    ...sums,
    since: isoTime(sinceMs),
    confidence: CONFIDENCE,
    error_rate: errors / runs,
    error_rate_interval: wilson(errors, runs),
    cost_delta_per_run_micro: costMean,
    cost_delta_per_run_micro_interval: differenceInterval(costMean, costDeviation, compared) ?? null,
    ttft_delta_ms: streams === 0 ? null : ttftMean,
    ttft_delta_ms_interval: differenceInterval(ttftMean, ttftDeviation, streams) ?? null,
  };
}

/**
 * Costs and times cover only runs in which both were answered: a copy that failed cost little and would make its endpoint
 * look cheap. Runs in which a fallback led the call itself to the shadow's endpoint are left out: they compare nothing.
 */
const SUMMARY = `
  SELECT
    shadow_endpoint, primary_endpoint, policy_version, bill,
    count() AS runs,
    countIf(shadow_status = 'error') AS errors,
    countIf(both) AS compared,
    countIf(shadow_runs.stop_mismatch) AS stop_mismatch,
    sumIf(shadow_runs.primary_cost_micro, both) AS primary_cost_micro,
    sumIf(shadow_runs.shadow_cost_micro, both) AS shadow_cost_micro,
    sumIf(shadow_runs.shadow_cost_micro - shadow_runs.primary_cost_micro, both) AS cost_delta_micro,
    ifNotFinite(round(avgIf(shadow_runs.primary_ttft_ms, both AND stream AND shadow_runs.primary_ttft_ms > 0), 1), 0)
      AS primary_ttft_ms,
    ifNotFinite(round(avgIf(shadow_runs.shadow_ttft_ms, both AND stream AND shadow_runs.shadow_ttft_ms > 0), 1), 0)
      AS shadow_ttft_ms,
    toUnixTimestamp64Milli(min(ts)) AS since_ms,
    ifNotFinite(stddevSampStableIf(cost_delta, both), 0) AS cost_delta_deviation,
    countIf(is_timed) AS ttft_compared,
    ifNotFinite(round(avgIf(ttft_delta, is_timed), 1), 0) AS ttft_delta_mean,
    ifNotFinite(stddevSampStableIf(ttft_delta, is_timed), 0) AS ttft_delta_deviation
  FROM
  (
    SELECT *, primary_status = 'ok' AND shadow_status = 'ok' AS both,
      both AND stream AND primary_ttft_ms > 0 AND shadow_ttft_ms > 0 AS is_timed,
      toInt64(shadow_cost_micro) - toInt64(primary_cost_micro) AS cost_delta,
      toInt64(shadow_ttft_ms) - toInt64(primary_ttft_ms) AS ttft_delta
    FROM shadow_runs
    WHERE org_id = {org:String} AND policy = {policy:String}
      AND shadow_status != 'cancelled' AND primary_status != 'cancelled' AND shadow_endpoint != primary_endpoint
  ) AS shadow_runs
  GROUP BY shadow_endpoint, primary_endpoint, policy_version, bill
  ORDER BY policy_version DESC, runs DESC, shadow_endpoint, primary_endpoint, bill
  LIMIT {limit:UInt32}`;
