/**
 * A record as one row of the outbox. It contains its rows of `requests` and `payloads` in RowBinary, so that they can be
 * inserted without being decoded. If the payload must still be redacted, the row contains the rules. Rows are kept longer
 * than a release: a row of an earlier layout is converted to the current one when it is read.
 *
 * Format, numbers little-endian: layout of the columns u8, flags u8, checksum u32 (CRC-32 of everything after it except the
 * payload's text), then as u32 the number of bytes of the identity, of the columns that redaction does not change, of the
 * whole row of `requests`, and of the rules. Then that row (it begins with the identity, then those columns), the rules as
 * JSON, and the row of `payloads`, if there is one.
 */

import { crc32 } from "node:zlib";
import { DAY_MS } from "../base/time.ts";
import { FIXED, IDENTITY, LAYOUT, REDACTABLE, readRecord } from "./columns.ts";
import { FIRST_LAYOUT } from "./field.ts";
import type { AttemptRecord, CallRecord, PayloadState, RecordedError, Redaction } from "./record.ts";
import { RowBinaryReader, RowBinaryWriter } from "./row-binary.ts";

const FLAGS_AT = 1;
const CHECKSUM_AT = 2;
const IDENTITY_AT = 6;
const COLUMNS_AT = 10;
const REQUESTS_AT = 14;
const RULES_AT = 18;
const HEAD_BYTES = 22;

/** The row must be redacted before it is inserted. */
const UNFINISHED = 1;
const HAS_REQUEST = 2;
const HAS_RESPONSE = 4;

const NO_BYTES = new Uint8Array(0);

/**
 * Rows are written into pages: a buffer per row would cost more than to write the row, and far more garbage collection. A row is needed
 * until it is in the journal, so a page of a few rows is free before V8 takes it for long-lived; pages of 256 KB were not, and some 30 MB
 * of them waited for a full collection.
 */
const PAGE_BYTES = 32 * 1024;
/** A large row gets its own buffer, so that no page is kept in memory for a small part of it. */
const LARGE_BYTES = PAGE_BYTES / 2;
/** A row without its payload takes about so many. */
const USUAL_BYTES = 4 * 1024;
const pages = new RowBinaryWriter(PAGE_BYTES);
const large = new RowBinaryWriter(16 * 1024);

/** A writer with space for a usual row with so many bytes of payload. */
function writerFor(payloadBytes: number): RowBinaryWriter {
  const needed = USUAL_BYTES + payloadBytes;
  if (needed > LARGE_BYTES) {
    large.rewind(0);
    return large;
  }
  // A row that was longer than it seemed has made it grow.
  if (pages.bytes.length !== PAGE_BYTES || pages.at + needed > PAGE_BYTES)
    pages.goOnIn(Buffer.allocUnsafeSlow(PAGE_BYTES));
  return pages;
}

/** @returns bytes that are not written to again; they hold no reference to the record */
export function encodeRow(record: CallRecord): Uint8Array {
  const { request, response, redact } = record;
  const hasRules = redact.presets.length > 0 || redact.patterns.length > 0;
  const hasPayload = record.payloadState === "available" && (request ?? response) !== undefined;
  const [asked, answered] = hasPayload ? [request ?? NO_BYTES, response ?? NO_BYTES] : [NO_BYTES, NO_BYTES];
  const to = writerFor(asked.length + answered.length);
  const start = to.at;
  to.skip(HEAD_BYTES);
  IDENTITY.write(to, record);
  const identityBytes = to.at - start - HEAD_BYTES;
  FIXED.write(to, record);
  const columnsBytes = to.at - start - HEAD_BYTES;
  REDACTABLE.write(to, record);
  const rulesAt = to.at;
  if (hasRules) to.raw(rulesOf(redact));
  const rulesBytes = to.at - rulesAt;
  if (hasPayload) to.again(start + HEAD_BYTES, identityBytes);
  const checked = to.at;
  if (hasPayload) writePayload(to, record.tsMs + record.retentionDays * DAY_MS, asked, answered);
  const { view, memory } = to;
  const isUnfinished =
    hasRules && (hasPayload || record.errorDetails !== "" || record.attempts.some(hasMessage));
  view.setUint8(start, LAYOUT);
  view.setUint8(
    start + FLAGS_AT,
    (isUnfinished ? UNFINISHED : 0) |
      (hasPayload && request !== undefined ? HAS_REQUEST : 0) |
      (hasPayload && response !== undefined ? HAS_RESPONSE : 0),
  );
  view.setUint32(start + IDENTITY_AT, identityBytes, true);
  view.setUint32(start + COLUMNS_AT, columnsBytes, true);
  view.setUint32(start + REQUESTS_AT, rulesAt - start - HEAD_BYTES, true);
  view.setUint32(start + RULES_AT, rulesBytes, true);
  const summed = new Uint8Array(memory, start + IDENTITY_AT, checked - start - IDENTITY_AT);
  view.setUint32(start + CHECKSUM_AT, crc32(summed), true);
  const row = new Uint8Array(memory, start, to.at - start);
  if (to === pages && row.length <= LARGE_BYTES) return row;
  to.rewind(start);
  return row.slice();
}

