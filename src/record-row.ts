/**
 * A record as one row of the outbox. Nearly all of it is RowBinary as the analytics table takes it, so that whoever
 * inserts the row need not understand it; behind that stand what redaction may still change, and the payload.
 * Rows outlive the release that wrote them: a layout once released is never changed, a new one gets a new version.
 *
 * Layout, numbers little-endian: version u8, checksum u32 (CRC-32 of all behind it but the payload), bytes of the
 * identity u32, of the columns (identity included) u32, of what may change u32, expiry of the payload in seconds u32,
 * bytes of request and response u32 each (plus one; zero where there is none). Then columns; payload state, redaction
 * rules and upstream messages; request; response.
 */
import { crc32 } from "node:zlib";
import type { CallRecord, PayloadState, Redaction } from "./record.ts";
import { readColumns, writeColumns, writeIdentity } from "./record-columns.ts";
import { RowBinaryReader, RowBinaryWriter } from "./row-binary.ts";

export const ROW_VERSION = 1;

const CHECKSUM = 1;
const IDENTITY = 5;
const COLUMNS = 9;
const CHANGING = 13;
const EXPIRES = 17;
const REQUEST = 21;
const RESPONSE = 25;
const HEAD_BYTES = 29;

const DAY_MS = 86_400_000;
const LAST_SECOND = 0xffff_ffff;

/** Rows are cut from pages: a buffer each would cost more than writing them, and many times over to the collector. */
const PAGE_BYTES = 256 * 1024;
let page = Buffer.alloc(0);
let used = 0;
const writer = new RowBinaryWriter(16 * 1024);

/** @returns bytes that nobody writes to again; they hold no reference to the record. */
export function encodeRow(record: CallRecord): Buffer {
  const { request, response } = record;
  writer.rewind(0);
  writer.u8(ROW_VERSION);
  writer.skip(HEAD_BYTES - 1);
  writeIdentity(writer, record);
  writer.patch32(IDENTITY, writer.length - HEAD_BYTES);
  writeColumns(writer, record);
  const changing = writer.length;
  writer.patch32(COLUMNS, changing - HEAD_BYTES);
  writer.text(record.payloadState);
  writer.text(rulesOf(record.redact));
  writer.varint(record.attempts.length);
  for (const { upstreamMessage } of record.attempts) writer.text(upstreamMessage);
  const end = writer.length;
  writer.patch32(CHANGING, end - changing);
  const expires = Math.floor((record.tsMs + record.retentionDays * DAY_MS) / 1000);
  writer.patch32(EXPIRES, Math.max(0, Math.min(expires, LAST_SECOND)));
  writer.patch32(REQUEST, request === undefined ? 0 : request.length + 1);
  writer.patch32(RESPONSE, response === undefined ? 0 : response.length + 1);
  writer.patch32(CHECKSUM, crc32(writer.take().subarray(IDENTITY, end)));
  const row = room(end + (request?.length ?? 0) + (response?.length ?? 0));
  row.set(writer.take());
  if (request !== undefined) row.set(request, end);
  if (response !== undefined) row.set(response, row.length - response.length);
  return row;
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
const rules = new WeakMap<Redaction, string>();

function rulesOf(redaction: Redaction): string {
  let text = rules.get(redaction);
  if (text === undefined) {
    text = JSON.stringify([redaction.presets, redaction.patterns]);
    rules.set(redaction, text);
  }
  return text;
}

/** A row taken apart for the one who finishes it. Views of the row. */
export interface RowParts {
  /** `org_id`, `ts`, `request_id`: the first columns of both tables. */
  readonly identity: Buffer;
  /** Of `requests`, all but the last two; begins with the identity. */
  readonly columns: Buffer;
  readonly payloadState: PayloadState;
  /** `[presets, patterns]` as JSON. */
  readonly rules: string;
  /** One an attempt. */
  readonly upstreamMessages: readonly string[];
  /** When the payload goes, in seconds since 1970. */
  readonly expiresSecond: number;
  readonly request: Uint8Array | undefined;
  readonly response: Uint8Array | undefined;
}

/** Undefined for a row that is damaged or of a version not known here. */
export function rowParts(bytes: Uint8Array): RowParts | undefined {
  const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (row.length < HEAD_BYTES || row[0] !== ROW_VERSION) return undefined;
  const changing = HEAD_BYTES + row.readUInt32LE(COLUMNS);
  const end = changing + row.readUInt32LE(CHANGING);
  const [request, response] = [row.readUInt32LE(REQUEST), row.readUInt32LE(RESPONSE)];
  const responseAt = end + Math.max(0, request - 1);
  if (responseAt + Math.max(0, response - 1) !== row.length) return undefined;
  if (crc32(row.subarray(IDENTITY, end)) !== row.readUInt32LE(CHECKSUM)) return undefined;
  const reader = new RowBinaryReader(row, changing);
  return {
    identity: row.subarray(HEAD_BYTES, HEAD_BYTES + row.readUInt32LE(IDENTITY)),
    columns: row.subarray(HEAD_BYTES, changing),
    payloadState: reader.text() as PayloadState,
    rules: reader.text(),
    upstreamMessages: reader.list((message) => message.text()),
    expiresSecond: row.readUInt32LE(EXPIRES),
    request: request === 0 ? undefined : row.subarray(end, responseAt),
    response: response === 0 ? undefined : row.subarray(responseAt),
  };
}

/** The record as it was; undefined for a row that is damaged or of a version not known here. */
export function decodeRow(bytes: Uint8Array): CallRecord | undefined {
  const parts = rowParts(bytes);
  if (parts === undefined) return undefined;
  const { request, response, payloadState, upstreamMessages } = parts;
  const [presets, patterns] = JSON.parse(parts.rules) as [string[], string[]];
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
