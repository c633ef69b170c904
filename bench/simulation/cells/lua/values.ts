/**
 * Values of Lua in JavaScript: nil is undefined, a string is a string of bytes (each character is one), a number is a number, as of Lua
 * 5.1, which Redis has. A function that returns several values, or may, returns `Many`.
 */

export type LuaFunction = (...args: LuaValue[]) => LuaValue | Many;
export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction;

/** Several values, or none. */
export class Many {
  readonly values: readonly LuaValue[];

  constructor(values: readonly LuaValue[]) {
    this.values = values;
  }
}

export class LuaError extends Error {}

export class LuaTable {
  /** What has the keys 1, 2, 3 …; the last one is not nil. */
  readonly list: LuaValue[];
  #others: Map<LuaValue, LuaValue> | undefined;

  constructor(list: LuaValue[] = []) {
    this.list = list;
    this.#trim();
  }

  get(key: LuaValue): LuaValue {
    if (typeof key === "number") {
      const found = this.list[key - 1];
      if (found !== undefined) return found;
    }
    return this.#others?.get(key);
  }

  set(key: LuaValue, value: LuaValue): void {
    if (typeof key === "number" && Number.isInteger(key) && key >= 1 && key <= this.list.length + 1) {
      this.#setInList(key, value);
      return;
    }
    if (key === undefined) throw new LuaError("table index is nil");
    this.#others ??= new Map();
    if (value === undefined) this.#others.delete(key);
    else this.#others.set(key, value);
  }

  /** Keys and values; those of the list first. */
  *pairs(): Generator<[LuaValue, LuaValue]> {
    for (const [at, value] of this.list.entries()) if (value !== undefined) yield [at + 1, value];
    if (this.#others !== undefined) yield* [...this.#others];
  }

  #setInList(key: number, value: LuaValue): void {
    const { list } = this;
    if (key <= list.length) {
      list[key - 1] = value;
      this.#trim();
      return;
    }
    if (value === undefined) {
      this.#others?.delete(key);
      return;
    }
    list.push(value);
    const others = this.#others;
    if (others === undefined) return;
    others.delete(key);
    for (let next = others.get(list.length + 1); next !== undefined; next = others.get(list.length + 1)) {
      others.delete(list.length + 1);
      list.push(next);
    }
  }

  #trim(): void {
    while (this.list.length > 0 && this.list[this.list.length - 1] === undefined) this.list.pop();
  }
}

/** The first of the values that a call returned. */
export const one = (value: LuaValue | Many): LuaValue => (value instanceof Many ? value.values[0] : value);

/** All values that a call returned. */
export const many = (value: LuaValue | Many): readonly LuaValue[] =>
  value instanceof Many ? value.values : [value];

export const isTrue = (value: LuaValue): boolean => value !== undefined && value !== false;

/** A number as `%.14g` writes it, as `..` and `tostring` do. */
export function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e14) return String(value);
  const text = value.toPrecision(14);
  const [digits = "", exponent] = text.split("e");
  const short = digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
  if (exponent === undefined) return short;
  return `${short}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

/** @returns undefined where the text is no number */
export function numberOf(value: LuaValue): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (!/^[-+]?(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)$/.test(text))
    return undefined;
  return Number(text);
}

export function textOf(value: LuaValue): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return numberText(value);
  throw new LuaError(`attempt to use a ${typeName(value)} as a string`);
}

export function typeName(value: LuaValue): string {
  if (value === undefined) return "nil";
  return value instanceof LuaTable ? "table" : typeof value;
}
