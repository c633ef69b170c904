/**
 * Finishes a batch of outbox rows for the analytics engine: decode, redact, write RowBinary. Runs in a worker; bytes
 * come and go by transfer. A row whose payload cannot be finished loses the payload, never the record.
 */
import { unpack } from "msgpackr";
import type { CallRecord } from "../record.ts";
import { redactor } from "./redact.ts";
import { columnNames, PAYLOAD_COLUMNS, type Payload, REQUEST_COLUMNS, writeRow } from "./row.ts";
import { RowBinary } from "./row-binary.ts";

/** Names of the values in a row, by the version that a row begins with. */
export type Layouts = Readonly<
  Record<
    number,
    {
      readonly record: readonly string[];
      readonly usage: readonly string[];
      readonly cost: readonly string[];
      readonly line: readonly string[];
      readonly attempt: readonly string[];
    }
  >
>;

export interface FinishInput {
  /** All rows, one after the other. */
  readonly bytes: Uint8Array;
  readonly lengths: Uint32Array;
  readonly layouts: Layouts;
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
  /** Positions of rows that cannot be decoded at all. */
  readonly undecodable: readonly number[];
}

const REQUESTS = columnNames(REQUEST_COLUMNS);
const PAYLOADS = columnNames(PAYLOAD_COLUMNS);
const NOTHING = new Uint8Array(0);

export function finishBatch({ bytes, lengths, layouts }: FinishInput): Finished {
  const requests = new RowBinary(lengths.length * 1024);
  const payloads = new RowBinary(bytes.length);
  const undecodable: number[] = [];
  let rows = 0;
  let payloadRows = 0;
  let payloadsLost = 0;
  let at = 0;
  for (const [position, length] of lengths.entries()) {
    const start = requests.length;
    let record: CallRecord;
    try {
      record = decode(bytes.subarray(at, at + length), layouts);
      redactMessages(record);
      writeRow(requests, REQUEST_COLUMNS, record);
    } catch {
      requests.rewind(start);
      undecodable.push(position);
      continue;
    } finally {
      at += length;
    }
    rows++;
    const payload = payloadOf(record);
    if (payload === "lost") {
      payloadsLost++;
      requests.rewind(start);
      writeRow(requests, REQUEST_COLUMNS, { ...record, payloadState: "off" });
    } else if (payload !== undefined) {
      payloadRows++;
      writeRow(payloads, PAYLOAD_COLUMNS, payload);
    }
  }
  return {
    requests: { columns: REQUESTS, bytes: requests.take(), rows },
    payloads: { columns: PAYLOADS, bytes: payloads.take(), rows: payloadRows },
    payloadsLost,
    undecodable,
  };
}

function payloadOf(record: CallRecord): Payload | "lost" | undefined {
  const { request = NOTHING, response = NOTHING, payloadState } = record;
  if (payloadState !== "available" || request.length + response.length === 0) return undefined;
  try {
    const { bytes } = redactor(record.redact);
    return { record, request: bytes(request), response: bytes(response) };
  } catch {
    // A pattern that does not compile, above all: what cannot be redacted is not stored.
    return "lost";
  }
}

/** An upstream's error message may quote the prompt: what goes from a payload goes from it too. */
function redactMessages({ attempts, redact }: CallRecord): void {
  for (const attempt of attempts) {
    if (attempt.upstreamMessage === "") continue;
    try {
      attempt.upstreamMessage = redactor(redact).text(attempt.upstreamMessage);
    } catch {
      attempt.upstreamMessage = "";
    }
  }
}

/** @throws where the bytes are no row of a known layout. */
function decode(bytes: Uint8Array, layouts: Layouts): CallRecord {
  const [version, record, usage, cost, attempts] = unpack(bytes) as [number, ...unknown[][]];
  const layout = layouts[version];
  if (layout === undefined || cost === undefined || attempts === undefined) throw new Error("not a row");
  const decoded = named(layout.record, record);
  const charge = named(layout.cost, cost);
  decoded.usage = named(layout.usage, usage);
  charge.lines = (charge.lines as unknown[][]).map((line) => named(layout.line, line));
  decoded.cost = charge;
  decoded.attempts = attempts.map((attempt) => named(layout.attempt, attempt as unknown[]));
  if (typeof decoded.requestId !== "string" || decoded.requestId === "") throw new Error("not a row");
  return decoded as unknown as CallRecord;
}

/** A plain loop, because this is most of the cost of a row. */
function named(names: readonly string[], values: readonly unknown[] = []): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (let at = 0; at < names.length; at++) object[names[at] as string] = values[at];
  return object;
}
