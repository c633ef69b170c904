/**
 * Reads records and payloads from ClickHouse. A record is a `CallRecord` again, without the payload and its redaction
 * rules, so that answers are made the same way from the outbox and from ClickHouse.
 */
import { madeAtMs } from "../../base/ids.ts";
import { DAY_MS } from "../../base/time.ts";
import { LAYOUT, REQUEST_COLUMNS, readRecord } from "../../record/columns.ts";
import type { CallRecord } from "../../record/record.ts";
import { RowBinaryReader } from "../../record/row-binary.ts";
import type { ClickHouse } from "../clickhouse/client.ts";

export interface StoredPayload {
  readonly request: string;
  readonly response: string;
}

/**
 * One request of an org, or undefined. The time in the id limits the search to a few blocks. If the row is not there (an
 * id made by another clock), the index on ids is used.
 */
export async function storedRequest(
  clickhouse: ClickHouse,
  orgId: string,
  requestId: string,
): Promise<CallRecord | undefined> {
  const madeMs = madeAtMs(requestId);
  const near =
    "AND ts BETWEEN fromUnixTimestamp64Milli({from:Int64}) AND fromUnixTimestamp64Milli({to:Int64})";
  const where = "org_id = {org:String} AND request_id = {id:String}";
  const params = { org: orgId, id: requestId, from: madeMs - DAY_MS, to: madeMs + DAY_MS };
  return (
    (await firstRecord(clickhouse, `${where} ${near}`, params)) ??
    (await firstRecord(clickhouse, where, params))
  );
}

const RECORD = REQUEST_COLUMNS.map((name) => `\`${name}\``).join(", ");

async function firstRecord(
  clickhouse: ClickHouse,
  where: string,
  params: Record<string, unknown>,
): Promise<CallRecord | undefined> {
  const pieces = await clickhouse.bytes(`SELECT ${RECORD} FROM requests WHERE ${where} LIMIT 1`, params);
  const row = Buffer.concat(pieces);
  if (row.length === 0) return undefined;
  return { ...readRecord(new RowBinaryReader(row, 0), LAYOUT), redact: { presets: [], patterns: [] } };
}

/** The payload of a stored request; undefined if it has expired or was erased. */
export async function storedPayload(
  clickhouse: ClickHouse,
  record: Pick<CallRecord, "orgId" | "requestId" | "tsMs">,
  nowMs: number,
): Promise<StoredPayload | undefined> {
  const [row] = await clickhouse.rows<StoredPayload>(
    `SELECT request, response FROM payloads
     WHERE org_id = {org:String} AND ts = fromUnixTimestamp64Milli({ts:Int64}) AND request_id = {id:String}
       AND expires_at > {now:DateTime('UTC')} LIMIT 1`,
    { org: record.orgId, ts: record.tsMs, id: record.requestId, now: Math.floor(nowMs / 1000) },
  );
  return row;
}
