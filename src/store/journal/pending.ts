/**
 * Writes that are in the journal but not yet in LMDB: reads check here first, so that a committed write is visible at
 * once, wherever it is. Layers are the LMDB transactions to come, newest last.
 */
import type { Key } from "lmdb";
import { keyText, type Range } from "../tables/table.ts";
import type { LogWrite, Write } from "./frame.ts";
import { overlaid, type Row } from "./overlay.ts";

type Writes = Map<string, Write>;

/** The writes of one LMDB transaction to come; a later write of a key replaces an earlier one. */
export class Layer {
  readonly tables = new Map<string, Writes>();
  /** Trim position of each log. Log rows are not in here: see `LogRows`. */
  readonly trims = new Map<string, number>();
  size = 0;
  /** Number of the newest journal frame whose writes are in here or in an older layer; set when it is sealed. */
  upTo = 0;
  /** The same for log rows: no frame up to this one holds a row that is only in memory. */
  loggedTo = 0;
  /**
   * The journal's current segment at that time: no older one is needed once LMDB has this layer and all logs up to it.
   */
  segment = 0;

  add(write: Write): void {
    const writes = this.tables.get(write.table);
    if (writes === undefined) this.tables.set(write.table, new Map([[write.text, write]]));
    else writes.set(write.text, write);
    this.size++;
  }

  trim({ log, number }: LogWrite): void {
    this.trims.set(log, Math.max(number, this.trims.get(log) ?? 0));
    this.size++;
  }
}

export class Pending {
  #open = new Layer();
  /** Sealed layers, being written to LMDB, oldest first. */
  #sealed: Layer[] = [];

  get size(): number {
    return this.#open.size;
  }

  add(write: Write): void {
    this.#open.add(write);
  }

  trim(write: LogWrite): void {
    this.#open.trim(write);
  }

  /** Seals what has come so far, which is all frames up to `upTo` (see `Layer`); it stays visible here until `drop`. */
  seal({ upTo, loggedTo, segment }: Pick<Layer, "upTo" | "loggedTo" | "segment">): Layer {
    const layer = this.#open;
    layer.upTo = upTo;
    layer.loggedTo = loggedTo;
    layer.segment = segment;
    this.#open = new Layer();
    this.#sealed.push(layer);
    return layer;
  }

  /** LMDB now contains this layer's writes. */
  drop(layer: Layer): void {
    this.#sealed = this.#sealed.filter((other) => other !== layer);
  }

  /** The newest write of a key; undefined where LMDB has the current value. */
  find(table: string, key: Key): Write | undefined {
    if (this.#open.size === 0 && this.#sealed.length === 0) return undefined;
    const text = keyText(key);
    const young = this.#open.tables.get(table)?.get(text);
    if (young !== undefined) return young;
    for (let i = this.#sealed.length - 1; i >= 0; i--) {
      const found = this.#sealed[i]?.tables.get(table)?.get(text);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * Rows of LMDB merged with all pending writes of the same range; undefined where nothing is pending.
   * @param queued writes not yet in the journal, for an act
   */
  over(
    table: string,
    range: Range,
    rows: () => Iterable<Row>,
    queued: ReadonlyMap<string, Write> | undefined,
  ): Iterable<Row> | undefined {
    const young: Writes = new Map();
    for (const layer of [...this.#sealed, this.#open]) {
      for (const [text, write] of layer.tables.get(table) ?? []) young.set(text, write);
    }
    for (const [text, write] of queued ?? []) young.set(text, write);
    if (young.size === 0) return undefined;
    return overlaid(rows(), young.values(), range);
  }
}
