/** Every record of an org with its payload, for an export: in pages, so that memory holds a few megabytes. */
import type { Clock } from "../../base/clock.ts";
import type { ClickHouse } from "../clickhouse/client.ts";
import type { WaitForInserts } from "../clickhouse/inserted-until.ts";

export interface RecordsDeps {
  readonly clickhouse: Pick<ClickHouse, "rows">;
  readonly clock: Clock;
  /** Days for which an org keeps payloads now. */
  readonly retentionDays: (orgId: string) => number;
  readonly waitForInserts: WaitForInserts;
}

/** With payloads of 64 KB each way: 13 MB. */
const PAGE_ROWS = 100;

interface Row {
  readonly request_id: string;
  readonly ts_ms: number;
}

interface Payload {
  readonly request_id: string;
  readonly request: string;
  readonly response: string;
}

/**
 * The columns of docs/analytics.md by their names, with `request` and `response` where they are kept.
 * @param missing is told before the first row, and only where calls that ended from then on (milliseconds since 1970) may be missing;
 *   what it throws ends the reading
 * @throws WeirError `analytics_unavailable`
 */
export async function* recordsOf(
  { clickhouse, clock, retentionDays, waitForInserts }: RecordsDeps,
  orgId: string,
  missing: (sinceMs: number) => void,
): AsyncGenerator<object> {
  const missingSinceMs = await waitForInserts();
  if (missingSinceMs !== undefined) missing(missingSinceMs);
  const keptMs = Math.min(retentionDays(orgId), 400) * 86_400_000;
  let after = { ms: 0, id: "" };
  for (;;) {
    const rows = await clickhouse.rows<Row>(PAGE, { org: orgId, ...after, limit: PAGE_ROWS });
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined) return;
    const payloads = await clickhouse.rows<Payload>(PAYLOADS, {
      org: orgId,
      from: Math.max(first.ts_ms, clock.now() - keptMs),
      until: last.ts_ms,
      ids: rows.map((row) => row.request_id),
      now: Math.floor(clock.now() / 1000),
    });
    const byId = new Map(payloads.map((payload) => [payload.request_id, payload]));
    for (const { ts_ms: _, ...row } of rows) yield { ...row, ...byId.get(row.request_id) };
    if (rows.length < PAGE_ROWS) return;
    after = { ms: last.ts_ms, id: last.request_id };
  }
}

const PAGE = `
  SELECT * EXCEPT (spool_run, spool_batch, spool_repaired), toUnixTimestamp64Milli(ts) AS ts_ms FROM requests
  WHERE org_id = {org:String} AND ts >= fromUnixTimestamp64Milli({ms:Int64})
    AND (ts > fromUnixTimestamp64Milli({ms:Int64}) OR request_id > {id:String})
  ORDER BY org_id, ts, request_id LIMIT {limit:UInt32}`;

const PAYLOADS = `
  SELECT request_id, request, response FROM payloads
  WHERE org_id = {org:String} AND request_id IN {ids:Array(String)} AND expires_at > {now:DateTime('UTC')}
    AND ts BETWEEN fromUnixTimestamp64Milli({from:Int64}) AND fromUnixTimestamp64Milli({until:Int64})`;
