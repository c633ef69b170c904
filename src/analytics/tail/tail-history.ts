/** What was settled after a call that a client of the tail has seen, from ClickHouse, in the order of settling. */
import type { Clock } from "../../base/clock.ts";
import type { Caller } from "../../base/operation/operation.ts";
import { readValues, type Values } from "../../record/columns.ts";
import type { QueryBudget, Reader } from "../clickhouse/query-budget.ts";
import type { LookupDeps } from "../requests/lookup-operations.ts";
import { environmentCondition, maySeeRecord } from "../requests/record-access.ts";
import { type RequestFilters, sqlOf } from "../requests/request-filters.ts";
import { storedRequest } from "../requests/stored.ts";
import { LIST_COLUMNS, listItem } from "../requests/wire.ts";
import { TailRow } from "./tail-feed.ts";

export interface TailHistoryDeps extends Pick<LookupDeps, "clickhouse" | "outbox" | "others"> {
  readonly budget: QueryBudget;
  readonly clock: Pick<Clock, "now">;
}

/** Where a client is. */
export type TailPosition = Pick<TailRow, "settledAtUs"> & { readonly requestId: string };

const PAGE = 500;
const FLUSH_MS = 1000;
/** All listeners of an org may come back at once. */
const LISTENERS = 1000;
/** A call settled later has not arrived earlier than so long before: it is longer than any call may take. */
const LONGEST_CALL_US = 86_400_000_000;
/** A page is looked for in a longer time only where a shorter one has too few rows. The last one has no end. */
const HOUR_US = 3_600_000_000;
const WINDOWS_US = [HOUR_US, 24 * HOUR_US, 24 * 16 * HOUR_US];
const WITHIN =
  "settled_at < fromUnixTimestamp64Micro({until_us:Int64}) AND ts < fromUnixTimestamp64Micro({to_us:Int64})";
const COLUMNS = [...LIST_COLUMNS, "settled_at", "environment"];

/** Undefined if the caller may not see such a call, or it is not kept any more. */
export async function positionOf(
  { clickhouse, outbox, others }: TailHistoryDeps,
  caller: Caller,
  requestId: string,
): Promise<TailPosition | undefined> {
  const stored = () => storedRequest(clickhouse, caller.orgId, requestId);
  let record = outbox.recent(requestId) ?? (await stored());
  // The client may have seen it at the cell that served it, which has not inserted it yet.
  if (record === undefined && others !== undefined) {
    await others.flush(FLUSH_MS);
    record = await stored();
  }
  if (record === undefined || !maySeeRecord(caller, record)) return undefined;
  return { requestId, settledAtUs: record.settledAtUs };
}

/** @returns the next rows in the order of settling, and whether there may be more */
export async function rowsAfter(
  { budget, clock }: Pick<TailHistoryDeps, "budget" | "clock">,
  caller: Caller,
  filters: RequestFilters,
  position: TailPosition,
): Promise<{ readonly rows: TailRow[]; readonly isLast: boolean }> {
  const reader = budget.of(caller.orgId, { waiting: LISTENERS });
  const pastUs = clock.now() * 1000 - position.settledAtUs;
  // Most clients come back after seconds: one that reaches until now needs no end.
  for (const window of WINDOWS_US.filter((us) => us < pastUs)) {
    const rows = await rowsWithin(reader, caller, filters, position, window);
    if (rows.length === PAGE) return { rows, isLast: false };
  }
  const rows = await rowsWithin(reader, caller, filters, position, Number.POSITIVE_INFINITY);
  return { rows, isLast: rows.length < PAGE };
}

async function rowsWithin(
  reader: Reader,
  caller: Caller,
  filters: RequestFilters,
  { settledAtUs, requestId }: TailPosition,
  windowUs: number,
): Promise<TailRow[]> {
  const { conditions, params } = sqlOf(filters);
  const isBounded = Number.isFinite(windowUs);
  const where = [...conditions, ...(isBounded ? [WITHIN] : [])]
    .map((condition) => ` AND ${condition}`)
    .join("");
  // Conditions on `ts` and on `settled_at` alone let the primary key and the index of `settled_at` skip older rows.
  const pieces = await reader.bytes(
    `SELECT ${COLUMNS.join(", ")} FROM requests
     WHERE org_id = {org:String}${environmentCondition(caller)}${where}
       AND ts >= fromUnixTimestamp64Micro({from_us:Int64})
       AND settled_at >= fromUnixTimestamp64Micro({after_us:Int64})
       AND (settled_at > fromUnixTimestamp64Micro({after_us:Int64}) OR request_id > {after_id:String})
     ORDER BY settled_at, request_id LIMIT {page:UInt32}`,
    {
      ...params,
      org: caller.orgId,
      page: PAGE,
      after_id: requestId,
      after_us: settledAtUs,
      from_us: settledAtUs - LONGEST_CALL_US,
      ...(isBounded && { until_us: settledAtUs + windowUs, to_us: settledAtUs + windowUs + LONGEST_CALL_US }),
    },
  );
  return readValues(Buffer.concat(pieces), COLUMNS).map((values) => rowOf(caller.orgId, values));
}

function rowOf(orgId: string, { settled_at, environment, ...item }: Values): TailRow {
  return new TailRow({
    orgId,
    settledAtUs: settled_at as number,
    item: listItem(item),
    environment: environment as TailRow["environment"],
  });
}
