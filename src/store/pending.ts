/**
 * Writes that the journal holds and LMDB does not: readers look here first, so that a committed write is seen at once,
 * wherever it lies. Layers are the LMDB transactions to come, newest last. Short-lived rows (the outbox) do not follow
 * into LMDB but wait in `kept`: most are removed there again and never cost a page.
 */
import { compareKeys, type Key } from "lmdb";
import type { Write } from "./frame.ts";
import type { Range } from "./table.ts";

export interface Row {
  readonly key: Key;
  readonly value: Uint8Array;
}

type Writes = Map<string, Write>;

/** The writes of one LMDB transaction to come; a later write of a key replaces an earlier one. */
export class Layer {
  readonly tables = new Map<string, Writes>();
  size = 0;
  /** The number of the newest journal frame whose writes are in here or in an older layer; set when it is sealed. */
  upTo = 0;

  add(write: Write): void {
    tableOf(this.tables, write.table).set(write.text, write);
    this.size++;
  }
}

interface Kept {
  readonly write: Write;
  /** Every frame below this one is not needed for this row. */
  readonly frame: number;
}

/** The kept rows of a table. Numbered rows come in their order, so that reading a range need not sort them. */
interface KeptTable {
  readonly rows: Map<string, Kept>;
  newest: Key | undefined;
  inOrder: boolean;
}

export class Pending {
  #open = new Layer();
  /** Sealed: on their way into LMDB, oldest first. */
  #sealed: Layer[] = [];
  /** Short-lived rows, in the order they came. */
  readonly #kept = new Map<string, KeptTable>();
  keptRows = 0;
  keptBytes = 0;

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

  /** LMDB shows this layer's writes now. Its short-lived ones are kept here, from frame `since`, unless that is absent. */
  drop(layer: Layer, since: number | undefined): void {
    this.#sealed = this.#sealed.filter((other) => other !== layer);
    if (since === undefined) return;
    for (const [table, writes] of layer.tables) {
      for (const [text, write] of writes) if (write.shortLived) this.#keep(table, text, write, since);
    }
  }

  /** The oldest frame that a kept row still needs; undefined when nothing is kept. */
  oldestKept(): number | undefined {
    let oldest: number | undefined;
    for (const table of this.#kept.values()) {
      for (const { frame } of table.rows.values()) {
        oldest = Math.min(oldest ?? frame, frame);
        break;
      }
    }
    return oldest;
  }

  /** Everything kept, for LMDB after all; `release` once it is there. */
  *kept(): Generator<Write> {
    for (const table of this.#kept.values()) for (const { write } of table.rows.values()) yield write;
  }

  release(): void {
    this.#kept.clear();
    this.keptRows = 0;
    this.keptBytes = 0;
  }

  /** The newest write of a key; undefined where LMDB's value holds. */
  find(table: string, key: Key): Write | undefined {
    if (this.#open.size === 0 && this.#sealed.length === 0 && this.keptRows === 0) return undefined;
    const text = JSON.stringify(key);
    const young = this.#open.tables.get(table)?.get(text);
    if (young !== undefined) return young;
    for (let i = this.#sealed.length - 1; i >= 0; i--) {
      const found = this.#sealed[i]?.tables.get(table)?.get(text);
      if (found !== undefined) return found;
    }
    return this.#kept.get(table)?.rows.get(text)?.write;
  }

  /** Rows of LMDB with everything pending of the same range laid over them; undefined where nothing is pending. */
  over(table: string, range: Range, rows: () => Iterable<Row>): Iterable<Row> | undefined {
    const kept = this.#kept.get(table);
    const young: Writes = new Map();
    for (const layer of [...this.#sealed, this.#open]) {
      for (const [text, write] of layer.tables.get(table) ?? []) young.set(text, write);
    }
    const reverse = range.reverse === true;
    const hasKept = kept !== undefined && kept.rows.size > 0;
    if (!hasKept && young.size === 0) return undefined;
    const older = hasKept ? overlaid(rows(), keptInRange(kept, range), reverse) : rows();
    return overlaid(older, sorted(young.values(), range), reverse);
  }

  #keep(name: string, text: string, write: Write, frame: number): void {
    let table = this.#kept.get(name);
    if (table === undefined) {
      table = { rows: new Map(), newest: undefined, inOrder: true };
      this.#kept.set(name, table);
    }
    const before = table.rows.get(text);
    if (before !== undefined) {
      table.rows.delete(text);
      this.keptRows--;
      this.keptBytes -= before.write.value?.length ?? 0;
    }
    if (write.value === undefined) return;
    if (table.rows.size === 0) table.inOrder = true;
    else if (table.newest !== undefined && compareKeys(table.newest, write.key) >= 0) table.inOrder = false;
    table.newest = write.key;
    table.rows.set(text, { write, frame });
    this.keptRows++;
    this.keptBytes += write.value.length;
  }
}

function keptInRange({ rows, inOrder }: KeptTable, range: Range): Iterable<Write> {
  if (inOrder && range.reverse !== true) return within(rows.values(), range);
  return sorted(
    [...rows.values()].map(({ write }) => write),
    range,
  );
}

/** Lazily: a reader with a limit looks at no more rows than it takes. */
function* within(rows: Iterable<Kept>, { start, end }: Range): Generator<Write> {
  for (const { write } of rows) {
    if (start !== undefined && compareKeys(write.key, start) < 0) continue;
    if (end !== undefined && compareKeys(write.key, end) >= 0) return;
    yield write;
  }
}

function sorted(writes: Iterable<Write>, { start, end, reverse }: Range): Write[] {
  const sign = reverse === true ? -1 : 1;
  const order = (a: Key, b: Key) => sign * compareKeys(a, b);
  return [...writes]
    .filter(({ key }) => start === undefined || order(key, start) >= 0)
    .filter(({ key }) => end === undefined || order(key, end) < 0)
    .sort((a, b) => order(a.key, b.key));
}

/** Rows with writes laid over them, both in the same order. */
function* overlaid(rows: Iterable<Row>, writes: Iterable<Write>, reverse: boolean): Generator<Row> {
  const sign = reverse ? -1 : 1;
  const pending = writes[Symbol.iterator]();
  let write = pending.next().value as Write | undefined;
  for (const row of rows) {
    for (; write !== undefined && sign * compareKeys(write.key, row.key) < 0; write = pending.next().value) {
      if (write.value !== undefined) yield { key: write.key, value: write.value };
    }
    if (write === undefined || compareKeys(write.key, row.key) !== 0) {
      yield row;
    } else {
      if (write.value !== undefined) yield { key: row.key, value: write.value };
      write = pending.next().value;
    }
  }
  for (; write !== undefined; write = pending.next().value) {
    if (write.value !== undefined) yield { key: write.key, value: write.value };
  }
}

function tableOf<V>(tables: Map<string, Map<string, V>>, name: string): Map<string, V> {
  let table = tables.get(name);
  if (table === undefined) {
    table = new Map();
    tables.set(name, table);
  }
  return table;
}
