/**
 * ClickHouse's RowBinary: values one after another, without names or escapes. It takes a third of the time of JSON to write
 * and to read, and payload bytes are copied unchanged. Numbers are limited to their column's range: a row that the engine
 * refuses would hold up all rows behind it. Format: https://clickhouse.com/docs/interfaces/formats/RowBinary
 */

/** The last second of DateTime (2106); DateTime64 ends later. */
export const LAST_SECOND = 0xffff_ffff;
export const LAST_MS = LAST_SECOND * 1000;
const TWO_32 = 0x1_0000_0000;
/** Up to this length a loop over the characters is faster than a call of the encoder. */
const MAX_LOOP_LENGTH = 96;
/** Up to this length a text is written before its bytes are counted: space for three a character is then little. */
const MAX_GUESSED_LENGTH = 4096;

/** Taken once: strings come in many kinds (joined, sliced, interned), and V8 would look the method up anew for each character. */
const { charCodeAt } = String.prototype;

export class RowBinaryWriter {
  /** What was written, and space behind it. This and the next two are also written by generated code (`row-code.ts`). */
  bytes: Buffer<ArrayBuffer>;
  /** A view of the same bytes: V8 compiles its methods to a store each, and calls functions of several checks for those of Buffer. */
  view: DataView<ArrayBuffer>;
  /** The memory of both: to ask the bytes for it is a call into V8. */
  memory: ArrayBuffer;
  /** Position of the next value. */
  at = 0;

  constructor(sizeGuess: number) {
    this.bytes = Buffer.allocUnsafeSlow(Math.max(1024, sizeGuess));
    this.memory = this.bytes.buffer;
    this.view = new DataView(this.memory);
  }

  /** Goes on at the beginning of other bytes, which are a whole memory; those of before are not written to again. */
  goOnIn(bytes: Buffer<ArrayBuffer>): void {
    this.bytes = bytes;
    this.memory = bytes.buffer;
    this.view = new DataView(this.memory);
    this.at = 0;
  }

  /** Everything written so far, not copied: valid until the next write. */
  take(): Buffer {
    return this.bytes.subarray(0, this.at);
  }

  /** Position of the next value; for {@link rewind}. */
  get length(): number {
    return this.at;
  }

  /** Discards what was written after `length`: a row that failed half way, or the previous contents. */
  rewind(length: number): void {
    this.at = length;
  }

  /** Leaves `size` bytes for values that are known later. */
  skip(size: number): void {
    this.ensure(size);
    this.at += size;
  }

  u8(value: unknown): void {
    this.ensure(1);
    this.bytes[this.at++] = clamped(value, 0xff);
  }

  bool(value: unknown): void {
    this.ensure(1);
    this.bytes[this.at++] = value === true ? 1 : 0;
  }

  u16(value: unknown): void {
    this.ensure(2);
    this.view.setUint16(this.at, clamped(value, 0xffff), true);
    this.at += 2;
  }

  u32(value: unknown): void {
    this.ensure(4);
    this.view.setUint32(this.at, clamped(value, LAST_SECOND), true);
    this.at += 4;
  }

  /** UInt64, or Int64 that is not negative. Money and counts are safe integers, so no larger value is written. */
  u64(value: unknown): void {
    this.ensure(8);
    const n = clamped(value, Number.MAX_SAFE_INTEGER);
    this.view.setUint32(this.at, n >>> 0, true);
    this.view.setUint32(this.at + 4, (n / TWO_32) >>> 0, true);
    this.at += 8;
  }

  /** Int64 from a safe integer; anything else is limited to one. */
  i64(value: unknown): void {
    const n = Number(value);
    if (!(n < 0)) {
      this.u64(n);
      return;
    }
    this.ensure(8);
    const limited = Math.max(Math.round(n), Number.MIN_SAFE_INTEGER);
    this.view.setUint32(this.at, limited, true);
    this.view.setInt32(this.at + 4, Math.floor(limited / TWO_32), true);
    this.at += 8;
  }

  /** Float64, not negative. */
  f64(value: unknown): void {
    this.ensure(8);
    const n = Number(value);
    this.view.setFloat64(this.at, Number.isFinite(n) && n > 0 ? n : 0, true);
    this.at += 8;
  }

  /** DateTime64(3) from milliseconds since 1970. */
  time(ms: unknown): void {
    this.u64(clamped(ms, LAST_MS));
  }

  /** DateTime from milliseconds since 1970. */
  second(ms: unknown): void {
    this.u32(Math.floor(clamped(ms, LAST_MS) / 1000));
  }

