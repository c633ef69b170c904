/**
 * A journal frame: the writes of one group, packed into a reused buffer, so that a commit allocates nothing. Layout,
 * little-endian: frame number (f64), then the writes. Each begins with its kind (u8) and the name of its table or log
 * (length u8, bytes); then follow the key as JSON (length u16, bytes) or the row number in a log (f64), and the value
 * (length u32, bytes).
 */
import type { Key } from "lmdb";
import { LaterRelease } from "../tables/later-release.ts";
import { HEAD_BYTES, TAIL_BYTES } from "./segment.ts";

/** One write. `value` undefined: the key is removed. */
export interface Write {
  readonly table: string;
  readonly key: Key;
  /** The key as JSON: used for look-ups in memory and in the journal. */
  readonly text: string;
  readonly value: Uint8Array | undefined;
}

/** One write to a log. `value` undefined: trims all rows up to this number. */
export interface LogWrite {
  readonly log: string;
  readonly number: number;
  readonly value: Uint8Array | undefined;
}

const PUT = 0;
const REMOVED = 1;
const APPENDED = 4;
const TRIMMED = 5;
const KINDS: readonly number[] = [PUT, REMOVED, APPENDED, TRIMMED];
const NUMBER_BYTES = 8;
const START = HEAD_BYTES + NUMBER_BYTES;
/** Maximum size of a write without name, key and value. */
const FIXED_BYTES = 16;
const FIRST_BYTES = 256 * 1024;
/** A buffer grown beyond this by one large group is not kept. */
const KEEP_BYTES = 4 * 1024 * 1024;

export class FrameWriter {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** A view of the same bytes: its methods are compiled to a store each. */
  #view = new DataView(this.#buffer.buffer);
  #at = START;

  add({ table, text, value }: Write): void {
    this.#begin(value === undefined ? REMOVED : PUT, table, text.length * 3 + (value?.length ?? 0));
    const key = this.#buffer.write(text, this.#at + 2);
    this.#view.setUint16(this.#at, key, true);
    this.#at += 2 + key;
    this.#value(value);
  }

  /** @returns offset of the value in the frame, from the space for its head on, bytes */
  addToLog({ log, number, value }: LogWrite): number {
    this.#begin(value === undefined ? TRIMMED : APPENDED, log, value?.length ?? 0);
    this.#view.setFloat64(this.#at, number, true);
    this.#at += 8;
    this.#value(value);
    return this.#at - (value?.length ?? 0);
  }

  /** The frame with this number, with space around it for the journal's head and tail; valid until the next `add`. */
  take(number: number): Buffer {
    this.#reserve(TAIL_BYTES);
    this.#view.setFloat64(HEAD_BYTES, number, true);
    return this.#buffer.subarray(0, this.#at + TAIL_BYTES);
  }

  /** Begins the next frame. */
  clear(): void {
    if (this.#buffer.length > KEEP_BYTES) this.#use(Buffer.allocUnsafeSlow(FIRST_BYTES));
    this.#at = START;
  }

  /** `bytes`: maximum size of key and value. */
  #begin(what: number, name: string, bytes: number): void {
    // UTF-8 takes at most three bytes per UTF-16 unit.
    this.#reserve(FIXED_BYTES + name.length * 3 + bytes);
    const length = this.#buffer.write(name, this.#at + 2);
    this.#buffer[this.#at] = what;
    this.#buffer[this.#at + 1] = length;
    this.#at += 2 + length;
  }

  #value(value: Uint8Array | undefined): void {
    this.#view.setUint32(this.#at, value?.length ?? 0, true);
    this.#at += 4;
    if (value === undefined) return;
    this.#buffer.set(value, this.#at);
    this.#at += value.length;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#at + bytes));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#use(larger);
  }

  #use(buffer: Buffer<ArrayBuffer>): void {
    this.#buffer = buffer;
    this.#view = new DataView(buffer.buffer);
  }
}

/** @throws LaterRelease for a write of another kind */
export function readFrame(frame: Buffer): { readonly writes: Write[]; readonly logWrites: LogWrite[] } {
  const writes: Write[] = [];
  const logWrites: LogWrite[] = [];
  let at = NUMBER_BYTES;
  const text = (length: number) => {
    at += length;
    return frame.toString("utf8", at - length, at);
  };
  const value = () => {
    const length = frame.readUInt32LE(at);
    at += 4 + length;
    return frame.subarray(at - length, at);
  };
  while (at < frame.length) {
    const what = frame.readUInt8(at);
    if (!KINDS.includes(what)) throw new LaterRelease(`a write of kind ${what}`, "journal");
    at += 2;
    const name = text(frame.readUInt8(at - 1));
    if (what === APPENDED || what === TRIMMED) {
      at += 8;
      const number = frame.readDoubleLE(at - 8);
      const bytes = value();
      logWrites.push({ log: name, number, value: what === APPENDED ? bytes : undefined });
    } else {
      at += 2;
      const key = text(frame.readUInt16LE(at - 2));
      const bytes = value();
      writes.push({
        table: name,
        key: JSON.parse(key) as Key,
        text: key,
        value: what === PUT ? bytes : undefined,
      });
    }
  }
  return { writes, logWrites };
}
