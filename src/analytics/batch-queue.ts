/**
 * Rows on their way into ClickHouse, in a log of the store. They are numbered in commit order; a batch is a range of numbers
 * with a token, kept on disk from before its first insertion, so that every retry, also after kill -9, is the same rows
 * under the same token.
 */
import type { Log, Store, Table } from "../store/store.ts";

/** Rows `first` to `last`, both inclusive; numbers in between may be missing. */
export interface Batch {
  readonly first: number;
  readonly last: number;
  /** The engine's `insert_deduplication_token`. */
  readonly token: string;
  /** Names this opening of the queue; no other opening, of whatever copy of the folder, ever has the same. */
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

/** What hands rows out in batches. */
export interface Batches {
  /**
   * The batch under way, where there is one, else a new one over the oldest rows of one layout (its version is a row's
   * first byte: a batch is inserted under one list of columns); undefined when nothing is pending.
   */
  nextBatch(bounds: BatchBounds, newToken: () => string): Promise<BatchRows | undefined>;
  /** The batch is in the engine: it never comes again, and its rows go. Resolves once that is durable. */
  acknowledge(batch: Batch): Promise<void>;
  /** The number of the newest row put so far, committed or about to be. */
  newest(): number;
  /** Every row up to and including this number is acknowledged, or dropped. */
  acknowledged(): number;
  /** Rows neither acknowledged nor dropped. */
  pending(): number;
}

export interface BatchQueueOptions {
  readonly store: Store;
  /** Name of the log; its table is `<name>_state`. */
  readonly name: string;
  /** Rows; the oldest beyond it are dropped, also out of a batch under way. Unbounded unless given. */
  readonly maxWaiting?: number;
}

/** A batch as it is kept; an earlier release told neither its run nor its number. */
type KeptBatch = Omit<Batch, "run" | "number"> & Partial<Batch>;

/** A batch of the earlier release is a run of its own: no row that came before it is of the same one. */
const withRun = (batch: KeptBatch): Batch => ({ run: batch.token, number: 1, ...batch });

/** Rows read between two turns of the event loop. */
const SLICE = 250;

export class BatchQueue implements Batches {
  readonly #store: Store;
  readonly #log: Log;
  readonly #state: Table<KeptBatch>;
  readonly #maxWaiting: number;
  /** The greatest number given, committed or about to be. */
  #newest: number;
  /** Rows up to here are gone, or about to be. */
  #trimmed: number;
  #dropped = 0;
  /** Of the batches made since the store was opened. */
  #run: string | undefined;
  #batches = 0;

  constructor({ store, name, maxWaiting = Number.POSITIVE_INFINITY }: BatchQueueOptions) {
    this.#store = store;
    this.#log = store.log(name);
    this.#state = store.table(`${name}_state`);
    this.#maxWaiting = maxWaiting;
    // A power failure may have left the batch and taken the last of its rows; under its token no others may go.
    this.#newest = Math.max(this.#log.newest(), this.#state.get("batch")?.last ?? 0);
    this.#trimmed = this.#log.trimmed();
  }

  /**
   * Only in an act: those commit in the order of their numbers, which batches rely on.
   * @param after the number is greater than this one
   * @returns the row's number: a new one each time, so that no row appears inside a batch that was read
   */
  put(row: Uint8Array, after = 0): number {
    const [newest, trimmed, dropped] = [this.#newest, this.#trimmed, this.#dropped];
    this.#store.ifDropped(() => {
      this.#newest = newest;
      this.#trimmed = trimmed;
      this.#dropped = dropped;
    });
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

  /** Undefined where it is acknowledged or dropped. */
  get(number: number): Uint8Array | undefined {
    return this.#log.get(number);
  }

  async nextBatch(bounds: BatchBounds, newToken: () => string): Promise<BatchRows | undefined> {
    const current = this.#state.get("batch");
    if (current !== undefined) {
      const { rows } = await this.#read(current.first, current.last);
      return { batch: withRun(current), rows, isNew: false };
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

  async acknowledge({ last }: Batch): Promise<void> {
    const act = () => {
      this.#state.remove("batch");
      this.#log.trim(last);
    };
    await this.#store.act(act, { isOwed: true });
    this.#trimmed = Math.max(this.#trimmed, last);
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

  /** Rows that gave way, since the start. */
  dropped(): number {
    return this.#dropped;
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
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