const hasMessage = ({ upstreamMessage }: AttemptRecord): boolean => upstreamMessage !== "";

/** Writes the columns of `payloads` after the identity. */
export function writePayload(
  out: RowBinaryWriter,
  expiresMs: number,
  request: Uint8Array,
  response: Uint8Array,
): void {
  out.second(expiresMs);
  out.blob(request);
  out.blob(response);
}

/** Encoded rules: there are few orgs compared with calls, and their settings are replaced, never changed. */
const rules = new WeakMap<Redaction, Buffer>();

function rulesOf(redaction: Redaction): Buffer {
  let json = rules.get(redaction);
  if (json === undefined) {
    json = Buffer.from(JSON.stringify([redaction.presets, redaction.patterns]));
    rules.set(redaction, json);
  }
  return json;
}

/** The rows to insert of an outbox row that needs no redaction. Views of the row. */
export interface InsertableRow {
  /** The row of `requests`. */
  readonly requests: Buffer;
  /** The row of `payloads`; empty if no payload is stored. */
  readonly payloads: Buffer;
  /** False if it must be redacted before it is inserted. */
  readonly finished: boolean;
}

/** Undefined if the row is damaged or has an unknown layout. */
export const insertableRow = (bytes: Uint8Array): InsertableRow | undefined => openCurrent(bytes);

/** A row of an earlier layout is converted by reading it and writing it again: it then has all columns. */
function openCurrent(bytes: Uint8Array): OpenedRow | undefined {
  if (bytes[0] === LAYOUT) return openRow(bytes);
  const record = decodeRow(bytes);
  return record && openRow(encodeRow(record));
}

interface OpenedRow extends InsertableRow {
  readonly row: Buffer;
  /** Position of the rules. */
  readonly rulesAt: number;
}

function openRow(bytes: Uint8Array): OpenedRow | undefined {
  const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (row.length < HEAD_BYTES || !isKnown(row[0])) return undefined;
  const rulesAt = HEAD_BYTES + row.readUInt32LE(REQUESTS_AT);
  const payloadsAt = rulesAt + row.readUInt32LE(RULES_AT);
  const hasPayload = payloadsAt < row.length;
  const textAt = hasPayload ? payloadsAt + row.readUInt32LE(IDENTITY_AT) : row.length;
  if (crc32(row.subarray(IDENTITY_AT, textAt)) !== row.readUInt32LE(CHECKSUM_AT)) return undefined;
  if (hasPayload && !isText(row, textAt)) return undefined;
  return {
    row,
    rulesAt,
    requests: row.subarray(HEAD_BYTES, rulesAt),
    payloads: row.subarray(payloadsAt),
    finished: ((row[FLAGS_AT] ?? 0) & UNFINISHED) === 0,
  };
}

const isKnown = (layout = 0): boolean => layout >= FIRST_LAYOUT && layout <= LAYOUT;

/**
 * Whether expiry, request and response fill the row from `at` to its end. The text is not in the checksum and may be
 * damaged, but it must not reach into the next row.
 */
function isText(row: Buffer, at: number): boolean {
  try {
    const reader = new RowBinaryReader(row, at);
    reader.u32();
    reader.skipBytes();
    reader.skipBytes();
    return reader.at === row.length;
  } catch {
    return false;
  }
}

