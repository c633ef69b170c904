/**
 * A record as one row of the outbox: the rows of `requests` and `payloads` that come of it, in RowBinary, so that
 * whoever inserts them need not understand them. Where a payload must still be redacted, the row says by which rules.
 * Rows outlive the release that wrote them: a layout once released is never changed, a new one gets a new version.
 *
 * Layout, numbers little-endian: version u8, flags u8, checksum u32 (CRC-32 of all behind it but the payload's text),
 * then as u32 the bytes of the identity, of the columns that redaction leaves alone, of the whole row of `requests`, of
 * the rules. Then that row (it begins with the identity, then those columns), the rules as JSON, and the row of
 * `payloads`, where there is one.
 */
import { crc32 } from "node:zlib";
import type { CallRecord, PayloadState, Redaction } from "../record.ts";
import { readColumns, writeColumns, writeIdentity } from "./columns.ts";
import { RowBinaryReader, RowBinaryWriter } from "./row-binary.ts";

const ROW_VERSION = 2;

const FLAGS = 1;
const CHECKSUM = 2;
const IDENTITY = 6;
const COLUMNS = 10;
const REQUESTS = 14;
const RULES = 18;
const HEAD_BYTES = 22;

/** Something in it must be redacted before it may be inserted. */
const UNFINISHED = 1;
const HAS_REQUEST = 2;
const HAS_RESPONSE = 4;

const DAY_MS = 86_400_000;
const NOTHING = new Uint8Array(0);

/** Rows are cut from pages: a buffer each would cost more than writing them, and many times over to the collector. */
const PAGE_BYTES = 256 * 1024;
let page = Buffer.alloc(0);
let used = 0;
const writer = new RowBinaryWriter(16 * 1024);

/** @returns bytes that nobody writes to again; they hold no reference to the record. */
export function encodeRow(record: CallRecord): Buffer {
  const { request, response, attempts } = record;
  const ruled = record.redact.presets.length + record.redact.patterns.length > 0;
  const hasPayload = record.payloadState === "available" && (request ?? response) !== undefined;
  const hasMessages = attempts.some(({ upstreamMessage }) => upstreamMessage !== "");
  writer.rewind(0);
  writer.u8(ROW_VERSION);
  writer.u8(
    (ruled && (hasPayload || hasMessages) ? UNFINISHED : 0) |
      (hasPayload && request !== undefined ? HAS_REQUEST : 0) |
      (hasPayload && response !== undefined ? HAS_RESPONSE : 0),
  );
  writer.skip(HEAD_BYTES - CHECKSUM);
  writeIdentity(writer, record);
  writer.patch32(IDENTITY, writer.length - HEAD_BYTES);
  writeColumns(writer, record);
  writer.patch32(COLUMNS, writer.length - HEAD_BYTES);
  writeChanging(writer, record.payloadState, attempts.map(messageOf));
  const rulesAt = writer.length;
  writer.patch32(REQUESTS, rulesAt - HEAD_BYTES);
  if (ruled) writer.raw(rulesOf(record.redact));
  writer.patch32(RULES, writer.length - rulesAt);
  let checked = writer.length;
  if (hasPayload) {
    writeIdentity(writer, record);
    checked = writer.length;
    writePayload(
      writer,
      record.tsMs + record.retentionDays * DAY_MS,
      request ?? NOTHING,
      response ?? NOTHING,
    );
  }
  const bytes = writer.take();
  writer.patch32(CHECKSUM, crc32(bytes.subarray(IDENTITY, checked)));
  const row = room(bytes.length);
  row.set(bytes);
  return row;
}

const messageOf = ({ upstreamMessage }: CallRecord["attempts"][number]): string => upstreamMessage;

/** The last two columns of `requests`: what redaction may change. */
export function writeChanging(
  out: RowBinaryWriter,
  payloadState: PayloadState,
  upstreamMessages: readonly string[],
): void {
  out.text(payloadState);
  out.list(upstreamMessages, (to, message) => to.text(message));
}

/** The columns of `payloads` behind the identity. */
export function writePayload(
  out: RowBinaryWriter,
  expiresMs: number,
  request: Uint8Array,
  response: Uint8Array,
): void {
  out.second(expiresMs);
  out.bytes(request);
  out.bytes(response);
}

/** A large row has a buffer of its own, so that a page is never kept for little. */
function room(size: number): Buffer {
  if (size > PAGE_BYTES / 8) return Buffer.allocUnsafeSlow(size);
  if (used + size > page.length) {
    page = Buffer.allocUnsafeSlow(PAGE_BYTES);
    used = 0;
  }
  const row = page.subarray(used, used + size);
  used += size;
  return row;
}

/** Orgs are few beside calls, and their settings are replaced, never changed. */
const rules = new WeakMap<Redaction, Buffer>();

