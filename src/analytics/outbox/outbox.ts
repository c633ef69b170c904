/**
 * The durable outbox: records that settlement writes in the same commit as the ledger entry, kept until ClickHouse has
 * acknowledged them. Besides the queue of rows, an index finds pending and recent rows by request id.
 */

import type { CallRecord } from "../../record/record.ts";
import { decodeRow, encodeRow, requestIdOfRow } from "../../record/row.ts";
import type { Store, Table } from "../../store/store.ts";
import { type Batch, type BatchBounds, type Batches, BatchQueue, type BatchRows } from "./batch-queue.ts";
import { RecentRows } from "./recent-rows.ts";
import { RowNumbers } from "./row-numbers.ts";

/** An encoded record; holds no reference to the record. */
interface PreparedRow {
  readonly requestId: string;
  readonly bytes: Uint8Array;
  /** What the observer made of it. */
  readonly seen?: unknown;
}

/** Port: sees records as they are put, for live lists. Rows are committed in the order of their numbers. */
export interface OutboxObserver<Seen> {
  /** Before the commit: what it needs of the record; undefined if nothing. Called for every call: it must be quick. */
  look(record: CallRecord): Seen | undefined;
  put(number: number, seen: Seen): void;
  /** The act that put it was dropped; it may be put again under another number. */
  dropped(number: number): void;
}

/** The public side of it, which another may stand in for. */
export type Outbox = Pick<LmdbOutbox, keyof LmdbOutbox>;

/** Request ids in memory; ids of older pending rows are in a table. */
const MAX_INDEXED = 20_000;
/** Ids that are moved to the table at once. */
const SLICE = 250;

export const openOutbox = (store: Store): Outbox => new LmdbOutbox(store);

class LmdbOutbox implements Batches {
  readonly #store: Store;
  readonly #queue: BatchQueue;
  /** Numbers of pending and recent rows. */
  readonly #numbers = new RowNumbers();
  readonly #recents = new RecentRows();
  /** The same on disk, for pending rows that are no longer in the index in memory. */
  readonly #spilled: Table<number>;
  readonly #spills: Table<string[]>;
  readonly #apart: Table<Uint8Array>;
  #observer: OutboxObserver<unknown> | undefined;
  /** The greatest number that a row was put under, even if its act was dropped: `#recents` may hold that row. */
  #greatest = 0;

  constructor(store: Store) {
    this.#store = store;
    this.#queue = new BatchQueue({ store, name: "outbox" });
    this.#spilled = store.table("outbox_ids");
    this.#spills = store.table("outbox_spills");
    this.#apart = store.bytes("outbox_apart");
    this.#load();
  }

  /** Encodes a record, before the commit, because this is the costly part. Takes microseconds; pure. */
  prepare(record: CallRecord): PreparedRow {
    return { requestId: record.requestId, bytes: encodeRow(record), seen: this.#observer?.look(record) };
  }

  /** One observer only. */
  observe<Seen>(observer: OutboxObserver<Seen>): void {
    this.#observer = observer as OutboxObserver<unknown>;
  }

  /** Call it only inside an act: acts commit in the order of their numbers, and batches rely on that order. */
  put({ requestId, bytes, seen }: PreparedRow): void {
    const number = this.#queue.put(bytes, this.#greatest);
    this.#greatest = number;
    this.#numbers.add(requestId, number);
    this.#recents.add(number, bytes);
    this.#store.ifDropped(this.#unnumber);
    if (this.#numbers.size > MAX_INDEXED) this.#spill();
    if (seen === undefined) return;
    this.#observer?.put(number, seen);
    this.#store.ifDropped(() => this.#observer?.dropped(number));
  }

  /** One function for all calls. */
  readonly #unnumber = () => this.#numbers.dropNewest();

  /** `put(prepare(record))`, for callers to whom the cost inside the act does not matter. */
  add(record: CallRecord): void {
    this.put(this.prepare(record));
  }

  /** A pending record, or one acknowledged recently. Its payload is not yet redacted. */
  recent(requestId: string): CallRecord | undefined {
    const number = this.#numbers.get(requestId) ?? this.#spilled.get(requestId);
    const bytes = number === undefined ? undefined : (this.#recents.get(number) ?? this.#queue.get(number));
    return bytes === undefined ? undefined : decodeRow(bytes);
  }

  nextBatch(bounds: BatchBounds, newToken: () => string): Promise<BatchRows | undefined> {
    return this.#queue.nextBatch(bounds, newToken);
  }

  async acknowledge(batch: Batch): Promise<void> {
    await this.#queue.acknowledge(batch);
    this.#forget();
    await this.#unspill();
  }

  /** Moves rows that cannot be decoded to a table of their own, where an operator can inspect them. */
  async setApart(batch: Batch, rows: readonly Uint8Array[]): Promise<void> {
    const act = () => {
      for (const [at, bytes] of rows.entries()) this.#apart.put([batch.token, at], bytes);
    };
    await this.#store.act(act, { isOwed: true });
  }

  newest(): number {
    return this.#queue.newest();
  }

  /** Rows up to this number are committed. */
  committed(): number {
    return this.#queue.committed();
  }

  acknowledged(): number {
    return this.#queue.acknowledged();
  }

  pending(): number {
    return this.#queue.pending();
  }

  pendingBytes(): number {
    return this.#queue.pendingBytes();
  }

  /** Removes rows that are neither pending nor recent from the index. */
  #forget(): void {
    this.#numbers.removeUpTo(Math.min(this.#queue.acknowledged(), this.#recents.oldest - 1));
  }

  /** While ClickHouse is unreachable the index would grow with the outbox: its oldest entries are moved to a table. */
  #spill(): void {
    const oldest = this.#numbers.takeOldest(SLICE);
    for (const [id, number] of oldest) this.#spilled.put(id, number);
    this.#spills.put(
      oldest.at(-1)?.[1] ?? 0,
      oldest.map(([id]) => id),
    );
    this.#store.ifDropped(() => this.#numbers.putBack(oldest));
  }

  /** Deletes acknowledged rows from the tables of the index. */
  async #unspill(): Promise<void> {
    for (const { key, value: ids } of [...this.#spills.range({ end: this.#queue.acknowledged() + 1 })]) {
      const act = () => {
        for (const id of ids) {
          // The record may have been put again, under a number that is still pending.
          const number = this.#spilled.get(id);
          if (number !== undefined && number <= Number(key)) this.#spilled.remove(id);
        }
        this.#spills.remove(key);
      };
      await this.#store.act(act, { isOwed: true });
    }
  }

  /** Fills the index at the start with the rows that are not in its table: at most as many as it may hold. */
  #load(): void {
    let from = this.#queue.acknowledged() + 1;
    for (const { key } of this.#spills.range({ start: Number.MAX_SAFE_INTEGER, reverse: true, limit: 1 })) {
      from = Math.max(from, Number(key) + 1);
    }
    for (let number = from; number <= this.#queue.newest(); number++) {
      const row = this.#queue.get(number);
      const id = row === undefined ? undefined : requestIdOfRow(row);
      if (id !== undefined) this.#numbers.add(id, number);
    }
  }
}
