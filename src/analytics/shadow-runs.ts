/**
 * Shadow runs in analytics: written from the exchange, on disk from then on, in ClickHouse soon after, and reported by
 * policy. Neither a call nor its copy waits for any of it.
 */
import type { Clock } from "../clock.ts";
import type { Store } from "../store/store.ts";
import { BatchQueue } from "./batch-queue.ts";
import type { ClickHouse } from "./client.ts";
import { encodeRow, type ShadowRow } from "./shadow-rows.ts";
import { startShadowSpool } from "./shadow-spool.ts";
import type { SpoolLog } from "./spool.ts";

/** Shadow of the service's API: what the copies of one policy's calls came to at one endpoint beside another. */
interface ShadowSummary {
  readonly shadow_endpoint: string;
  readonly primary_endpoint: string;
  readonly policy_version: number;
  readonly bill: "platform" | "org";
  /** Copies that ended by themselves. */
  readonly runs: number;
  /** Those of them that failed. */
  readonly errors: number;
  /** Runs of which both sides answered in full: all that follows is about these. */
  readonly compared: number;
  readonly stop_mismatch: number;
  readonly primary_cost_micro: number;
  readonly shadow_cost_micro: number;
  /** Shadow minus primary. */
  readonly cost_delta_micro: number;
  /** Means, of streams; 0 where nothing was measured. */
  readonly primary_ttft_ms: number;
  readonly shadow_ttft_ms: number;
}

export interface ShadowRunsDeps {
  readonly store: Store;
  readonly clickhouse: Pick<ClickHouse, "insert" | "rows" | "ended" | "synced">;
  readonly clock: Clock;
  readonly log: SpoolLog;
  /** How long a row waits for company; 1 s unless given. */
  readonly ageMs?: number | undefined;
  /** Rows kept while ClickHouse is away; the oldest beyond it are dropped. 100,000 unless given. */
  readonly maxWaiting?: number | undefined;
}

interface ShadowRunsMetrics {
  readonly pending: number;
  readonly inserted: number;
  readonly dropped: number;
  readonly insertFailures: number;
}

export interface ShadowRuns {
  /** Encodes the row; what it returns puts it, and is only for inside the write of a `commit`. */
  prepare(row: ShadowRow): () => void;
  /**
   * One entry for each pair of endpoints, version and payer, newest version first: everything still kept (400 days).
   * @throws WeirError `analytics_unavailable`
   */
  shadows(orgId: string, policy: string): Promise<ShadowSummary[]>;
  /** True once everything put before the call is in ClickHouse; false when that takes longer. */
  flush(withinMs: number): Promise<boolean>;
  metrics(): ShadowRunsMetrics;
  /** Inserts what waits, within the bound and where ClickHouse is there, then ends; the rest stays for the next start. */
  stop(withinMs: number): Promise<void>;
}

const MAX_WAITING = 100_000;
/** How long a report waits for what was put just before it. */
const CATCH_UP_MS = 1000;
/** Versions times pairs of endpoints: nobody reads more. */
const MAX_SUMMARIES = 1000;

export function openShadowRuns(deps: ShadowRunsDeps): ShadowRuns {
  const { store, clickhouse, clock, log, ageMs, maxWaiting = MAX_WAITING } = deps;
  const queue = new BatchQueue({ store, name: "shadow_runs", maxWaiting });
  const spool = startShadowSpool({ queue, clickhouse, clock, log, ageMs });
  return {
    prepare(row) {
      const bytes = encodeRow(row);
      return () => void queue.put(bytes);
    },
    async shadows(orgId, policy) {
      // A backlog longer than the wait is reported as far as it is.
      await spool.flush(CATCH_UP_MS);
      return clickhouse.rows<ShadowSummary>(SUMMARY, { org: orgId, policy, limit: MAX_SUMMARIES });
    },
    flush: (withinMs) => spool.flush(withinMs),
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

/**
 * Costs and times of runs that both sides answered: a copy that failed cost little and would make its endpoint look cheap.
 * A fallback may have led the call itself to the shadow's endpoint; that compares nothing.
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
      AS shadow_ttft_ms
  FROM
  (
    SELECT *, primary_status = 'ok' AND shadow_status = 'ok' AS both
    FROM shadow_runs
    WHERE org_id = {org:String} AND policy = {policy:String}
      AND shadow_status != 'cancelled' AND primary_status != 'cancelled' AND shadow_endpoint != primary_endpoint
  ) AS shadow_runs
  GROUP BY shadow_endpoint, primary_endpoint, policy_version, bill
  ORDER BY policy_version DESC, runs DESC, shadow_endpoint, primary_endpoint, bill
  LIMIT {limit:UInt32}`;
