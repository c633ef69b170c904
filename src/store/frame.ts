/**
 * A journal frame: the writes of one group, packed into a buffer that is used again and again, so that a commit
 * allocates nothing. Layout, little-endian: frame number (f64), then for each write flags (u8), length and bytes of the
 * table's name (u8), of the key as JSON (u16), of the value (u32).
 */
import type { Key } from "lmdb";
import { HEAD_BYTES } from "./journal.ts";

/** One write. `value` undefined: the key is removed. */
export interface Write {
  readonly table: string;
  readonly key: Key;
  /** The key as JSON: what it is found by in memory, and its form in the journal. */
  readonly text: string;
  readonly value: Uint8Array | undefined;
  /** Most likely removed again before LMDB would need it; see `Pending`. */
  readonly shortLived: boolean;
}

const REMOVED = 1;
const SHORT_LIVED = 2;
const NUMBER_BYTES = 8;
const START = HEAD_BYTES + NUMBER_BYTES;
const FIXED_BYTES = 8;
const FIRST_BYTES = 256 * 1024;
/** A buffer that one large group has blown up is not kept. */
const KEEP_BYTES = 4 * 1024 * 1024;

export class FrameWriter {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #at = START;

  add({ table, text, value, shortLived }: Write): void {
    // UTF-8 takes at most three bytes for each unit of a string.
    this.#reserve(FIXED_BYTES + table.length * 3 + text.length * 3 + (value?.length ?? 0));
    const buffer = this.#buffer;
    let at = this.#at;
    buffer[at++] = (value === undefined ? REMOVED : 0) | (shortLived ? SHORT_LIVED : 0);
    const name = buffer.write(table, at + 1);
    buffer[at] = name;
    at += 1 + name;
    const key = buffer.write(text, at + 2);
    buffer.writeUInt16LE(key, at);
    at += 2 + key;
    buffer.writeUInt32LE(value?.length ?? 0, at);
    at += 4;
    if (value !== undefined) buffer.set(value, at);
    this.#at = at + (value?.length ?? 0);
  }

  /** The frame under this number, behind room for the journal's head; valid until the next `add`. */
  take(number: number): Buffer {
    this.#buffer.writeDoubleLE(number, HEAD_BYTES);
    return this.#buffer.subarray(0, this.#at);
  }

  /** Begins the next frame. */
  clear(): void {
    if (this.#buffer.length > KEEP_BYTES) this.#buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.#at = START;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#at + bytes));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}

export const frameNumber = (frame: Buffer): number => frame.readDoubleLE(0);

export function* frameWrites(frame: Buffer): Generator<Write> {
  let at = NUMBER_BYTES;
  while (at < frame.length) {
    const flags = frame.readUInt8(at);
    const name = frame.readUInt8(at + 1);
    at += 2;
    const table = frame.toString("utf8", at, at + name);
    at += name;
    const keyBytes = frame.readUInt16LE(at);
    const text = frame.toString("utf8", at + 2, at + 2 + keyBytes);
    at += 2 + keyBytes;
    const length = frame.readUInt32LE(at);
    at += 4;
    const value = (flags & REMOVED) === 0 ? frame.subarray(at, at + length) : undefined;
    at += length;
    yield { table, key: JSON.parse(text) as Key, text, value, shortLived: (flags & SHORT_LIVED) !== 0 };
  }
}
