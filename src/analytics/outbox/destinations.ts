/** The tables that a batch of records is inserted into, and how missing rows of each are found and inserted. */
import type { Clock } from "../../base/clock.ts";
import { PAYLOAD_COLUMNS } from "../../record/columns.ts";
import type { ClickHouse, Target } from "../clickhouse/client.ts";
import { insertMonths, missingMonths, ROLL_UPS, type RollUp } from "../clickhouse/rollups.ts";
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
import type { Destination } from "./delivery.ts";
import type { Finisher } from "./finisher.ts";
import { orgAndTimeCondition, rowsNotIn, withinRetention } from "./row-lookup.ts";

export interface RecordDelivery {
  readonly clickhouse: ClickHouse;
  readonly finisher: Finisher;
  readonly clock: Clock;
  readonly batch: BatchRows;
  readonly laidOut: LaidOut;
}

/** Payloads first: once a record is visible, its payload is too. Roll-ups last: they are computed from the records. */
export function recordDestinations(delivery: RecordDelivery): Destination[] {
  let identifiedRows: Promise<IdentifiedRow[]> | undefined;
  const rows = async () => {
    identifiedRows ??= identified(delivery.batch.rows);
    return withinRetention(await identifiedRows, delivery.clock.now());
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
      const missing = await rowsNotIn(clickhouse, "payloads", "request_id", unexpired);
      if (missing.length === 0) return undefined;
      return async (target) => {
        // A payload that cannot be redacted is left out.
        const repaired = await layOut(missing.map(bytesOf), new BatchWriters(), finisher, UNMARKED);
        return await insert(clickhouse, PAYLOADS, repaired.payloads, target);
      };
    },
  };
}

/** Only rows of `requests` have mark columns. */
const UNMARKED = { run: "", number: 0, isRepaired: false };

function requestsOf({ clickhouse, finisher, batch, laidOut }: RecordDelivery, rows: Rows): Destination {
  return {
    table: "requests",
    insert: async (target) => void (await insert(clickhouse, REQUESTS, laidOut.requests, target)),
    async missing() {
      const missing = await rowsNotIn(clickhouse, "requests", "request_id", await rows());
      if (missing.length === 0) return undefined;
      return async (target) => {
        // The views skip these rows: only the roll-up itself shows whether it has counted them already.
        const mark = { run: batch.batch.run, number: batch.batch.number, isRepaired: true };
        const repaired = await layOut(missing.map(bytesOf), new BatchWriters(), finisher, mark);
        return await insert(clickhouse, REQUESTS, repaired.requests, target);
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
      const ofBatch = `spool_run = {run:String} AND spool_batch = {number:UInt64} AND ${orgAndTimeCondition(all)}`;
      const which = { run: batch.run, number: batch.number };
      const missing = await clickhouse.rows<{ month: number }>(missingMonths(rollUp, ofBatch), which);
      if (missing.length === 0) return undefined;
      const months = missing.map(({ month }) => month);
      return async (target) => {
        await clickhouse.insertSelect(insertMonths(rollUp, ofBatch), { ...which, months }, target);
        return true;
      };
    },
  };
}
