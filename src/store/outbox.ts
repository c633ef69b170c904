/**
 * The durable outbox: what settle writes beside the ledger entry, until the analytics engine has acknowledged it.
 * Rows are numbered in commit order; a batch is a range of numbers with a token, kept on disk from before its first
 * insertion, so that every retry, also after kill -9, is the same rows under the same token.
 */
import type { CallRecord } from "../record.ts";
import { decodeRow, encodeRow, requestIdOfRow } from "../record-row.ts";
import type { Store, Table } from "./store.ts";

/** A record encoded, ready to be put; holds no reference to the record. */
export interface Prepared {
  readonly requestId: string;
  readonly bytes: Uint8Array;
}

/** Rows `first` to `last`, both inclusive; numbers in between may be missing. */
export interface Batch {
  readonly first: number;
  readonly last: number;
  /** The engine's `insert_deduplication_token`. */
  readonly token: string;
}

export interface BatchRows {
  readonly batch: Batch;
  readonly rows: readonly Uint8Array[];
}

export interface BatchBounds {
  readonly rows: number;
  /** Reached or passed by the last row. */
  readonly bytes: number;
}

export interface Outbox {
  /** The costly half, before the transaction. Microseconds; pure. */
  prepare(record: CallRecord): Prepared;
  /** Only inside the write of a `commit`: those commit in the order of their numbers, which batches rely on. */
  put(prepared: Prepared): void;
  /** `put(prepare(record))`, where the cost inside the transaction does not matter. */
  add(record: CallRecord): void;
  /** A record still pending, or one of the last acknowledged. The payload is as stored: not yet redacted. */
  recent(requestId: string): CallRecord | undefined;
  /** The same, encoded. */
  recentBytes(requestId: string): Uint8Array | undefined;
  /** The batch under way, where there is one, else a new one over the oldest rows; undefined when nothing is pending. */
  nextBatch(bounds: BatchBounds, newToken: () => string): Promise<BatchRows | undefined>;
  /** The batch is in the engine: it never comes again, and its rows go. Resolves once that is durable. */
  acknowledge(batch: Batch): Promise<void>;
  /** Sets a row apart that cannot be decoded; it stays on disk for a person to look at. */
  setApart(batch: Batch, rows: readonly Uint8Array[]): Promise<void>;
  /** The number of the newest row put so far, committed or about to be. */
  newest(): number;
  /** Every row up to and including this number is acknowledged. */
  acknowledged(): number;
  /** Rows not yet acknowledged. */
  pending(): number;
}

/** Encoded records kept in memory for lookups, pending or not. */
const RECENT_ROWS = 2000;
const RECENT_BYTES = 8 * 1024 * 1024;
const RECENT_ROW_BYTES = 256 * 1024;
/** Pending rows found through memory; older ones are found through a table. */
const INDEXED = 20_000;
/** Rows worked on between two turns of the event loop. */
const SLICE = 250;

export const openOutbox = (store: Store): Outbox => new LmdbOutbox(store);

class LmdbOutbox implements Outbox {
  readonly #store: Store;
  readonly #rows: Table<Uint8Array>;
  /** Request id → number, for pending rows that the index in memory no longer holds. */
  readonly #spilled: Table<number>;
  readonly #state: Table<Batch | number>;
  readonly #apart: Table<Uint8Array>;
  readonly #index = new Map<string, number>();
  readonly #recents = new Map<string, Uint8Array>();
  #recentBytes = 0;
  #newest: number;
  #acknowledged: number;
  /** Rows up to this number are removed. */
  #swept: number;
  #spilledTo: number;

  constructor(store: Store) {
    this.#store = store;
    this.#rows = store.bytes("outbox", { shortLived: true });
    this.#spilled = store.table("outbox_ids");
    this.#state = store.table("outbox_state");
    this.#apart = store.bytes("outbox_apart");
    const acknowledged = this.#state.get("acknowledged");
    this.#acknowledged = typeof acknowledged === "number" ? acknowledged : 0;
    // A power failure may have left the batch and taken the last of its rows; under its token no others may go.
    const batch = this.#state.get("batch");
    const promised = typeof batch === "object" ? batch.last : 0;
    this.#newest = Math.max(this.#acknowledged, promised, lastKey(this.#rows));
    this.#swept = Math.min(this.#acknowledged, firstKey(this.#rows) - 1);
    const spilledTo = this.#state.get("spilled");
    this.#spilledTo = typeof spilledTo === "number" ? spilledTo : 0;
    this.#load(Math.max(this.#acknowledged, this.#spilledTo) + 1);
  }

  prepare(record: CallRecord): Prepared {
    return { requestId: record.requestId, bytes: encodeRow(record) };
  }

