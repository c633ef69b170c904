/**
 * Rows with a checksum: LMDB's pages have none, and a flipped bit in a balance would be served. Form: 0xc1, crc32 of key and
 * value (u32, little-endian), the value as MessagePack. No MessagePack value begins with 0xc1, so rows of before, which have no
 * checksum, are told apart; they are read as they are.
 */
import { crc32 } from "node:zlib";
import { pack, RESERVE_START_SPACE, unpack } from "msgpackr";

const MARK = 0xc1;
const HEAD = 5;

/** `text`: the key as JSON, so that a row under a wrong key is noticed too. */
export function packChecked(text: string, value: unknown): Uint8Array {
  const bytes = pack(value, RESERVE_START_SPACE | HEAD);
  bytes[0] = MARK;
  bytes.writeUInt32LE(crc32(bytes.subarray(HEAD), crc32(text)), 1);
  return bytes;
}

/** The same for a value that is bytes. */
export function sealBytes(text: string, value: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(HEAD + value.length);
  bytes[0] = MARK;
  bytes.set(value, HEAD);
  bytes.writeUInt32LE(crc32(value, crc32(text)), 1);
  return bytes;
}

/** Of bytes written before rows had checksums some begin with the mark by chance. */
export const openBytes = (text: string, bytes: Uint8Array): Uint8Array =>
  isChecked(bytes) && isWhole(text, bytes) ? bytes.subarray(HEAD) : bytes;

/** @throws DamagedRow where the checksum does not match. */
export function unpackChecked(table: string, text: string, bytes: Uint8Array): unknown {
  if (!isWhole(text, bytes)) throw new DamagedRow(table, text);
  return decoded(table, text, isChecked(bytes) ? bytes.subarray(HEAD) : bytes);
}

export const isChecked = (bytes: Uint8Array): boolean => bytes[0] === MARK;

/** Whether the checksum matches, where the row has one. A row whose checksum matches and whose mark is missing is damaged too. */
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

export class DamagedRow extends Error {
  constructor(table: string, text: string, options?: ErrorOptions) {
    const key = text.length > 200 ? `${text.slice(0, 200)}…` : text;
    super(
      `weir.lmdb is damaged: row ${key} of ${table} cannot be read; "weir check --data" looks at everything`,
      options,
    );
  }
}