function rulesOf(redaction: Redaction): Buffer {
  let json = rules.get(redaction);
  if (json === undefined) {
    json = Buffer.from(JSON.stringify([redaction.presets, redaction.patterns]));
    rules.set(redaction, json);
  }
  return json;
}

/** What is inserted of a row that needs no finishing. Views of the row. */
export interface InsertableRow {
  /** Of `requests`. */
  readonly requests: Buffer;
  /** Of `payloads`; empty where nothing is kept. */
  readonly payloads: Buffer;
  /** False: it must not be inserted as it is. */
  readonly finished: boolean;
}

/** Undefined for a row that is damaged or of a version not known here. */
export function insertableRow(bytes: Uint8Array): InsertableRow | undefined {
  const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (row.length < HEAD_BYTES || row[0] !== ROW_VERSION) return undefined;
  const rulesAt = HEAD_BYTES + row.readUInt32LE(REQUESTS);
  const payloadsAt = rulesAt + row.readUInt32LE(RULES);
  const textAt = payloadsAt < row.length ? payloadsAt + row.readUInt32LE(IDENTITY) : row.length;
  if (crc32(row.subarray(IDENTITY, textAt)) !== row.readUInt32LE(CHECKSUM)) return undefined;
  if (textAt < row.length && !isText(row, textAt)) return undefined;
  return {
    requests: row.subarray(HEAD_BYTES, rulesAt),
    payloads: row.subarray(payloadsAt),
    finished: ((row[FLAGS] ?? 0) & UNFINISHED) === 0,
  };
}

/** Whether expiry, request and response reach from here to the very end: text may be damaged, the next row may not. */
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

/** A row taken apart for the one who finishes it. Views of the row. */
export interface RowParts {
  /** The columns that both tables begin with. */
  readonly identity: Buffer;
  /** Of `requests`, all that redaction leaves alone; begins with the identity. */
  readonly columns: Buffer;
  readonly payloadState: PayloadState;
  /** `[presets, patterns]` as JSON; empty where nothing is to be redacted. */
  readonly rules: string;
  /** One an attempt. */
  readonly upstreamMessages: readonly string[];
  /** When the payload goes; 0 where there is none. */
  readonly expiresMs: number;
  readonly request: Uint8Array | undefined;
  readonly response: Uint8Array | undefined;
}

/** Undefined for a row that is damaged or of a version not known here. */
export function rowParts(bytes: Uint8Array): RowParts | undefined {
  const insertable = insertableRow(bytes);
  if (insertable === undefined) return undefined;
  const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const { requests, payloads } = insertable;
  const flags = row[FLAGS] ?? 0;
  const identity = requests.subarray(0, row.readUInt32LE(IDENTITY));
  const columns = requests.subarray(0, row.readUInt32LE(COLUMNS));
  const rulesAt = HEAD_BYTES + requests.length;
  const changing = new RowBinaryReader(requests, columns.length);
  const payload = payloads.length === 0 ? undefined : new RowBinaryReader(payloads, identity.length);
  return {
    identity,
    columns,
    payloadState: changing.text() as PayloadState,
    rules: row.toString("utf8", rulesAt, rulesAt + row.readUInt32LE(RULES)),
    upstreamMessages: changing.list((message) => message.text()),
    expiresMs: (payload?.u32() ?? 0) * 1000,
    request: given(flags & HAS_REQUEST, payload?.bytes()),
    response: given(flags & HAS_RESPONSE, payload?.bytes()),
  };
}

/** The table has no word for absent, only for empty. */
const given = (flag: number, bytes: Buffer | undefined): Buffer | undefined =>
  flag === 0 ? undefined : bytes;

/** The record as it was; undefined for a row that is damaged or of a version not known here. */
export function decodeRow(bytes: Uint8Array): CallRecord | undefined {
  const parts = rowParts(bytes);
  if (parts === undefined) return undefined;
  const { request, response, payloadState, upstreamMessages } = parts;
  const [presets, patterns] =
    parts.rules === "" ? [[], []] : (JSON.parse(parts.rules) as [string[], string[]]);
  const record = readColumns(new RowBinaryReader(parts.columns, 0));
  for (const [at, attempt] of record.attempts.entries()) attempt.upstreamMessage = upstreamMessages[at] ?? "";
  return {
    ...record,
    payloadState,
    redact: { presets, patterns },
    ...(request !== undefined && { request }),
    ...(response !== undefined && { response }),
  };
}

/** Only the id, unchecked; undefined where the bytes cannot be a row. */
export function requestIdOfRow(bytes: Uint8Array): string | undefined {
  if (bytes[0] !== ROW_VERSION) return undefined;
  try {
    const reader = new RowBinaryReader(bytes, HEAD_BYTES);
    reader.text();
    reader.u64();
    return reader.text();
  } catch {
    return undefined;
  }
}