  put(prepared: Prepared): void {
    // A new number each time, also for a row put again: none may appear inside a batch that was read.
    const key = ++this.#newest;
    this.#rows.put(key, prepared.bytes);
    const known = this.#index.size;
    this.#index.set(prepared.requestId, key);
    if (this.#index.size === known) {
      // Put again: the index stays in the order of the numbers.
      this.#index.delete(prepared.requestId);
      this.#index.set(prepared.requestId, key);
    }
    this.#remember(prepared);
    if (this.#index.size > INDEXED) this.#spill();
  }

  add(record: CallRecord): void {
    this.put(this.prepare(record));
  }

  recent(requestId: string): CallRecord | undefined {
    const bytes = this.recentBytes(requestId);
    return bytes === undefined ? undefined : decodeRow(bytes);
  }

  recentBytes(requestId: string): Uint8Array | undefined {
    const remembered = this.#recents.get(requestId);
    if (remembered !== undefined) return remembered;
    const key = this.#index.get(requestId) ?? this.#spilled.get(requestId);
    return key === undefined || key <= this.#acknowledged ? undefined : this.#rows.get(key);
  }

  async nextBatch(bounds: BatchBounds, newToken: () => string): Promise<BatchRows | undefined> {
    const under = this.#state.get("batch");
    if (typeof under === "object") return { batch: under, rows: (await this.#read(under)).rows };
    const start = this.#acknowledged + 1;
    const { rows, last } = await this.#read({ first: start, last: this.#newest }, bounds);
    if (rows.length === 0) return undefined;
    const batch: Batch = { first: start, last, token: newToken() };
    await this.#store.commit(() => this.#state.put("batch", batch));
    return { batch, rows };
  }

  async acknowledge(batch: Batch): Promise<void> {
    // One small commit decides; the rows are then rubbish, swept in slices so that no call waits.
    await this.#store.commit(() => {
      this.#state.remove("batch");
      this.#state.put("acknowledged", batch.last);
    });
    this.#acknowledged = batch.last;
    await this.#sweep();
  }

  async setApart(batch: Batch, rows: readonly Uint8Array[]): Promise<void> {
    await this.#store.commit(() => {
      for (const [at, bytes] of rows.entries()) this.#apart.put([batch.token, at], bytes);
    });
  }

  newest(): number {
    return this.#newest;
  }

  acknowledged(): number {
    return this.#acknowledged;
  }

  pending(): number {
    return this.#newest - this.#acknowledged;
  }

  /** The committed rows of a range, up to the bounds, in slices. Numbers not yet committed are its end. */
  async #read(range: { first: number; last: number }, bounds?: BatchBounds) {
    const rows: Uint8Array[] = [];
    let bytes = 0;
    let last = range.first - 1;
    for (let key = range.first; key <= range.last; key++) {
      const row = this.#rows.get(key);
      if (row === undefined) continue;
      rows.push(row);
      bytes += row.length;
      last = key;
      if (bounds !== undefined && (rows.length >= bounds.rows || bytes >= bounds.bytes)) break;
      // Behind a row only: of a run of numbers not yet committed, a later turn must not find the end and miss the start.
      if (rows.length % SLICE === 0) await nextTurn();
    }
    return { rows, last };
  }

  async #sweep(): Promise<void> {
    while (this.#swept < this.#acknowledged) {
      const from = this.#swept + 1;
      const to = Math.min(this.#swept + SLICE, this.#acknowledged);
      await this.#store.commit(() => {
        for (let at = from; at <= to; at++) {
          if (at <= this.#spilledTo) this.#forget(at);
          this.#rows.remove(at);
        }
      });
      this.#swept = to;
      for (const [id, at] of this.#index) {
        if (at > to) break;
        this.#index.delete(id);
      }
    }
  }

  /** Takes a row's request id out of the table of the index. */
  #forget(key: number): void {
    const bytes = this.#rows.get(key);
    const id = bytes === undefined ? undefined : requestIdOfRow(bytes);
    if (id !== undefined && this.#spilled.get(id) === key) this.#spilled.remove(id);
  }

  /** While the engine is away the index would grow with the outbox: each row then moves two of the oldest to a table. */
  #spill(): void {
    for (const [id, key] of firstOf(this.#index, 2)) {
      this.#spilled.put(id, key);
      this.#index.delete(id);
      this.#spilledTo = key;
    }
    this.#state.put("spilled", this.#spilledTo);
  }

  /** After a start: the rows not yet in the table of the index. At most so many as the index holds. */
  #load(from: number): void {
    for (const { key, value } of this.#rows.range({ start: from })) {
      const id = requestIdOfRow(value);
      if (id !== undefined) this.#index.set(id, Number(key));
    }
  }

  #remember({ requestId, bytes }: Prepared): void {
    if (bytes.length > RECENT_ROW_BYTES) return;
    // Put again after a failed commit: the same bytes.
    if (this.#recents.has(requestId)) return;
    this.#recents.set(requestId, bytes);
    this.#recentBytes += bytes.length;
    while (this.#recents.size > RECENT_ROWS || this.#recentBytes > RECENT_BYTES) {
      const [oldest] = this.#recents;
      if (oldest === undefined) return;
      this.#recents.delete(oldest[0]);
      this.#recentBytes -= oldest[1].length;
    }
  }
}

const firstKey = (table: Table<Uint8Array>): number =>
  keyOf(table.range({ limit: 1 })) ?? Number.MAX_SAFE_INTEGER;

const lastKey = (table: Table<Uint8Array>): number =>
  keyOf(table.range({ start: Number.MAX_SAFE_INTEGER, reverse: true, limit: 1 })) ?? 0;

function keyOf(range: ReturnType<Table<Uint8Array>["range"]>): number | undefined {
  for (const { key } of range) return Number(key);
  return undefined;
}

function firstOf<K, V>(map: ReadonlyMap<K, V>, count: number): [K, V][] {
  const found: [K, V][] = [];
  for (const entry of map) {
    if (found.push(entry) === count) break;
  }
  return found;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