  /** String or LowCardinality(String). A value that is no string is written as empty; a lone surrogate becomes U+FFFD. */
  text(value: unknown): void {
    if (typeof value !== "string") {
      this.u8(0);
      return;
    }
    // What a template makes is known to be a string. The length of strings of many origins would be looked up anew each time.
    const size = `${value}`.length;
    if (size <= MAX_LOOP_LENGTH) {
      this.ensure(size + 1);
      if (this.#ascii(value, size)) return;
    }
    if (size > MAX_GUESSED_LENGTH) {
      const length = Buffer.byteLength(value);
      this.varint(length);
      this.ensure(length);
      this.at += this.bytes.write(value, this.at);
      return;
    }
    // Most are ASCII, so that the bytes of the length are known before it is. To count them first takes as long as to write them.
    const { at } = this;
    this.varint(size);
    const from = this.at;
    this.ensure(size * 3 + 1);
    const length = this.bytes.write(value, from);
    this.at = at;
    this.varint(length);
    // The length takes a byte more than that of ASCII, and is over the first of the text.
    if (this.at !== from) this.bytes.write(value, this.at);
    this.at += length;
  }

  /** String, from bytes. */
  blob(value: Uint8Array): void {
    this.varint(value.length);
    this.raw(value);
  }

  /** Writes again what was written from a position on. */
  again(from: number, length: number): void {
    this.ensure(length);
    this.bytes.copyWithin(this.at, from, from + length);
    this.at += length;
  }

  /** Bytes that are RowBinary already. */
  raw(value: Uint8Array): void {
    this.ensure(value.length);
    this.bytes.set(value, this.at);
    this.at += value.length;
  }

  /** Array(T), also of each column of a Nested. */
  list<T>(values: readonly T[], write: (out: RowBinaryWriter, value: T) => void): void {
    this.varint(values.length);
    for (const value of values) write(this, value);
  }

  /** Unsigned LEB128: lengths. */
  varint(value: number): void {
    this.ensure(10);
    let rest = value;
    while (rest >= 0x80) {
      this.bytes[this.at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.at++] = rest;
  }

  /**
   * Fast path for short ASCII, as nearly all names and ids are: one byte of length, one byte per character. @returns false
   * if the text is not ASCII
   */
  #ascii(value: string, size: number): boolean {
    const bytes = this.bytes;
    let at = this.at;
    bytes[at++] = size;
    for (let i = 0; i < size; i++) {
      const code = charCodeAt.call(value, i);
      if (code > 0x7f) return false;
      bytes[at++] = code;
    }
    this.at = at;
    return true;
  }

  /** Makes space for so many bytes. */
  ensure(size: number): void {
    if (this.at + size <= this.bytes.length) return;
    const { bytes, at } = this;
    const grown = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, at + size));
    bytes.copy(grown, 0, 0, at);
    this.goOnIn(grown);
    this.at = at;
  }
}

/** Reads values that {@link RowBinaryWriter} wrote, in the same order. @throws RangeError if the bytes end too early */
export class RowBinaryReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Uint8Array, from: number) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#at = from;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#skip(1));
  }

  bool(): boolean {
    return this.u8() === 1;
  }

  u16(): number {
    return this.#bytes.readUInt16LE(this.#skip(2));
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#skip(4));
  }

  u64(): number {
    const at = this.#skip(8);
    return this.#bytes.readUInt32LE(at) + this.#bytes.readUInt32LE(at + 4) * TWO_32;
  }

  f64(): number {
    return this.#bytes.readDoubleLE(this.#skip(8));
  }

  text(): string {
    const length = this.varint();
    if (length === 0) return "";
    const at = this.#skip(length);
    return this.#bytes.toString("utf8", at, at + length);
  }

  /** A view of the source bytes. */
  bytes(): Buffer {
    const length = this.varint();
    const at = this.#skip(length);
    return this.#bytes.subarray(at, at + length);
  }

  skipBytes(): void {
    this.#skip(this.varint());
  }

  /** Position of the next value. */
  get at(): number {
    return this.#at;
  }

  list<T>(read: (from: RowBinaryReader) => T): T[] {
    const values: T[] = [];
    for (let left = this.varint(); left > 0; left--) values.push(read(this));
    return values;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.u8();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  #skip(size: number): number {
    const at = this.#at;
    if (at + size > this.#bytes.length) throw new RangeError("the bytes end too early");
    this.#at = at + size;
    return at;
  }
}

/** The nearest whole number from 0 to `max`. */
export function clamped(value: unknown, max: number): number {
  const n = Math.round(Number(value));
  return n > 0 ? Math.min(n, max) : 0;
}
