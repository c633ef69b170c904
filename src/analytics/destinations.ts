/** The tables that a batch of records goes into, and how each of them is completed where an insertion is in doubt. */
import type { Clock } from "../clock.ts";
import { PAYLOAD_COLUMNS } from "../record/columns.ts";
import {
  BatchWriters,
  type IdentifiedRow,
  identified,
  type LaidOut,
  layOut,
  MARKED_COLUMNS,
  type TableRows,
} from "./batch.ts";
import type { BatchRows } from "./batch-queue.ts";
import type { ClickHouse, Target } from "./client.ts";
import type { Destination } from "./delivery.ts";
import type { Finisher } from "./finisher.ts";
import { insertMonths, missingMonths, ROLL_UPS, type RollUp } from "./rollups.ts";
import { among, kept, rowsNotIn } from "./row-lookup.ts";

export interface RecordDelivery {
  readonly clickhouse: ClickHouse;
  readonly finisher: Finisher;
  readonly clock: Clock;
  readonly batch: BatchRows;
  readonly laidOut: LaidOut;
}

/** Payloads first: a record that is seen has its payload. Roll-ups last: they are summed up from the records. */
export function recordDestinations(delivery: RecordDelivery): Destination[] {
  let looked: Promise<IdentifiedRow[]> | undefined;
  const rows = async () => {
    looked ??= identified(delivery.batch.rows);
    return kept(await looked, delivery.clock.now());
  };
  return [
    payloadsOf(delivery, rows),
    requestsOf(delivery, rows),
    ...ROLL_UPS.map((rollUp) => rollUpOf(delivery, rollUp, rows)),
  ];
}

type Rows = () => Promise<IdentifiedRow[]>;

/** @returns whether there was anything to insert */
async function insert(
  clickhouse: ClickHouse,
  [table, columns]: readonly [string, readonly string[]],
  { parts, rows }: TableRows,
  target: Target,
): Promise<boolean> {
  if (rows > 0) await clickhouse.insert(table, columns, parts, target);
  return rows > 0;
}

const PAYLOADS = ["payloads", PAYLOAD_COLUMNS] as const;
const REQUESTS = ["requests", MARKED_COLUMNS] as const;

function payloadsOf({ clickhouse, finisher, clock, laidOut }: RecordDelivery, rows: Rows): Destination {
  return {
    table: "payloads",
    insert: async (target) => void (await insert(clickhouse, PAYLOADS, laidOut.payloads, target)),
    async missing() {
      const nowMs = clock.now();
      const unexpired = (await rows()).filter(({ expiresMs = 0 }) => expiresMs > nowMs);
      const lost = await rowsNotIn(clickhouse, "payloads", "request_id", unexpired);
      if (lost.length === 0) return undefined;
      return async (target) => {
        // One that cannot be redacted is not laid out.
        const again = await layOut(lost.map(bytesOf), new BatchWriters(), finisher, UNMARKED);
        return await insert(clickhouse, PAYLOADS, again.payloads, target);
      };
    },
  };
}

/** Only rows of `requests` are marked. */
const UNMARKED = { run: "", number: 0, isRepaired: false };

function requestsOf({ clickhouse, finisher, batch, laidOut }: RecordDelivery, rows: Rows): Destination {
  return {
    table: "requests",
    insert: async (target) => void (await insert(clickhouse, REQUESTS, laidOut.requests, target)),
    async missing() {
      const lost = await rowsNotIn(clickhouse, "requests", "request_id", await rows());
      if (lost.length === 0) return undefined;
      return async (target) => {
        // The views leave these rows out: whether a roll-up has them already, only the roll-up itself can tell.
        const mark = { run: batch.batch.run, number: batch.batch.number, isRepaired: true };
        const again = await layOut(lost.map(bytesOf), new BatchWriters(), finisher, mark);
        return await insert(clickhouse, REQUESTS, again.requests, target);
      };
    },
  };
}

const bytesOf = ({ bytes }: IdentifiedRow): Uint8Array => bytes;

function rollUpOf({ clickhouse, batch: { batch } }: RecordDelivery, rollUp: RollUp, rows: Rows): Destination {
  return {
    table: rollUp.table,
    async missing() {
      const all = await rows();
      if (all.length === 0) return undefined;
      const ofBatch = `spool_run = {run:String} AND spool_batch = {number:UInt64} AND ${among(all)}`;
      const which = { run: batch.run, number: batch.number };
      const lost = await clickhouse.rows<{ month: number }>(missingMonths(rollUp, ofBatch), which);
      if (lost.length === 0) return undefined;
      const months = lost.map(({ month }) => month);
      return async (target) => {
        await clickhouse.insertSelect(insertMonths(rollUp, ofBatch), { ...which, months }, target);
        return true;
      };
    },
  };
}
