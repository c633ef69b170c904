/**
 * ClickHouse's RowBinary: values one after the other, no names, no escapes. A third of the time of JSON on both sides,
 * and payload bytes go in as they came. Numbers are brought into their column's range: one row that the engine refuses
 * would hold up all rows behind it. Format: https://clickhouse.com/docs/interfaces/formats/RowBinary
 */

/** DateTime ends in 2106, DateTime64 later. */
const LAST_SECOND = 0xffff_ffff;
const LAST_MS = LAST_SECOND * 1000;

export class RowBinary {
  #bytes: Buffer;
  #at = 0;

  constructor(sizeGuess: number) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(1024, sizeGuess));
  }

  /** Everything written; the writer is not used afterwards. */
  take(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Where the next value goes; for {@link rewind}. */
  get length(): number {
    return this.#at;
  }

  /** Forgets what was written since: a row that failed half way. */
  rewind(length: number): void {
    this.#at = length;
  }

  u8(value: unknown): void {
    this.#room(1);
    this.#bytes[this.#at++] = whole(value, 0xff);
  }

  bool(value: unknown): void {
    this.u8(value === true ? 1 : 0);
  }

  u16(value: unknown): void {
    this.#room(2);
    this.#at = this.#bytes.writeUInt16LE(whole(value, 0xffff), this.#at);
  }

  u32(value: unknown): void {
    this.#room(4);
    this.#at = this.#bytes.writeUInt32LE(whole(value, 0xffff_ffff), this.#at);
  }

  /** UInt64, or Int64 from 0: safe integers are all that money and counts are made of. */
  u64(value: unknown): void {
    this.#room(8);
    const n = whole(value, Number.MAX_SAFE_INTEGER);
    this.#bytes.writeUInt32LE(n % 0x1_0000_0000, this.#at);
    this.#bytes.writeUInt32LE(Math.floor(n / 0x1_0000_0000), this.#at + 4);
    this.#at += 8;
  }

  /** Float64, not negative. */
  f64(value: unknown): void {
    this.#room(8);
    const n = Number(value);
    this.#at = this.#bytes.writeDoubleLE(Number.isFinite(n) && n > 0 ? n : 0, this.#at);
  }

  /** DateTime64(3) from milliseconds since 1970. */
  time(ms: unknown): void {
    this.u64(whole(ms, LAST_MS));
  }

  /** DateTime from milliseconds since 1970. */
  second(ms: unknown): void {
    this.u32(Math.floor(whole(ms, LAST_MS) / 1000));
  }

  /** String or LowCardinality(String); what is no string is empty. A lone surrogate becomes U+FFFD. */
  text(value: unknown): void {
    if (typeof value !== "string" || value === "") {
      this.u8(0);
      return;
    }
    const size = value.length;
    if (size <= 48) {
      this.#room(size + 1);
      if (this.#ascii(value)) return;
    }
    const length = Buffer.byteLength(value);
    this.varint(length);
    this.#room(length);
    this.#at += this.#bytes.write(value, this.#at, "utf8");
  }

  /** String, byte for byte. */
  bytes(value: Uint8Array): void {
    this.varint(value.length);
    this.#room(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** Array(T), and each column of a Nested. */
  list<T>(values: readonly T[], write: (value: T) => void): void {
    this.varint(values.length);
    for (const value of values) write(value);
  }

  /** Unsigned LEB128: lengths. */
  varint(value: number): void {
    this.#room(10);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#at++] = rest;
  }

  /** Short names and ids are ASCII nearly always: cheaper than a call into the encoder. */
  #ascii(value: string): boolean {
    const bytes = this.#bytes;
    let at = this.#at;
    bytes[at++] = value.length;
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[at++] = code;
    }
    this.#at = at;
    return true;
  }

  #room(size: number): void {
    if (this.#at + size <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + size));
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }
}

function whole(value: unknown, max: number): number {
  const n = Math.round(Number(value));
  return n > 0 ? Math.min(n, max) : 0;
}
