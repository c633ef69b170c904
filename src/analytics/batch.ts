/**
 * Lays a batch of outbox rows out by table. Most rows are inserted as they are and only copied here; those that hold
 * something to redact go through the finisher, off the event loop. A damaged row is named and holds nobody up.
 */
import { insertableRow } from "../record-row.ts";
import { RowBinaryWriter } from "../row-binary.ts";
import type { Finisher } from "./finisher.ts";

export interface TableRows {
  /** RowBinary, one after the other. */
  readonly parts: readonly Uint8Array[];
  readonly rows: number;
}

export interface LaidOut {
  readonly requests: TableRows;
  readonly payloads: TableRows;
  /** Rows without the payload they had: it could not be redacted. */
  readonly payloadsLost: number;
  readonly damaged: readonly Uint8Array[];
}

/** Where batches are laid out, one after the other: memory of this size, new each time, costs more than the copying. */
export class BatchWriters {
  readonly requests = new RowBinaryWriter(FIRST_BYTES);
  readonly payloads = new RowBinaryWriter(FIRST_BYTES);
}

const FIRST_BYTES = 256 * 1024;
/** Rows copied between two turns of the event loop: about half a millisecond. */
const SLICE = 500;

/** @returns parts that are valid until the writers are used for the next batch. */
export async function layOut(
  rows: readonly Uint8Array[],
  { requests, payloads }: BatchWriters,
  finisher: Finisher,
): Promise<LaidOut> {
  const unfinished: Uint8Array[] = [];
  const damaged: Uint8Array[] = [];
  requests.rewind(0);
  payloads.rewind(0);
  let requestRows = 0;
  let payloadRows = 0;
  for (const [position, bytes] of rows.entries()) {
    const row = insertableRow(bytes);
    if (row === undefined) damaged.push(bytes);
    else if (!row.finished) unfinished.push(bytes);
    else {
      requests.raw(row.requests);
      requestRows++;
      payloads.raw(row.payloads);
      if (row.payloads.length > 0) payloadRows++;
    }
    if (position % SLICE === SLICE - 1) await new Promise((resolve) => setImmediate(resolve));
  }
  const direct = {
    requests: { parts: [requests.take()], rows: requestRows },
    payloads: { parts: [payloads.take()], rows: payloadRows },
    payloadsLost: 0,
    damaged,
  };
  if (unfinished.length === 0) return direct;
  const finished = await finisher.finish(joined(unfinished));
  return {
    requests: both(direct.requests, finished.requests),
    payloads: both(direct.payloads, finished.payloads),
    payloadsLost: finished.payloadsLost,
    damaged: [...damaged, ...finished.undecodable.flatMap((at) => unfinished[at] ?? [])],
  };
}

const both = (
  direct: TableRows,
  finished: { readonly bytes: Uint8Array; readonly rows: number },
): TableRows => ({
  parts: [...direct.parts, finished.bytes],
  rows: direct.rows + finished.rows,
});

/** All rows in one buffer that can be transferred to a worker. */
function joined(rows: readonly Uint8Array[]) {
  let size = 0;
  for (const row of rows) size += row.length;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const row of rows) {
    bytes.set(row, at);
    at += row.length;
  }
  return { bytes, lengths: Uint32Array.from(rows, (row) => row.length) };
}
