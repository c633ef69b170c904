/**
 * Separates a batch of outbox rows by table. Most rows are inserted unchanged and are only copied here; rows that need
 * redaction go through the finisher, off the event loop. A damaged row is reported and does not stop the others.
 */
import { during } from "../../base/turns/long-work.ts";
import { REQUEST_COLUMNS } from "../../record/columns.ts";
import { insertableRow } from "../../record/row.ts";
import { RowBinaryReader, RowBinaryWriter } from "../../record/row-binary.ts";
import type { StagedRows } from "../clickhouse/staged-rows.ts";
import type { Finisher } from "./finisher.ts";
import type { RowIdentity } from "./row-lookup.ts";
import { inSlices, type RowSlices } from "./row-slices.ts";

/** The columns of `requests` that name the batch which inserted the row. */
export interface BatchMark {
  readonly run: string;
  readonly number: number;
  /** True for a row that is inserted a second time: the views of the roll-ups skip it. */
  readonly isRepaired: boolean;
}

/** Columns of a row of `requests` as inserted: the record's columns, then the mark. */
export const MARKED_COLUMNS: readonly string[] = [
  ...REQUEST_COLUMNS,
  "spool_run",
  "spool_batch",
  "spool_repaired",
];

/** Rows of one table, and how many they are. */
export interface TableRows {
  readonly staged: StagedRows;
  readonly rows: number;
}

export interface LaidOut {
  readonly requests: TableRows;
  readonly payloads: TableRows;
  /** Number of rows whose payload is left out because it could not be redacted. */
  readonly payloadsLost: number;
  readonly damaged: readonly Uint8Array[];
}

/** Where the rows of a batch go, and what becomes of those that need redaction. */
export interface Layout {
  /** Makes a place for rows of one table. */
  readonly stage: () => StagedRows;
  readonly finisher: Finisher;
  readonly mark: BatchMark;
}

const FIRST_BYTES = 256 * 1024;

/**
 * Lays out the rows of a batch in two stages, one for each table.
 * @param slices rows that need not last longer than their slice
 * @throws Error of the stages or of the finisher; the rows that were laid out by then are removed
 */
export async function layOut(slices: RowSlices, layout: Layout): Promise<LaidOut> {
  const [requests, payloads] = [new Laying(layout.stage()), new Laying(layout.stage())];
  try {
    return await laidOut(slices, requests, payloads, layout);
  } catch (error) {
    await dropped({ requests, payloads });
    throw error;
  }
}

/** Removes the rows of a batch from where they were laid out. */
export async function dropped({ requests, payloads }: Pick<LaidOut, "requests" | "payloads">): Promise<void> {
  await Promise.all([requests.staged.drop(), payloads.staged.drop()]);
}

async function laidOut(
  slices: RowSlices,
  requests: Laying,
  payloads: Laying,
  { finisher, mark }: Layout,
): Promise<LaidOut> {
  const tail = tailOf(mark);
  const unfinished: Uint8Array[] = [];
  const damaged: Uint8Array[] = [];
  const layRow = (bytes: Uint8Array) => {
    const row = insertableRow(bytes);
    if (row === undefined) damaged.push(new Uint8Array(bytes));
    else if (!row.finished) unfinished.push(new Uint8Array(bytes));
    else {
      requests.writer.raw(row.requests);
      requests.writer.raw(tail);
      requests.rows++;
      payloads.writer.raw(row.payloads);
      if (row.payloads.length > 0) payloads.rows++;
    }
  };
  for await (const slice of slices) {
    during("insertion", () => {
      for (const bytes of slice) layRow(bytes);
    });
    await requests.stageWritten();
    await payloads.stageWritten();
  }
  if (unfinished.length === 0) return { requests, payloads, payloadsLost: 0, damaged };
  const finished = await finisher.finish({ ...(await joined(unfinished)), tail });
  await requests.add(finished.requests);
  await payloads.add(finished.payloads);
  return {
    requests,
    payloads,
    payloadsLost: finished.payloadsLost,
    damaged: [...damaged, ...finished.undecodable.flatMap((at) => unfinished[at] ?? [])],
  };
}

/** Rows of one table that are written in memory a slice at a time. */
class Laying implements TableRows {
  readonly staged: StagedRows;
  readonly writer = new RowBinaryWriter(FIRST_BYTES);
  rows = 0;

  constructor(staged: StagedRows) {
    this.staged = staged;
  }

  async stageWritten(): Promise<void> {
    if (this.writer.length > 0) await this.staged.add(this.writer.take());
    this.writer.rewind(0);
  }

  async add({ bytes, rows }: { readonly bytes: Uint8Array; readonly rows: number }): Promise<void> {
    await this.staged.add(bytes);
    this.rows += rows;
  }
}

function tailOf({ run, number, isRepaired }: BatchMark): Uint8Array {
  const tail = new RowBinaryWriter(0);
  tail.text(run);
  tail.u64(number);
  tail.bool(isRepaired);
  return tail.take();
}

/** An outbox row with the values that identify it in ClickHouse. */
export interface IdentifiedRow extends RowIdentity {
  readonly bytes: Uint8Array;
  /** When its payload expires; undefined if it has none. */
  readonly expiresMs: number | undefined;
}

/** The identities of the rows; damaged rows are left out. */
export async function identified(slices: RowSlices): Promise<IdentifiedRow[]> {
  const found: IdentifiedRow[] = [];
  const identify = (bytes: Uint8Array) => {
    const row = insertableRow(bytes);
    if (row !== undefined) {
      const identity = new RowBinaryReader(row.requests, 0);
      const [orgId, tsMs, id] = [identity.text(), identity.u64(), identity.text()];
      const hasPayload = row.payloads.length > 0;
      // A row of `payloads` begins with the same identity.
      const expiresMs = hasPayload ? new RowBinaryReader(row.payloads, identity.at).u32() * 1000 : undefined;
      found.push({ orgId, tsMs, id, bytes, expiresMs });
    }
  };
  for await (const slice of slices) during("insertion", () => slice.forEach(identify));
  return found;
}

/** Copies all rows into one buffer that can be transferred to a worker. */
async function joined(rows: readonly Uint8Array[]) {
  let size = 0;
  for (const row of rows) size += row.length;
  const bytes = new Uint8Array(size);
  let at = 0;
  for await (const slice of inSlices(rows)) {
    during("insertion", () => {
      for (const row of slice) {
        bytes.set(row, at);
        at += row.length;
      }
    });
  }
  return { bytes, lengths: Uint32Array.from(rows, (row) => row.length) };
}
