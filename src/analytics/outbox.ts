/**
 * The durable outbox: what settle writes beside the ledger entry, until the analytics engine has acknowledged it.
 * Rows are numbered in commit order; a batch is a range of numbers with a token, kept on disk from before its first
 * insertion, so that every retry, also after kill -9, is the same rows under the same token.
 */

import { decodeRow, encodeRow, requestIdOfRow } from "../record/row.ts";
import type { CallRecord } from "../record.ts";
import type { Log, Store, Table } from "../store/store.ts";
import { RecentRows } from "./recent-rows.ts";

/** A record encoded, ready to be put; holds no reference to the record. */
interface Prepared {
  readonly requestId: string;
  readonly bytes: Uint8Array;
}

/** Rows `first` to `last`, both inclusive; numbers in between may be missing. */
export interface Batch {
  readonly first: number;
  readonly last: number;
  /** The engine's `insert_deduplication_token`. */
  readonly token: string;
  /** Names this opening of the outbox; no other opening, of whatever copy of the folder, ever has the same. */
  readonly run: string;
  /** Counts the batches of a run from 1. */
  readonly number: number;
}

export interface BatchRows {
  readonly batch: Batch;
  readonly rows: readonly Uint8Array[];
  /** True where this call made the batch, so that no insertion of it can have been tried. */
  readonly isNew: boolean;
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
  /**
   * The batch under way, where there is one, else a new one over the oldest rows of one layout (its version is a row's
   * first byte: a batch is inserted under one list of columns); undefined when nothing is pending.
   */
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

/** A batch as it is kept; the release before this one told neither its run nor its number. */
type KeptBatch = Omit<Batch, "run" | "number"> & Partial<Batch>;

/** A batch of the earlier release is a run of its own: no row that came before it is of the same one. */
const withRun = (batch: KeptBatch): Batch => ({ run: batch.token, number: 1, ...batch });

/** Request ids in memory; older pending ones are found through a table. */
const INDEXED = 20_000;
/** Rows worked on between two turns of the event loop. */
const SLICE = 250;

export const openOutbox = (store: Store): Outbox => new LmdbOutbox(store);

class LmdbOutbox implements Outbox {
  readonly #store: Store;
  readonly #log: Log;
  /** Request id → number, in the order of the numbers, for pending and recent rows. */
  readonly #numbers = new Map<string, number>();
  readonly #recents = new RecentRows();
  /** The same on disk, for pending rows that the index in memory no longer holds; and which those are, by their last. */
  readonly #spilled: Table<number>;
  readonly #spills: Table<string[]>;
  readonly #state: Table<KeptBatch>;
  readonly #apart: Table<Uint8Array>;
  #newest: number;
  /** Of the batches made since the store was opened. */
  #run: string | undefined;
  #batches = 0;

  constructor(store: Store) {
    this.#store = store;
    this.#log = store.log("outbox");
    this.#spilled = store.table("outbox_ids");
    this.#spills = store.table("outbox_spills");
    this.#state = store.table("outbox_state");
    this.#apart = store.bytes("outbox_apart");
    // A power failure may have left the batch and taken the last of its rows; under its token no others may go.
    this.#newest = Math.max(this.#log.newest(), this.#state.get("batch")?.last ?? 0);
    this.#load();
  }

  prepare(record: CallRecord): Prepared {
    return { requestId: record.requestId, bytes: encodeRow(record) };
  }

  put({ requestId, bytes }: Prepared): void {
    // A new number each time, also for a row put again: none may appear inside a batch that was read.
    const number = ++this.#newest;
    this.#log.append(number, bytes);
    const earlier = this.#numbers.get(requestId);
    // Put again: the index stays in the order of the numbers.
    if (earlier !== undefined) this.#numbers.delete(requestId);
    this.#numbers.set(requestId, number);
    this.#recents.add(number, bytes);
    // The number is not given again: nobody can tell whether somebody has seen it.
    this.#store.ifDropped(() => {
      if (earlier === undefined) this.#numbers.delete(requestId);
      else this.#numbers.set(requestId, earlier);
    });
    if (this.#numbers.size > INDEXED) this.#spill();
  }

  add(record: CallRecord): void {
    this.put(this.prepare(record));
  }

  recent(requestId: string): CallRecord | undefined {
    const bytes = this.recentBytes(requestId);
    return bytes === undefined ? undefined : decodeRow(bytes);
  }