/** The parts of a row for redaction. Views of the row. */
export interface RowParts {
  /** The columns that both tables begin with. */
  readonly identity: Buffer;
  /** The columns of `requests` that redaction does not change; they begin with the identity. */
  readonly columns: Buffer;
  readonly payloadState: PayloadState;
  /** `[presets, patterns]` as JSON; empty if nothing is to be redacted. */
  readonly rules: string;
  /** One per attempt. */
  readonly upstreamMessages: readonly string[];
  readonly error: RecordedError;
  /** When the payload expires; 0 if there is none. */
  readonly expiresMs: number;
  readonly request: Uint8Array | undefined;
  readonly response: Uint8Array | undefined;
}

/** Undefined if the row is damaged or has an unknown layout. */
export function rowParts(bytes: Uint8Array): RowParts | undefined {
  const open = openCurrent(bytes);
  if (open === undefined) return undefined;
  const { row, requests } = open;
  const columns = requests.subarray(0, row.readUInt32LE(COLUMNS_AT));
  const redactable = REDACTABLE.read(new RowBinaryReader(requests, columns.length), LAYOUT);
  return {
    identity: requests.subarray(0, row.readUInt32LE(IDENTITY_AT)),
    columns,
    payloadState: redactable.payloadState,
    error: { errorMessage: redactable.errorMessage, errorDetails: redactable.errorDetails },
    rules: rulesIn(open),
    upstreamMessages: redactable.attempts.map(({ upstreamMessage }) => upstreamMessage),
    ...payloadIn(open),
  };
}

/** Writes the last columns of `requests`, after redaction. */
export function writeRedactable(
  out: RowBinaryWriter,
  { payloadState, upstreamMessages, error }: Pick<RowParts, "payloadState" | "upstreamMessages" | "error">,
): void {
  const attempts = upstreamMessages.map((upstreamMessage) => ({ upstreamMessage }));
  const { errorMessage, errorDetails } = error;
  REDACTABLE.write(out, { payloadState, errorMessage, errorDetails, attempts });
}

const rulesIn = ({ row, rulesAt }: OpenedRow): string =>
  row.toString("utf8", rulesAt, rulesAt + row.readUInt32LE(RULES_AT));

/** Flags tell absent from empty text: the table has only empty. */
function payloadIn({ row, payloads }: OpenedRow): Pick<RowParts, "expiresMs" | "request" | "response"> {
  if (payloads.length === 0) return { expiresMs: 0, request: undefined, response: undefined };
  const from = new RowBinaryReader(payloads, row.readUInt32LE(IDENTITY_AT));
  const flags = row[FLAGS_AT] ?? 0;
  const expiresMs = from.u32() * 1000;
  const [request, response] = [from.bytes(), from.bytes()];
  return {
    expiresMs,
    request: (flags & HAS_REQUEST) === 0 ? undefined : request,
    response: (flags & HAS_RESPONSE) === 0 ? undefined : response,
  };
}

/** Reads a row; undefined if it is damaged or has an unknown layout. */
export function decodeRow(bytes: Uint8Array): CallRecord | undefined {
  const open = openRow(bytes);
  if (open === undefined) return undefined;
  const record = recordIn(open);
  if (record === undefined) return undefined;
  const { request, response } = payloadIn(open);
  const rules = rulesIn(open);
  const [presets, patterns] = rules === "" ? [[], []] : (JSON.parse(rules) as [string[], string[]]);
  return {
    ...record,
    redact: { presets, patterns },
    ...(request !== undefined && { request }),
    ...(response !== undefined && { response }),
  };
}

/** Rows of layout 3 exist with the columns of layout 4 and without them: commits between two releases wrote both. */
const TWO_FOLD = 3;

/** Undefined where no layout that the row may have fills it exactly. */
function recordIn({ row, requests }: OpenedRow): ReturnType<typeof readRecord> | undefined {
  const [layout = 0] = row;
  for (const tried of layout === TWO_FOLD ? [TWO_FOLD, TWO_FOLD + 1] : [layout]) {
    try {
      const reader = new RowBinaryReader(requests, 0);
      const record = readRecord(reader, tried);
      if (reader.at === requests.length) return record;
    } catch {
      // Its bytes end too early.
    }
  }
  return undefined;
}

/** Reads only the request id, without the checksum; undefined if the bytes cannot be a row. */
export function requestIdOfRow(bytes: Uint8Array): string | undefined {
  if (!isKnown(bytes[0])) return undefined;
  try {
    return IDENTITY.read(new RowBinaryReader(bytes, HEAD_BYTES), LAYOUT).requestId;
  } catch {
    return undefined;
  }
}
