/** The tables that a batch of records is inserted into, and how missing rows of each are found and inserted. */
import type { Clock } from "../../base/clock.ts";
import { PAYLOAD_COLUMNS } from "../../record/columns.ts";
import type { ClickHouse, Target } from "../clickhouse/client.ts";
import { insertMonths, missingMonths, ROLL_UPS, type RollUp } from "../clickhouse/rollups.ts";
import {
  type BatchMark,
  dropped,
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
import { inSlices } from "./row-slices.ts";

export interface RecordDelivery {
  readonly clickhouse: ClickHouse;
  readonly finisher: Finisher;
  readonly clock: Clock;
  readonly batch: BatchRows;
  readonly laidOut: LaidOut;
}

/** Payloads first: once a record is visible, its payload is too. Roll-ups last: they are computed from the records. */
export function recordDestinations(delivery: RecordDelivery): Destination[] {
  const { clock, batch } = delivery;
  let identifiedRows: Promise<IdentifiedRow[]> | undefined;
  const rows = async () => {
    identifiedRows ??= identified(batch.slices());
    return withinRetention(await identifiedRows, clock.now());
  };
  const unexpired = async () => {
    const nowMs = clock.now();
    return (await rows()).filter(({ expiresMs = 0 }) => expiresMs > nowMs);
  };
  // The views skip these rows: only the roll-up itself shows whether it has counted them already.
  const repaired = { run: batch.batch.run, number: batch.batch.number, isRepaired: true };
  return [
    recordsInto("payloads", PAYLOAD_COLUMNS, delivery, unexpired, UNMARKED),
    recordsInto("requests", MARKED_COLUMNS, delivery, rows, repaired),
    ...ROLL_UPS.map((rollUp) => rollUpOf(delivery, rollUp, rows)),
  ];
}

/** Only rows of `requests` have mark columns. */
const UNMARKED: BatchMark = { run: "", number: 0, isRepaired: false };

type Rows = () => Promise<IdentifiedRow[]>;

/**
 * @param rows those of the batch that belong into the table
 * @param mark of missing rows
 */
function recordsInto(
  table: "payloads" | "requests",
  columns: readonly string[],
  { clickhouse, finisher, laidOut }: RecordDelivery,
  rows: Rows,
  mark: BatchMark,
): Destination {
  /** @returns whether there was anything to insert */
  const insert = async (laid: TableRows, target: Target) => {
    if (laid.rows > 0) await clickhouse.insert(table, columns, laid.staged, target);
    return laid.rows > 0;
  };
  return {
    table,
    insert: async (target) => void (await insert(laidOut[table], target)),
    async missing() {
      const missing = await rowsNotIn(clickhouse, table, "request_id", await rows());
      if (missing.length === 0) return undefined;
      return async (target) => {
        const bytes = missing.map((row) => row.bytes);
        // A payload that cannot be redacted is left out.
        const repaired = await layOut(inSlices(bytes), { stage: clickhouse.stage, finisher, mark });
        try {
          return await insert(repaired[table], target);
        } finally {
          await dropped(repaired);
        }
      };
    },
  };
}

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
