/**
 * Prepares a batch of outbox rows for ClickHouse: redacts the payloads and separates the rows by table. Runs in a worker;
 * buffers are transferred. If a payload cannot be redacted, the row is inserted without its payload.
 */
import { type RowParts, rowParts, writePayload, writeRedactable } from "../record/row.ts";
import { RowBinaryWriter } from "../record/row-binary.ts";
import { type Redactor, redactor, redactorOf } from "./redact.ts";

export interface FinishInput {
  /** All rows, one after another. */
  readonly bytes: Uint8Array;
  readonly lengths: Uint32Array;
  /** RowBinary columns to append to each row of `requests`. */
  readonly tail?: Uint8Array;
}

/** Rows of one table, ready to insert. */
interface TableRows {
  readonly bytes: Uint8Array;
  readonly rows: number;
}

export interface Finished {
  readonly requests: TableRows;
  readonly payloads: TableRows;
  /** Rows that are inserted without the payload they had. */
  readonly payloadsLost: number;
  /** Indexes of rows that are damaged or have an unknown layout. */
  readonly undecodable: readonly number[];
}

const NO_BYTES = new Uint8Array(0);
/** Size of a typical row of `requests`. */
const RECORD_BYTES = 1024;

export function finishBatch({ bytes, lengths, tail = NO_BYTES }: FinishInput): Finished {
  const requests = new RowBinaryWriter(lengths.length * RECORD_BYTES);
  const payloads = new RowBinaryWriter(bytes.length);
  const undecodable: number[] = [];
  let payloadRows = 0;
  let payloadsLost = 0;
  let at = 0;
  for (const [position, length] of lengths.entries()) {
    const parts = rowParts(bytes.subarray(at, at + length));
    at += length;
    if (parts === undefined) {
      undecodable.push(position);
      continue;
    }
    const redactor = redactorFor(parts);
    const kept = keepPayload(payloads, parts, redactor);
    if (kept === "written") payloadRows++;
    else if (kept === "unredactable") payloadsLost++;
    requests.raw(parts.columns);
    // An upstream's message may quote the prompt: it is redacted by the same rules.
    const messages = parts.upstreamMessages.map((message) => redacted(message, redactor));
    writeRedactable(requests, kept === "unredactable" ? "off" : parts.payloadState, messages);
    requests.raw(tail);
  }
  return {
    requests: { bytes: requests.take(), rows: lengths.length - undecodable.length },
    payloads: { bytes: payloads.take(), rows: payloadRows },
    payloadsLost,
    undecodable,
  };
}

/** Undefined if the rules do not compile: then nothing may be stored. */
function redactorFor({ rules }: RowParts): Redactor | undefined {
  try {
    return rules === "" ? redactor(NO_RULES) : redactorOf(rules);
  } catch {
    return undefined;
  }
}

const NO_RULES = { presets: [], patterns: [] };

function keepPayload(
  out: RowBinaryWriter,
  { identity, expiresMs, request, response }: RowParts,
  redactor: Redactor | undefined,
): "none" | "unredactable" | "written" {
  if (request === undefined && response === undefined) return "none";
  if (redactor === undefined) return "unredactable";
  const start = out.length;
  try {
    out.raw(identity);
    writePayload(out, expiresMs, redactor.bytes(request ?? NO_BYTES), redactor.bytes(response ?? NO_BYTES));
    return "written";
  } catch {
    out.rewind(start);
    return "unredactable";
  }
}

function redacted(message: string, redactor: Redactor | undefined): string {
  if (message === "" || redactor === undefined) return "";
  try {
    return redactor.text(message);
  } catch {
    return "";
  }
}
