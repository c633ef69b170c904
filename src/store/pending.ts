/**
 * Writes that the journal holds and LMDB does not yet: layers of table → key → value, newest last. Readers look here
 * first, so that a committed write is seen at once, wherever it lies.
 */
import { compareKeys, type Key } from "lmdb";

/** `value` undefined: the key is removed. */
export interface Write {
  readonly table: string;
  readonly key: Key;
  readonly value: Uint8Array | undefined;
}

export interface Row {
  readonly key: Key;
  readonly value: Uint8Array;
}

export interface Range {
  readonly start?: Key;
  readonly end?: Key;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** The writes of one LMDB transaction to come; a later write of a key replaces an earlier one. */
export class Layer {
  readonly tables = new Map<string, Map<string, Write>>();
  size = 0;
  /** The number of the newest journal frame whose writes are in here or in an older layer; set when it is sealed. */
  upTo = 0;

  add(write: Write): void {
    let table = this.tables.get(write.table);
    if (table === undefined) {
      table = new Map();
      this.tables.set(write.table, table);
    }
    table.set(textOf(write.key), write);
    this.size++;
  }
}

export class Pending {
  #open = new Layer();
  /** Sealed: on their way into LMDB, oldest first. */
  #sealed: Layer[] = [];

  get size(): number {
    return this.#open.size;
  }

  add(write: Write): void {
    this.#open.add(write);
  }

  /** Takes what has come so far, which is all frames to number `upTo`; it stays visible here until `drop`. */
  seal(upTo: number): Layer {
    const layer = this.#open;
    layer.upTo = upTo;
    this.#open = new Layer();
    this.#sealed.push(layer);
    return layer;
  }

  /** LMDB shows this layer's writes now. */
  drop(layer: Layer): void {
    this.#sealed = this.#sealed.filter((other) => other !== layer);
  }

  /** The newest write of a key; undefined where LMDB's value holds. */
  find(table: string, key: Key): Write | undefined {
    if (this.#open.size === 0 && this.#sealed.length === 0) return undefined;
    const text = textOf(key);
    const young = this.#open.tables.get(table)?.get(text);
    if (young !== undefined) return young;
    for (let i = this.#sealed.length - 1; i >= 0; i--) {
      const found = this.#sealed[i]?.tables.get(table)?.get(text);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The writes of a table that fall into a range, in its order; undefined where there are none at all. */
  inRange(table: string, range: Range): Write[] | undefined {
    const merged = new Map<string, Write>();
    for (const layer of [...this.#sealed, this.#open]) {
      for (const [text, write] of layer.tables.get(table) ?? []) merged.set(text, write);
    }
    if (merged.size === 0) return undefined;
    const sign = range.reverse === true ? -1 : 1;
    const order = (a: Key, b: Key) => sign * compareKeys(a, b);
    const { start, end } = range;
    return [...merged.values()]
      .filter(({ key }) => start === undefined || order(key, start) >= 0)
      .filter(({ key }) => end === undefined || order(key, end) < 0)
      .sort((a, b) => order(a.key, b.key));
  }
}

/** LMDB's rows of a range with the pending writes of the same range laid over them, both in the range's order. */
export function* overlaid(rows: Iterable<Row>, writes: readonly Write[], reverse: boolean): Generator<Row> {
  const sign = reverse ? -1 : 1;
  let next = 0;
  for (const row of rows) {
    for (; next < writes.length; next++) {
      const write = writes[next] as Write;
      if (sign * compareKeys(write.key, row.key) >= 0) break;
      if (write.value !== undefined) yield { key: write.key, value: write.value };
    }
    const write = writes[next];
    if (write === undefined || compareKeys(write.key, row.key) !== 0) {
      yield row;
    } else {
      next++;
      if (write.value !== undefined) yield { key: row.key, value: write.value };
    }
  }
  for (const { key, value } of writes.slice(next)) if (value !== undefined) yield { key, value };
}

/** Keys of other types than strings cannot be mistaken for one. */
const textOf = (key: Key): string => (typeof key === "string" ? key : `\0${JSON.stringify(key)}`);
