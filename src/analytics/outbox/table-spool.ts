/**
 * Inserts the rows of a queue into one table of ClickHouse, in a spool of their own: a failure of that table does not hold up the
 * rows of others. Rows are decoded and encoded in slices, between which the event loop may run.
 */
import { nextTurn } from "../../base/clock.ts";
import { during } from "../../base/turns/long-work.ts";
import type { ClickHouse, Target } from "../clickhouse/client.ts";
import type { Batch, BatchRows } from "./batch-queue.ts";
import { type Destination, deliver } from "./delivery.ts";
import { SLICE } from "./row-slices.ts";
import { Spool, type SpoolOptions } from "./spool.ts";

export interface TableSpoolDeps extends Pick<SpoolOptions, "queue" | "clock" | "log" | "ageMs"> {
  /** The methods that a delivery needs. */
  readonly clickhouse: Pick<ClickHouse, "insert" | "rows" | "ended" | "synced">;
}

/** Where the rows go, and how they are read. */
export interface SpooledTable<Row> extends Pick<SpoolOptions, "what" | "tokenPrefix" | "bounds"> {
  readonly table: string;
  /** In the order of {@link SpooledTable.encoded}. */
  readonly columns: readonly string[];
  /** @returns undefined for a row that cannot be read: it is left out, as it must not hold up those behind it */
  decoded(bytes: Uint8Array): Row | undefined;
  /** The rows as `INSERT INTO … FORMAT RowBinary` takes them. */
  encoded(rows: readonly Row[]): Uint8Array;
  /** Those of the rows that the table does not contain, as far as that can be known. */
  missing(rows: readonly Row[]): Promise<readonly Row[]>;
  /** Told of the rows that are left out, before the others are inserted; perhaps again when the batch is tried again. */
  leftOut?(batch: Batch, rows: readonly Uint8Array[]): Promise<void>;
}

/** A spool that is not started yet. */
export const tableSpool = <Row>(deps: TableSpoolDeps, into: SpooledTable<Row>): Spool =>
  new Spool({ ...deps, ...into, insertBatch: (batch) => insertBatch(deps, into, batch) });

async function insertBatch<Row>(
  { clickhouse, log }: TableSpoolDeps,
  into: SpooledTable<Row>,
  { batch, slices, isNew }: BatchRows,
): Promise<number> {
  const rows: Row[] = [];
  const damaged: Uint8Array[] = [];
  const decode = (bytes: Uint8Array) => {
    const row = into.decoded(bytes);
    if (row === undefined) damaged.push(bytes);
    else rows.push(row);
  };
  for await (const slice of slices()) during("insertion", () => slice.forEach(decode));
  if (damaged.length > 0) {
    await into.leftOut?.(batch, damaged);
    log.warn({ rows: damaged.length }, `rows of ${into.what} cannot be read; left out`);
  }
  const destinations = [destination(clickhouse, into, rows)];
  await deliver(clickhouse, { token: batch.token, isDoubtful: !isNew, destinations });
  return rows.length;
}

function destination<Row>(
  clickhouse: TableSpoolDeps["clickhouse"],
  into: SpooledTable<Row>,
  rows: readonly Row[],
): Destination {
  const { table, columns } = into;
  const insert = async (these: readonly Row[], target: Target) => {
    // All rows of a batch may be damaged, or dropped while they waited.
    if (these.length === 0) return false;
    const parts: Uint8Array[] = [];
    for (let at = 0; at < these.length; at += SLICE.rows) {
      const slice = these.slice(at, at + SLICE.rows);
      parts.push(during("insertion", () => into.encoded(slice)));
      await nextTurn();
    }
    await clickhouse.insert(table, columns, parts, target);
    return true;
  };
  return {
    table,
    insert: async (target) => void (await insert(rows, target)),
    async missing() {
      const missing = await into.missing(rows);
      return missing.length === 0 ? undefined : (target) => insert(missing, target);
    },
  };
}