  recentBytes(requestId: string): Uint8Array | undefined {
    const number = this.#numbers.get(requestId) ?? this.#spilled.get(requestId);
    return number === undefined ? undefined : (this.#recents.get(number) ?? this.#log.get(number));
  }

  async nextBatch(bounds: BatchBounds, newToken: () => string): Promise<BatchRows | undefined> {
    const under = this.#state.get("batch");
    if (under !== undefined) {
      const { rows } = await this.#read(under.first, under.last);
      return { batch: withRun(under), rows, isNew: false };
    }
    const first = this.#log.trimmed() + 1;
    const { rows, last } = await this.#read(first, this.#log.newest(), bounds);
    if (rows.length === 0) return undefined;
    const token = newToken();
    this.#run ??= token;
    const batch: Batch = { first, last, token, run: this.#run, number: ++this.#batches };
    await this.#store.act(() => this.#state.put("batch", batch), { isOwed: true });
    return { batch, rows, isNew: true };
  }

  async acknowledge(batch: Batch): Promise<void> {
    const act = () => {
      this.#state.remove("batch");
      this.#log.trim(batch.last);
    };
    await this.#store.act(act, { isOwed: true });
    this.#forget();
    await this.#unspill();
  }

  async setApart(batch: Batch, rows: readonly Uint8Array[]): Promise<void> {
    const act = () => {
      for (const [at, bytes] of rows.entries()) this.#apart.put([batch.token, at], bytes);
    };
    await this.#store.act(act, { isOwed: true });
  }

  newest(): number {
    return this.#newest;
  }

  acknowledged(): number {
    return this.#log.trimmed();
  }

  pending(): number {
    return this.#newest - this.#log.trimmed();
  }

  /** The rows of a range, up to the bounds, in slices. */
  async #read(
    first: number,
    last: number,
    bounds?: BatchBounds,
  ): Promise<{ rows: Uint8Array[]; last: number }> {
    const rows: Uint8Array[] = [];
    let bytes = 0;
    for (let number = first; number <= last; number++) {
      const row = this.#log.get(number);
      if (row === undefined) continue;
      if (bounds !== undefined && rows.length > 0) {
        const full = rows.length >= bounds.rows || bytes >= bounds.bytes;
        if (full || row[0] !== rows[0]?.[0]) return { rows, last: number - 1 };
      }
      rows.push(row);
      bytes += row.length;
      if (rows.length % SLICE === 0) await nextTurn();
    }
    return { rows, last };
  }

  /** Drops from the index what is neither pending nor recent. */
  #forget(): void {
    const last = Math.min(this.#log.trimmed(), this.#recents.oldest - 1);
    for (const [id, number] of this.#numbers) {
      if (number > last) return;
      this.#numbers.delete(id);
    }
  }

  /** While the engine is away the index would grow with the outbox: its oldest part moves to a table. */
  #spill(): void {
    const oldest: [id: string, number: number][] = [];
    for (const [id, number] of this.#numbers) {
      if (oldest.length === SLICE) break;
      oldest.push([id, number]);
      this.#numbers.delete(id);
      this.#spilled.put(id, number);
    }
    this.#spills.put(
      oldest.at(-1)?.[1] ?? 0,
      oldest.map(([id]) => id),
    );
    this.#store.ifDropped(() => {
      const later = [...this.#numbers];
      this.#numbers.clear();
      for (const [id, number] of [...oldest, ...later]) this.#numbers.set(id, number);
    });
  }

  /** Takes acknowledged rows out of the table of the index. */
  async #unspill(): Promise<void> {
    for (const { key, value: ids } of [...this.#spills.range({ end: this.#log.trimmed() + 1 })]) {
      const act = () => {
        for (const id of ids) {
          // It may have been put again, under a number that is still pending.
          const number = this.#spilled.get(id);
          if (number !== undefined && number <= Number(key)) this.#spilled.remove(id);
        }
        this.#spills.remove(key);
      };
      await this.#store.act(act, { isOwed: true });
    }
  }

  /** After a start: the rows not yet in the table of the index. At most so many as the index holds. */
  #load(): void {
    let from = this.#log.trimmed() + 1;
    for (const { key } of this.#spills.range({ start: Number.MAX_SAFE_INTEGER, reverse: true, limit: 1 })) {
      from = Math.max(from, Number(key) + 1);
    }
    for (let number = from; number <= this.#log.newest(); number++) {
      const row = this.#log.get(number);
      const id = row === undefined ? undefined : requestIdOfRow(row);
      if (id !== undefined) this.#numbers.set(id, number);
    }
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
