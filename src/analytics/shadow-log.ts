/**
 * Shadow runs on their way into ClickHouse, in a log of the store. Rows are numbered in commit order; a batch is a range of
 * numbers whose token is on disk before its first insertion, so a retry, also after kill -9, inserts nothing twice. They
 * are samples, not money: where ClickHouse stays away, the oldest give way.
 */
import type { Log, Store, Table } from "../store/store.ts";

/** Rows `first` to `last`, both inclusive. */
export interface ShadowBatch {
  readonly first: number;
  readonly last: number;
  /** The engine's `insert_deduplication_token`. */
  readonly token: string;
}

/** Rows in one insertion: read and laid out in a few milliseconds, between two turns of the event loop. */
const BATCH_ROWS = 1000;

export class ShadowLog {
  readonly #store: Store;
  readonly #log: Log;
  readonly #state: Table<ShadowBatch>;
  readonly #maxWaiting: number;
  /** The greatest number given, committed or about to be. */
  #newest: number;
  /** Rows up to here are gone, or about to be. */
  #trimmed: number;
  #dropped = 0;

  /** @param maxWaiting rows; the oldest beyond it are dropped. */
  constructor(store: Store, maxWaiting: number) {
    this.#store = store;
    this.#log = store.log("shadow_runs");
    this.#state = store.table("shadow_runs_state");
    this.#maxWaiting = maxWaiting;
    // A power failure may have left the batch and taken the last of its rows; under its token no others may go.
    this.#newest = Math.max(this.#log.newest(), this.#state.get("batch")?.last ?? 0);
    this.#trimmed = this.#log.trimmed();
  }

  /** Only in an act. */
  put(row: Uint8Array): void {
    const [newest, trimmed, dropped] = [this.#newest, this.#trimmed, this.#dropped];
    this.#store.ifDropped(() => {
      this.#newest = newest;
      this.#trimmed = trimmed;
      this.#dropped = dropped;
    });
    const number = ++this.#newest;
    this.#log.append(number, row);
    const upTo = number - this.#maxWaiting;
    if (upTo <= this.#trimmed) return;
    this.#dropped += upTo - this.#trimmed;
    this.#trimmed = upTo;
    this.#log.trim(upTo);
  }

  /**
   * The batch under way, where there is one, else a new one over the oldest rows; undefined when nothing waits. `isNew`:
   * made by this very call, so that nobody can have tried to insert it.
   */
  async nextBatch(
    newToken: () => string,
  ): Promise<{ readonly batch: ShadowBatch; readonly isNew: boolean } | undefined> {
    const under = this.#state.get("batch");
    if (under !== undefined) return { batch: under, isNew: false };
    const first = this.#log.trimmed() + 1;
    const last = Math.min(this.#log.newest(), first + BATCH_ROWS - 1);
    if (last < first) return undefined;
    const batch: ShadowBatch = { first, last, token: newToken() };
    await this.#store.act(() => this.#state.put("batch", batch), { isOwed: true });
    return { batch, isNew: true };
  }

  /** Those of a batch that have not been dropped. */
  rows({ first, last }: ShadowBatch): Uint8Array[] {
    const rows: Uint8Array[] = [];
    for (let number = first; number <= last; number++) {
      const row = this.#log.get(number);
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  /** The batch is in the engine: it never comes again, and its rows go. Resolves once that is durable. */
  async acknowledge({ last }: ShadowBatch): Promise<void> {
    const act = () => {
      this.#state.remove("batch");
      this.#log.trim(last);
    };
    await this.#store.act(act, { isOwed: true });
    this.#trimmed = Math.max(this.#trimmed, last);
  }

  /** The number of the newest row, committed or about to be. */
  newest(): number {
    return this.#newest;
  }

  /** Every row up to and including this number is in the engine or dropped. */
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
}
