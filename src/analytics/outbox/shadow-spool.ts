/**
 * Inserts shadow runs from their queue into ClickHouse. They are samples, not money: while ClickHouse is unreachable, the oldest
 * are dropped.
 */
import { rowsNotIn, withinRetention } from "./row-lookup.ts";
import { type IdentifiedRun, identified, insertable, SHADOW_COLUMNS } from "./shadow-rows.ts";
import type { Spool } from "./spool.ts";
import { type TableSpoolDeps, tableSpool } from "./table-spool.ts";

/** Runs until it is stopped. */
export function startShadowSpool(deps: TableSpoolDeps): Spool {
  const { clickhouse, clock } = deps;
  const spool = tableSpool<IdentifiedRun>(deps, {
    table: "shadow_runs",
    columns: SHADOW_COLUMNS,
    what: "shadow runs",
    tokenPrefix: "weir-shadows",
    bounds: { rows: 1000, bytes: 8 * 1024 * 1024 },
    decoded: identified,
    encoded: insertable,
    missing: (rows) =>
      rowsNotIn(clickhouse, "shadow_runs", "shadow_request_id", withinRetention(rows, clock.now())),
  });
  spool.start();
  return spool;
}
