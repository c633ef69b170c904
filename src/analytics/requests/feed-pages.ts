/**
 * Pages of an org's records, newest first. A statement in the order of time opens every part of the table, and clients mostly ask
 * for new records. So in a large table the statement is first bounded to a day and to a month before the page's end, and has no
 * bound only where these hold too few rows.
 */

import type { Clock } from "../../base/clock.ts";
import type { Caller } from "../../base/operation/operation.ts";
import { DAY_MS } from "../../base/time.ts";
import { readValues, type Values } from "../../record/columns.ts";
import type { ClickHouse } from "../clickhouse/client.ts";
import { localOf } from "../clickhouse/cluster.ts";
import type { QueryBudget } from "../clickhouse/query-budget.ts";
import { environmentCondition } from "./record-access.ts";
import { type RequestFilters, sqlOf } from "./request-filters.ts";
import { LIST_COLUMNS } from "./wire.ts";

export interface FeedDeps {
  readonly budget: QueryBudget;
  readonly clock: Clock;
  /** For the size of the table, which is no org's question. */
  readonly clickhouse: Pick<ClickHouse, "rows">;
  /** Rows of a large table. Default: 5,000,000. */
  readonly largeRows?: number | undefined;
}

/** Where a page begins: after this row. */
export interface FeedPosition {
  readonly tsMs: number;
  readonly requestId: string;
}

const SPANS_MS = [DAY_MS, 30 * DAY_MS];
const LARGE_ROWS = 5_000_000;
const SIZE_KNOWN_MS = 60_000;

export type FeedPages = (
  caller: Caller,
  filters: RequestFilters,
  after: FeedPosition | undefined,
  limit: number,
) => Promise<Values[]>;

/** @returns a function that reads up to `limit` rows after a position */
export function feedPages({ budget, clock, clickhouse, largeRows = LARGE_ROWS }: FeedDeps): FeedPages {
  let size = { atMs: Number.NEGATIVE_INFINITY, rows: Promise.resolve(0) };

  async function isLarge(): Promise<boolean> {
    if (clock.monotonic() - size.atMs > SIZE_KNOWN_MS)
      size = { atMs: clock.monotonic(), rows: rowsIn(clickhouse).catch(() => 0) };
    return (await size.rows) >= largeRows;
  }

  return async (caller, filters, after, limit) => {
    const reader = budget.of(caller.orgId);
    const { where, params } = conditions(filters, after);
    const read = async (fromMs?: number) => {
      const bound = fromMs === undefined ? "" : " AND ts >= fromUnixTimestamp64Milli({span_from:Int64})";
      const pieces = await reader.bytes(
        `SELECT ${LIST_COLUMNS.join(", ")} FROM requests WHERE org_id = {org:String}${environmentCondition(caller)}${where}${bound}
         ORDER BY org_id DESC, ts DESC, request_id DESC LIMIT {limit:UInt32}`,
        { ...params, org: caller.orgId, limit, ...(fromMs !== undefined && { span_from: fromMs }) },
      );
      return readValues(Buffer.concat(pieces), LIST_COLUMNS);
    };
    if (await isLarge()) {
      const sinceMs = filters.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(filters.since);
      const untilMs = filters.until === undefined ? clock.now() : Date.parse(filters.until);
      const endMs = Math.min(after?.tsMs ?? clock.now(), untilMs);
      for (const spanMs of SPANS_MS.filter((ms) => endMs - ms > sinceMs)) {
        const rows = await read(endMs - spanMs);
        if (rows.length === limit) return rows;
      }
    }
    return await read();
  };
}

async function rowsIn(clickhouse: Pick<ClickHouse, "rows">): Promise<number> {
  const [row] = await clickhouse.rows<{ n: number }>(
    `SELECT toUInt64(sum(total_rows)) AS n FROM system.tables
      WHERE database = currentDatabase() AND name IN ('requests', '${localOf("requests")}')`,
  );
  return row?.n ?? 0;
}

/** The filters' conditions, and where the page begins. */
function conditions(filters: RequestFilters, after: FeedPosition | undefined) {
  const { conditions: parts, params } = sqlOf(filters);
  addAfter(after, parts, params);
  return { where: parts.map((part) => ` AND ${part}`).join(""), params };
}

/** Adds conditions on `requests`, newest first, and their parameters: only rows after this one. */
export function addAfter(
  after: FeedPosition | undefined,
  conditions: string[],
  params: Record<string, unknown>,
): void {
  if (after === undefined) return;
  // The first condition lets the primary key skip rows already read; the second decides within a millisecond.
  conditions.push("ts <= fromUnixTimestamp64Milli({after_ms:Int64})");
  conditions.push("(ts < fromUnixTimestamp64Milli({after_ms:Int64}) OR request_id < {after_id:String})");
  params.after_ms = after.tsMs;
  params.after_id = after.requestId;
}
