/** `cmsgpack` and `struct` of Redis, as far as the scripts use them: strings are bytes, as everywhere in Lua. */
import { LuaError, LuaTable, type LuaValue } from "./values.ts";

const MOST_INT = 2 ** 53;

const bytes = (...codes: number[]): string => String.fromCharCode(...codes);

function big(value: number, size: number): string {
  let text = "";
  let left = value;
  for (let i = 0; i < size; i++) {
    text = String.fromCharCode(((left % 256) + 256) % 256) + text;
    left = Math.floor(left / 256);
  }
  return text;
}

function packNumber(value: number): string {
  if (!Number.isInteger(value) || Math.abs(value) > MOST_INT) {
    const buffer = Buffer.alloc(9);
    buffer[0] = 0xcb;
    buffer.writeDoubleBE(value, 1);
    return buffer.toString("latin1");
  }
  if (value >= 0) {
    if (value < 128) return bytes(value);
    if (value < 256) return bytes(0xcc, value);
    if (value < 2 ** 16) return bytes(0xcd) + big(value, 2);
    return value < 2 ** 32 ? bytes(0xce) + big(value, 4) : bytes(0xcf) + big(value, 8);
  }
  if (value >= -32) return bytes(value + 256);
  if (value >= -128) return bytes(0xd0) + big(value, 1);
  if (value >= -(2 ** 15)) return bytes(0xd1) + big(value, 2);
  return value >= -(2 ** 31) ? bytes(0xd2) + big(value, 4) : bytes(0xd3) + big(value, 8);
}

function packText(text: string): string {
  const { length } = text;
  if (length < 32) return bytes(0xa0 | length) + text;
  if (length < 256) return bytes(0xd9, length) + text;
  return (length < 2 ** 16 ? bytes(0xda) + big(length, 2) : bytes(0xdb) + big(length, 4)) + text;
}

function packTable(table: LuaTable): string {
  const pairs = [...table.pairs()];
  const { length } = pairs;
  const isList = length === table.list.length;
  const [small, medium] = isList ? [0x90, 0xdc] : [0x80, 0xde];
  let packed = length < 16 ? bytes(small | length) : bytes(medium) + big(length, 2);
  if (length >= 2 ** 16) packed = bytes(medium + 1) + big(length, 4);
  for (const [key, value] of pairs) packed += isList ? pack(value) : pack(key) + pack(value);
  return packed;
}

export function pack(value: LuaValue): string {
  if (typeof value === "number") return packNumber(value);
  if (typeof value === "string") return packText(value);
  if (typeof value === "boolean") return bytes(value ? 0xc3 : 0xc2);
  if (value === undefined) return bytes(0xc0);
  if (value instanceof LuaTable) return packTable(value);
  throw new LuaError("a function cannot be packed");
}

export const unpack = (packed: string): LuaValue => new Reader(packed).value();

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): LuaValue {
    const code = this.#byte();
    if (code < 0x80) return code;
    if (code < 0x90) return this.#map(code & 15);
    if (code < 0xa0) return this.#list(code & 15);
    if (code < 0xc0) return this.#bytes(code & 31);
    if (code >= 0xe0) return code - 256;
    return this.#long(code);
  }

  #long(code: number): LuaValue {
    if (code === 0xc0) return undefined;
    if (code === 0xc2 || code === 0xc3) return code === 0xc3;
    if (code === 0xca) return Buffer.from(this.#bytes(4), "latin1").readFloatBE();
    if (code === 0xcb) return Buffer.from(this.#bytes(8), "latin1").readDoubleBE();
    if (code >= 0xcc && code <= 0xcf) return this.#number(2 ** (code - 0xcc));
    if (code >= 0xd0 && code <= 0xd3) return this.#signed(2 ** (code - 0xd0));
    if (code >= 0xd9 && code <= 0xdb) return this.#bytes(this.#number(2 ** (code - 0xd9)));
    if (code === 0xdc || code === 0xdd) return this.#list(this.#number(2 ** (code - 0xdb)));
    if (code === 0xde || code === 0xdf) return this.#map(this.#number(2 ** (code - 0xdd)));
    throw new LuaError(`MessagePack of kind ${code} is not known`);
  }

  #byte(): number {
    if (this.#at >= this.#text.length) throw new LuaError("missing bytes in input");
    return this.#text.charCodeAt(this.#at++);
  }

  #bytes(length: number): string {
    if (this.#at + length > this.#text.length) throw new LuaError("missing bytes in input");
    this.#at += length;
    return this.#text.slice(this.#at - length, this.#at);
  }

  #number(size: number): number {
    let value = 0;
    for (let i = 0; i < size; i++) value = value * 256 + this.#byte();
    return value;
  }

  #signed(size: number): number {
    if (size === 8) return Number(Buffer.from(this.#bytes(8), "latin1").readBigInt64BE());
    const value = this.#number(size);
    return value >= 2 ** (size * 8 - 1) ? value - 2 ** (size * 8) : value;
  }

  #list(length: number): LuaTable {
    const values: LuaValue[] = [];
    for (let i = 0; i < length; i++) values.push(this.value());
    return new LuaTable(values);
  }

  #map(length: number): LuaTable {
    const table = new LuaTable();
    for (let i = 0; i < length; i++) {
      const key = this.value();
      table.set(key, this.value());
    }
    return table;
  }
}

/** `struct.pack(">I8", …)`, the only format that the scripts have. */
export function packStruct(format: string, value: number): string {
  assertFormat(format);
  return big(value, 8);
}

export function unpackStruct(format: string, text: string): number {
  assertFormat(format);
  if (text.length < 8) throw new LuaError("data string too short");
  let value = 0;
  for (let i = 0; i < 8; i++) value = value * 256 + text.charCodeAt(i);
  return value;
}

function assertFormat(format: string): void {
  if (format !== ">I8") throw new LuaError(`struct of ${format} is not known`);
}
