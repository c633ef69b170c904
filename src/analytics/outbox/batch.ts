/**
 * Separates a batch of outbox rows by table. Most rows are inserted unchanged and are only copied here; rows that need
 * redaction go through the finisher, off the event loop. A damaged row is reported and does not stop the others.
 */
import { REQUEST_COLUMNS } from "../../record/columns.ts";
import { insertableRow } from "../../record/row.ts";
import { RowBinaryReader, RowBinaryWriter } from "../../record/row-binary.ts";
import type { Finisher } from "./finisher.ts";
import type { RowIdentity } from "./row-lookup.ts";
import { inSlices } from "./row-slices.ts";

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

export interface TableRows {
  /** RowBinary rows, one after another. */
  readonly parts: readonly Uint8Array[];
  readonly rows: number;
}

export interface LaidOut {
  readonly requests: TableRows;
  readonly payloads: TableRows;
  /** Number of rows whose payload is left out because it could not be redacted. */
  readonly payloadsLost: number;
  readonly damaged: readonly Uint8Array[];
}

/** Buffers that are used again for every batch: to allocate this much memory each time costs more than the copying. */
export class BatchWriters {
  readonly requests = new RowBinaryWriter(FIRST_BYTES);
  readonly payloads = new RowBinaryWriter(FIRST_BYTES);
}

const FIRST_BYTES = 256 * 1024;

/** @returns parts that are valid until the writers are used for the next batch */
export async function layOut(
  rows: readonly Uint8Array[],
  { requests, payloads }: BatchWriters,
  finisher: Finisher,
  mark: BatchMark,
): Promise<LaidOut> {
  const tail = tailOf(mark);
  const unfinished: Uint8Array[] = [];
  const damaged: Uint8Array[] = [];
  requests.rewind(0);
  payloads.rewind(0);
  let requestRows = 0;
  let payloadRows = 0;
  await inSlices(rows, (bytes) => {
    const row = insertableRow(bytes);
    if (row === undefined) damaged.push(bytes);
    else if (!row.finished) unfinished.push(bytes);
    else {
      requests.raw(row.requests);
      requests.raw(tail);
      requestRows++;
      payloads.raw(row.payloads);
      if (row.payloads.length > 0) payloadRows++;
    }
  });
  const direct = {
    requests: { parts: [requests.take()], rows: requestRows },
    payloads: { parts: [payloads.take()], rows: payloadRows },
    payloadsLost: 0,
    damaged,
  };
  if (unfinished.length === 0) return direct;
  const finished = await finisher.finish({ ...(await joined(unfinished)), tail });
  return {
    requests: withFinished(direct.requests, finished.requests),
    payloads: withFinished(direct.payloads, finished.payloads),
    payloadsLost: finished.payloadsLost,
    damaged: [...damaged, ...finished.undecodable.flatMap((at) => unfinished[at] ?? [])],
  };
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
export async function identified(rows: readonly Uint8Array[]): Promise<IdentifiedRow[]> {
  const found: IdentifiedRow[] = [];
  await inSlices(rows, (bytes) => {
    const row = insertableRow(bytes);
    if (row !== undefined) {
      const identity = new RowBinaryReader(row.requests, 0);
      const [orgId, tsMs, id] = [identity.text(), identity.u64(), identity.text()];
      const hasPayload = row.payloads.length > 0;
      // A row of `payloads` begins with the same identity.
      const expiresMs = hasPayload ? new RowBinaryReader(row.payloads, identity.at).u32() * 1000 : undefined;
      found.push({ orgId, tsMs, id, bytes, expiresMs });
    }
  });
  return found;
}

const withFinished = (
  direct: TableRows,
  finished: { readonly bytes: Uint8Array; readonly rows: number },
): TableRows => ({
  parts: [...direct.parts, finished.bytes],
  rows: direct.rows + finished.rows,
});

/** Copies all rows into one buffer that can be transferred to a worker. */
async function joined(rows: readonly Uint8Array[]) {
  let size = 0;
  for (const row of rows) size += row.length;
  const bytes = new Uint8Array(size);
  let at = 0;
  await inSlices(rows, (row) => {
    bytes.set(row, at);
    at += row.length;
  });
  return { bytes, lengths: Uint32Array.from(rows, (row) => row.length) };
}
