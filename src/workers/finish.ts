/**
 * Finishes a batch of outbox rows for the analytics engine: redacts the payloads, and lays the rows out by table. Runs
 * in a worker; bytes come and go by transfer. A row whose payload cannot be redacted loses the payload, never the record.
 */
import { PAYLOAD_COLUMNS, REQUEST_COLUMNS } from "../record-columns.ts";
import { type RowParts, rowParts } from "../record-row.ts";
import { RowBinaryWriter } from "../row-binary.ts";
import { type Redactor, redactorOf } from "./redact.ts";

export interface FinishInput {
  /** All rows, one after the other. */
  readonly bytes: Uint8Array;
  readonly lengths: Uint32Array;
}

/** Rows of one table, ready to insert. */
export interface TableRows {
  /** `INSERT INTO t (columns) FORMAT RowBinary`. */
  readonly columns: string;
  readonly bytes: Uint8Array;
  readonly rows: number;
}

export interface Finished {
  readonly requests: TableRows;
  readonly payloads: TableRows;
  /** Rows inserted without the payload they had. */
  readonly payloadsLost: number;
  /** Positions of rows that are damaged or of a version not known here. */
  readonly undecodable: readonly number[];
}

const names = (columns: readonly string[]): string => columns.map((name) => `\`${name}\``).join(", ");
const REQUESTS = names(REQUEST_COLUMNS);
const PAYLOADS = names(PAYLOAD_COLUMNS);
const NOTHING = new Uint8Array(0);
/** Of a usual record: columns, and with them the answer's share of the head. */
const RECORD_BYTES = 1024;

export function finishBatch({ bytes, lengths }: FinishInput): Finished {
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
    const kept = writePayload(payloads, parts, redactor);
    if (kept === "written") payloadRows++;
    else if (kept === "lost") payloadsLost++;
    requests.raw(parts.columns);
    requests.text(kept === "lost" ? "off" : parts.payloadState);
    // An upstream's message may quote the prompt: what goes from a payload goes from it too.
    requests.list(parts.upstreamMessages, (out, message) => out.text(redacted(message, redactor)));
  }
  return {
    requests: { columns: REQUESTS, bytes: requests.take(), rows: lengths.length - undecodable.length },
    payloads: { columns: PAYLOADS, bytes: payloads.take(), rows: payloadRows },
    payloadsLost,
    undecodable,
  };
}

/** Undefined where a pattern does not compile, above all: what cannot be redacted is not stored. */
function redactorFor({ rules }: RowParts): Redactor | undefined {
  try {
    return redactorOf(rules);
  } catch {
    return undefined;
  }
}

function writePayload(
  out: RowBinaryWriter,
  { identity, payloadState, expiresSecond, request = NOTHING, response = NOTHING }: RowParts,
  redactor: Redactor | undefined,
): "none" | "lost" | "written" {
  if (payloadState !== "available" || request.length + response.length === 0) return "none";
  if (redactor === undefined) return "lost";
  const start = out.length;
  try {
    out.raw(identity);
    out.u32(expiresSecond);
    out.bytes(redactor.bytes(request));
    out.bytes(redactor.bytes(response));
    return "written";
  } catch {
    out.rewind(start);
    return "lost";
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
