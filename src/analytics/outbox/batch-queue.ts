/**
 * A queue of rows that are to be inserted into ClickHouse, in a log of the store. Rows are numbered in commit order. A
 * batch is a range of numbers with a token; it is written to disk before its first insertion. So every retry, also after
 * kill -9, inserts the same rows under the same token.
 */
import { nextTurn } from "../../base/clock.ts";
import { during } from "../../base/turns/long-work.ts";
import type { Log, ReadMemory, Store, Table } from "../../store/store.ts";
import { type RowSlices, SLICE } from "./row-slices.ts";

/** Rows `first` to `last`, both inclusive. Numbers in between may be missing. */
export interface Batch {
  readonly first: number;
  readonly last: number;
  /** The engine's `insert_deduplication_token`. */
  readonly token: string;
  /** Identifies this opening of the queue. No other opening has the same run, not even of a copy of the data folder. */
  readonly run: string;
  /** Counts the batches of a run from 1. */
  readonly number: number;
}

export interface BatchRows {
  readonly batch: Batch;
  /** Reads the rows, a slice at a time, and lets the event loop run in between. Each call reads them anew. */
  slices(): RowSlices;
  /**
   * The same for a reader that copies what it keeps: the next slice overwrites the rows of the one before. With memory of its own for
   * each slice, a batch of 7,000 records left 21 MB of garbage until V8's next collection.
   */
  passing(): RowSlices;
  /**
   * True if this call made the batch and its rows are of no copy: no insertion of it can have been tried, by this gateway or by the
   * one whose rows were copied.
   */
  readonly isNew: boolean;
}

export interface BatchBounds {
  readonly rows: number;
  /** The batch ends with the row that reaches or exceeds it. */
  readonly bytes: number;
}

/** What a spool asks of its queue. */
export type Batches = Pick<
  BatchQueue,
  "nextBatch" | "acknowledge" | "newest" | "acknowledged" | "pending" | "pendingBytes"
>;

export interface BatchQueueOptions {
  readonly store: Store;
  /** Name of the log; its table is `<name>_state`. */
  readonly name: string;
  /**
   * Maximum number of pending rows. Beyond it the oldest rows are dropped, also those of the current batch. Default:
   * unlimited.
   */
  readonly maxWaiting?: number;
}

/** A batch as stored. An earlier release stored neither run nor number. */
type KeptBatch = Omit<Batch, "run" | "number"> & Partial<Batch>;

/** A batch of that release becomes a run of its own: no earlier row can belong to that run. */
const withRun = (batch: KeptBatch): Batch => ({ run: batch.token, number: 1, ...batch });

/** Key of a row beside the batch: the gateway that this queue was copied from may have inserted rows up to `last`. */
const COPIED = "copied";

/** In an act of a store that is a copy: notes that of the rows there are now some may be in ClickHouse. @param name of the queue */
export function markCopied(store: Store, name: string): void {
  const state = store.table<KeptBatch>(`${name}_state`);
  state.put(COPIED, { first: 0, last: store.log(name).newest(), token: "" });
}

export class BatchQueue {
  readonly #store: Store;
  readonly #log: Log;
  readonly #state: Table<KeptBatch>;
  readonly #maxWaiting: number;
  /** The greatest number that was assigned, whether or not its row is committed. */
  #newest: number;
  /** Rows up to this number may have been inserted by the gateway that this queue was copied from. */
  readonly #copiedTo: number;
  /** Rows up to this number are deleted, or will be by an act under way. */
  #trimmed: number;
  #dropped = 0;
  #pendingBytes = 0;
  /** Bytes of the batch that was read last. */
  #batchBytes = 0;
  /** The run of the batches made since the store was opened. */
  #run: string | undefined;
  #batches = 0;

  constructor({ store, name, maxWaiting = Number.POSITIVE_INFINITY }: BatchQueueOptions) {
    this.#store = store;
    this.#log = store.log(name);
    this.#state = store.table(`${name}_state`);
    this.#maxWaiting = maxWaiting;
    // After a power failure the batch may be stored and its last rows lost. No other rows may be inserted under its token.
    this.#newest = Math.max(this.#log.newest(), this.#state.get("batch")?.last ?? 0);
    this.#trimmed = this.#log.trimmed();
    this.#copiedTo = this.#state.get(COPIED)?.last ?? 0;
  }

