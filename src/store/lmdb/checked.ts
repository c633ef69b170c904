/**
 * Rows with a checksum: LMDB's pages have none, so a flipped bit in a balance would be served. Format: 0xc1, crc32 of
 * key and value (u32, little-endian), the value as MessagePack, preceded by 0xc1 and the row's version (u8) if that is
 * above 1. No MessagePack value begins with 0xc1, which distinguishes rows without a version, and older rows without a
 * checksum.
 */
import { crc32 } from "node:zlib";
import { pack, RESERVE_START_SPACE, unpack } from "msgpackr";
import { crcOfText, crcOfView } from "../short-crc.ts";
import { LaterRelease } from "../tables/later-release.ts";
import type { RowVersions } from "../tables/table.ts";
import { takeWritten, writeList } from "./short-lists.ts";

const MARK = 0xc1;
const HEAD = 5;
/** The 0xc1 mark and the version. */
const VERSION_BYTES = 2;

/** `text`: the key as JSON, so that a row under a wrong key is detected too. */
export function packChecked(text: string, value: unknown, version = 1): Uint8Array {
  const head = version === 1 ? HEAD : HEAD + VERSION_BYTES;
  const list = writeList(value, head);
  if (list !== undefined) {
    const { view, from, to } = list;
    view.setUint8(from, MARK);
    if (version !== 1) {
      view.setUint8(from + HEAD, MARK);
      view.setUint8(from + HEAD + 1, version);
    }
    view.setUint32(from + 1, crcOfView(view, from + HEAD, to, crcOfText(text)), true);
    return takeWritten();
  }
  const bytes = pack(value, RESERVE_START_SPACE | head);
  bytes[0] = MARK;
  if (version !== 1) {
    bytes[HEAD] = MARK;
    bytes[HEAD + 1] = version;
  }
  bytes.writeUInt32LE(crc32(bytes.subarray(HEAD), crc32(text)), 1);
  return bytes;
}

/** A row as `packChecked` writes it, without the checksum: what cells send each other, who check it otherwise. */
export function packContent(value: unknown, version = 1): Uint8Array {
  if (version === 1) return pack(value);
  const bytes = pack(value, RESERVE_START_SPACE | VERSION_BYTES);
  bytes[0] = MARK;
  bytes[1] = version;
  return bytes;
}

/** The reverse. @throws LaterRelease */
export function unpackContent<V>(
  table: string,
  text: string,
  bytes: Uint8Array,
  versions?: RowVersions<V>,
): V {
  const version = bytes[0] === MARK ? (bytes[1] as number) : 1;
  const row = decoded(table, text, version === 1 ? bytes : bytes.subarray(VERSION_BYTES));
  return upgraded(table, text, { row, version }, versions);
}

/** Like `packChecked`, for a value of bytes. */
export function sealBytes(text: string, value: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(HEAD + value.length);
  bytes[0] = MARK;
  bytes.set(value, HEAD);
  bytes.writeUInt32LE(crc32(value, crc32(text)), 1);
  return bytes;
}

/** Some bytes written before rows had checksums begin with the mark by chance. */
export const openBytes = (text: string, bytes: Uint8Array): Uint8Array =>
  isChecked(bytes) && isWhole(text, bytes) ? bytes.subarray(HEAD) : bytes;

/**
 * @param versions upgrades of the table's rows; undefined: their format never changed
 * @throws DamagedRow where the checksum does not match; LaterRelease
 */
export function unpackChecked<V>(
  table: string,
  text: string,
  bytes: Uint8Array,
  versions?: RowVersions<V>,
): V {
  const row = unpackAsWritten(table, text, bytes);
  return upgraded(table, text, { row, version: versionOf(bytes) }, versions);
}

function upgraded<V>(
  table: string,
  text: string,
  { row, version }: { readonly row: unknown; readonly version: number },
  versions: RowVersions<V> | undefined,
): V {
  const newest = versions?.version ?? 1;
  if (version === newest) return row as V;
  if (version > newest || versions === undefined) {
    throw new LaterRelease(`row ${text.slice(0, 200)} of ${table}`);
  }
  return versions.upgrade(row, version);
}

/** The row in the format of the version that wrote it. @throws DamagedRow where the checksum does not match */
export function unpackAsWritten(table: string, text: string, bytes: Uint8Array): unknown {
  if (!isWhole(text, bytes)) throw new DamagedRow(table, text);
  if (!isChecked(bytes)) return decoded(table, text, bytes);
  return decoded(table, text, bytes.subarray(versionOf(bytes) === 1 ? HEAD : HEAD + VERSION_BYTES));
}

const versionOf = (bytes: Uint8Array): number =>
  isChecked(bytes) && bytes[HEAD] === MARK ? (bytes[HEAD + 1] as number) : 1;

export const isChecked = (bytes: Uint8Array): boolean => bytes[0] === MARK;

/** Whether the checksum matches, if the row has one. A row whose mark alone is missing is damaged too. */
export function isWhole(text: string, bytes: Uint8Array): boolean {
  if (bytes.length < HEAD) return !isChecked(bytes);
  const sum = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1, true);
  return (crc32(bytes.subarray(HEAD), crc32(text)) === sum) === isChecked(bytes);
}

function decoded(table: string, text: string, bytes: Uint8Array): unknown {
  try {
    return unpack(bytes);
  } catch (cause) {
    throw new DamagedRow(table, text, { cause });
  }
}

class DamagedRow extends Error {
  constructor(table: string, text: string, options?: ErrorOptions) {
    const key = text.length > 200 ? `${text.slice(0, 200)}…` : text;
    super(
      `weir.lmdb is damaged: row ${key} of ${table} cannot be read; "weir check --data" looks at everything`,
      options,
    );
  }
}
