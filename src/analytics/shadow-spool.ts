/**
 * Inserts shadow runs from their queue into ClickHouse, in a spool of their own, so that a failure of their table does not
 * hold up the records of calls. They are samples, not money: while ClickHouse is unreachable, the oldest are dropped.
 */
import type { Clock } from "../clock.ts";
import type { BatchBounds, Batches, BatchRows } from "./batch-queue.ts";
import type { ClickHouse, Target } from "./client.ts";
import { type Destination, deliver } from "./delivery.ts";
import { rowsNotIn, withinRetention } from "./row-lookup.ts";
import { type IdentifiedRun, identified, insertable, SHADOW_COLUMNS } from "./shadow-rows.ts";
import { Spool, type SpoolLog } from "./spool.ts";

export interface ShadowSpoolDeps {
  readonly queue: Batches;
  /** The methods that a delivery needs. */
  readonly clickhouse: Pick<ClickHouse, "insert" | "rows" | "ended" | "synced">;
  readonly clock: Clock;
  readonly log: SpoolLog;
  /** A row waits at most this long for others of its batch. */
  readonly ageMs?: number | undefined;
}

/** So many are read and encoded in a few milliseconds, without a pause for the event loop. */
const BOUNDS: BatchBounds = { rows: 1000, bytes: 8 * 1024 * 1024 };

/** Runs until it is stopped. */
export function startShadowSpool(deps: ShadowSpoolDeps): Spool {
  const { queue, clock, log, ageMs } = deps;
  const spool = new Spool({
    ...{ queue, clock, log, ageMs, bounds: BOUNDS, tokenPrefix: "weir-shadows", what: "shadow runs" },
    insertBatch: (batch) => insertBatch(deps, batch),
  });
  spool.start();
  return spool;
}

async function insertBatch(deps: ShadowSpoolDeps, { batch, rows, isNew }: BatchRows): Promise<number> {
  const runs = identified(rows);
  if (runs.damaged > 0) {
    deps.log.warn({ rows: runs.damaged }, "rows of shadow runs cannot be read; left out");
  }
  const destinations = [shadowRuns(deps, runs.rows)];
  await deliver(deps.clickhouse, { token: batch.token, isDoubtful: !isNew, destinations });
  return runs.rows.length;
}

function shadowRuns({ clickhouse, clock }: ShadowSpoolDeps, rows: readonly IdentifiedRun[]): Destination {
  const insert = async (these: readonly IdentifiedRun[], target: Target) => {
    // All rows of a batch that waited long may have been dropped.
    if (these.length > 0) {
      await clickhouse.insert("shadow_runs", SHADOW_COLUMNS, [insertable(these)], target);
    }
    return these.length > 0;
  };
  return {
    table: "shadow_runs",
    insert: async (target) => void (await insert(rows, target)),
    async missing() {
      const missing = await rowsNotIn(
        clickhouse,
        "shadow_runs",
        "shadow_request_id",
        withinRetention(rows, clock.now()),
      );
      return missing.length === 0 ? undefined : (target) => insert(missing, target);
    },
  };
}