  /**
   * Call it only in an act: acts commit in the order of their numbers, and batches rely on that order.
   * @param after the number will be greater than this one
   * @returns the row's number; never used before, so that no row is added to a batch that was already read
   */
  put(row: Uint8Array, after = 0): number {
    const [newest, trimmed, dropped] = [this.#newest, this.#trimmed, this.#dropped];
    const { length } = row;
    this.#pendingBytes += length;
    this.#store.ifDropped(this.#giveBack, newest, trimmed, dropped, length);
    const number = Math.max(newest, after) + 1;
    this.#newest = number;
    this.#log.append(number, row);
    const upTo = number - this.#maxWaiting;
    if (upTo > trimmed) {
      this.#dropped += upTo - trimmed;
      this.#trimmed = upTo;
      this.#log.trim(upTo);
    }
    return number;
  }

  /** One function for all rows. */
  readonly #giveBack = (newest: number, trimmed: number, dropped: number, bytes: number): void => {
    this.#pendingBytes -= bytes;
    this.#newest = newest;
    this.#trimmed = trimmed;
    this.#dropped = dropped;
  };

  /** Undefined if the row was acknowledged or dropped. */
  get(number: number): Uint8Array | undefined {
    return this.#log.get(number);
  }

  /** The batch under way, if there is one, else a new one over the oldest rows. Undefined when no row is pending. */
  async nextBatch(bounds: BatchBounds, newToken: () => string): Promise<BatchRows | undefined> {
    const current = this.#state.get("batch");
    if (current !== undefined) {
      const { bytes } = await this.#extent(current.first, current.last);
      this.#batchBytes = bytes;
      return this.#rowsOf(withRun(current), false);
    }
    const first = this.#log.trimmed() + 1;
    const { last, rows, bytes } = await this.#extent(first, this.#log.newest(), bounds);
    if (rows === 0) return undefined;
    this.#batchBytes = bytes;
    const token = newToken();
    this.#run ??= token;
    const batch: Batch = { first, last, token, run: this.#run, number: ++this.#batches };
    await this.#store.act(() => this.#state.put("batch", batch), { isOwed: true });
    return this.#rowsOf(batch, first > this.#copiedTo);
  }

  #rowsOf(batch: Batch, isNew: boolean): BatchRows {
    const passing = () => slicesOf(this.#log, batch, { bytes: Buffer.alloc(0) });
    return { batch, isNew, slices: () => slicesOf(this.#log, batch), passing };
  }

  /**
   * Call it when the batch is inserted. The batch is never returned again, and its rows are deleted. Resolves when that
   * is durable.
   */
  async acknowledge({ last }: Batch): Promise<void> {
    const act = () => {
      this.#state.remove("batch");
      this.#log.trim(last);
    };
    await this.#store.act(act, { isOwed: true });
    this.#trimmed = Math.max(this.#trimmed, last);
    this.#pendingBytes = this.pending() === 0 ? 0 : Math.max(0, this.#pendingBytes - this.#batchBytes);
  }

  /** The number of the newest row that was put, whether or not it is committed. */
  newest(): number {
    return this.#newest;
  }

  /** The number of the newest row that is committed. */
  committed(): number {
    return this.#log.newest();
  }

  /** Every row up to and including this number was acknowledged or dropped. */
  acknowledged(): number {
    return this.#log.trimmed();
  }

  /** The number of rows that are neither acknowledged nor dropped. */
  pending(): number {
    return this.#newest - this.#log.trimmed();
  }

  /** Bytes of the pending rows; those of rows from before the start are not counted. */
  pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Rows dropped since the start. */
  dropped(): number {
    return this.#dropped;
  }

  /** How far a batch that begins with `first` goes, up to the bounds. The event loop runs between slices. */
  async #extent(
    first: number,
    newest: number,
    bounds?: BatchBounds,
  ): Promise<{ last: number; rows: number; bytes: number }> {
    let number = first;
    let rows = 0;
    let bytes = 0;
    let isFull = false;
    const slice = () => {
      const [end, most] = [number + SLICE.rows, bytes + SLICE.bytes];
      for (; number <= newest && number < end && bytes < most; number++) {
        const size = this.#log.size(number);
        if (size === undefined) continue;
        isFull = rows > 0 && bounds !== undefined && (rows >= bounds.rows || bytes >= bounds.bytes);
        if (isFull) return;
        rows++;
        bytes += size;
      }
    };
    for (;;) {
      during("insertion", slice);
      if (isFull || number > newest) return { last: number - 1, rows, bytes };
      await nextTurn();
    }
  }
}

async function* slicesOf(log: Log, { first, last }: Batch, memory?: ReadMemory): RowSlices {
  for (let next = first; next <= last; ) {
    const read = during("insertion", () => log.read(next, last, SLICE, memory));
    next = read.next;
    yield read.rows;
    if (next <= last) await nextTurn();
  }
}
