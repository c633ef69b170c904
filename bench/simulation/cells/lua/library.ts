/** What scripts call: the parts of Lua's library, and of Redis's for scripts, that the product's scripts use. */
import { pack, packStruct, unpack, unpackStruct } from "./msgpack.ts";
import { match, matches } from "./pattern.ts";
import { LuaError, LuaTable, type LuaValue, Many, numberOf, textOf, typeName } from "./values.ts";

export const asTable = (value: LuaValue): LuaTable => {
  if (value instanceof LuaTable) return value;
  throw new LuaError(`attempt to index a ${typeName(value)} value`);
};

export const asNumber = (value: LuaValue): number => {
  const number = numberOf(value);
  if (number === undefined) throw new LuaError(`attempt to perform arithmetic on a ${typeName(value)} value`);
  return number;
};

export const lengthOf = (value: LuaValue): number =>
  typeof value === "string" ? value.length : asTable(value).list.length;

export const indexed = (table: LuaValue, key: LuaValue): LuaValue => asTable(table).get(key);

export const add = (a: LuaValue, b: LuaValue): number =>
  typeof a === "number" && typeof b === "number" ? a + b : asNumber(a) + asNumber(b);

export const subtract = (a: LuaValue, b: LuaValue): number =>
  typeof a === "number" && typeof b === "number" ? a - b : asNumber(a) - asNumber(b);

export function isLess(a: LuaValue, b: LuaValue): boolean {
  if (typeof a === "number" && typeof b === "number") return a < b;
  if (typeof a === "string" && typeof b === "string") return a < b;
  throw new LuaError(`attempt to compare ${typeName(a)} with ${typeName(b)}`);
}

export function isAtMost(a: LuaValue, b: LuaValue): boolean {
  if (typeof a === "number" && typeof b === "number") return a <= b;
  return !isLess(b, a);
}

export const modulo = (a: LuaValue, b: LuaValue): number => {
  const [x, y] = [asNumber(a), asNumber(b)];
  return x - Math.floor(x / y) * y;
};

/** Lua's `string.format`, for whole numbers alone. */
function format(pattern: LuaValue, value: LuaValue): string {
  if (pattern !== "%.0f") throw new LuaError(`format ${textOf(pattern)} is not known`);
  const number = asNumber(value);
  // C rounds halves to even.
  const rounded = Math.abs(number % 1) === 0.5 ? 2 * Math.round(number / 2) : Math.round(number);
  return Object.is(rounded, -0) || (rounded === 0 && number < 0) ? "-0" : rounded.toFixed(0);
}

function sub(value: LuaValue, from: LuaValue, to: LuaValue = -1): string {
  const text = textOf(value);
  const at = (index: number) => (index < 0 ? Math.max(text.length + index + 1, 0) : index);
  const [first, last] = [Math.max(at(asNumber(from)), 1), Math.min(at(asNumber(to)), text.length)];
  return first > last ? "" : text.slice(first - 1, last);
}

function find(value: LuaValue, part: LuaValue, from: LuaValue, isPlain: LuaValue): LuaValue | Many {
  if (isPlain !== true) throw new LuaError("string.find with a pattern is not known");
  const at = textOf(value).indexOf(textOf(part), asNumber(from) - 1);
  return at < 0 ? undefined : new Many([at + 1, at + textOf(part).length]);
}

function remove(value: LuaValue, at: LuaValue): LuaValue {
  const { list } = asTable(value);
  const [removed] = list.splice((at === undefined ? list.length : asNumber(at)) - 1, 1);
  return removed;
}

/** Iterations of a `for`. */
export const gmatch = (text: LuaValue, pattern: LuaValue) => matches(textOf(text), textOf(pattern));

export const GLOBALS = {
  tonumber: (value: LuaValue) => numberOf(value),
  tostring: (value: LuaValue) => textOf(value),
  unpack: (table: LuaValue) => new Many(asTable(table).list),
  string: {
    format,
    sub,
    find,
    match: (text: LuaValue, pattern: LuaValue) => match(textOf(text), textOf(pattern)),
  },
  table: {
    concat: (table: LuaValue, between: LuaValue = "") =>
      asTable(table).list.map(textOf).join(textOf(between)),
    remove,
  },
  math: {
    abs: (value: LuaValue) => Math.abs(asNumber(value)),
    floor: (value: LuaValue) => Math.floor(asNumber(value)),
    ceil: (value: LuaValue) => Math.ceil(asNumber(value)),
    max: (...values: LuaValue[]) => Math.max(...values.map(asNumber)),
    min: (...values: LuaValue[]) => Math.min(...values.map(asNumber)),
  },
  cmsgpack: {
    pack: (value: LuaValue) => pack(value),
    unpack: (packed: LuaValue) => unpack(textOf(packed)),
  },
  struct: {
    pack: (form: LuaValue, value: LuaValue) => packStruct(textOf(form), asNumber(value)),
    unpack: (form: LuaValue, text: LuaValue) => unpackStruct(textOf(form), textOf(text)),
  },
};
