/** All logs of the store, and the table of their trim positions. */
import type { Database, Key } from "lmdb";
import { pack, unpack } from "msgpackr";
import type { LogWrite } from "./frame.ts";
import type { FramePlace } from "./journal.ts";
import { LogRows, type RowAmount, type RowPlace } from "./log.ts";

export const TRIMS = "log_trims";

/** A frame, and where it is in the journal. */
export type CommittedFrame = FramePlace & Pick<RowPlace, "frame">;

export type Databases = (name: string) => Database<Uint8Array, Key>;

export class Logs {
  readonly #databases: Databases;
  readonly #kept: RowAmount;
  readonly #logs = new Map<string, LogRows>();

  /** @param kept rows of each log that stay in the journal */
  constructor(databases: Databases, kept: RowAmount) {
    this.#databases = databases;
    this.#kept = kept;
  }

  of(name: string): LogRows {
    let log = this.#logs.get(name);
    if (log === undefined) {
      const db = this.#databases(name) as Database<Uint8Array, number>;
      log = new LogRows(name, db, this.#trimOf(name), this.#kept);
      this.#logs.set(name, log);
    }
    return log;
  }

  /**
   * The writes of a frame are committed.
   * @param offsets of their values in the frame, which begins at `at` of its file, bytes
   */
  committed(
    writes: readonly LogWrite[],
    offsets: readonly number[],
    { file, at, frame }: CommittedFrame,
  ): void {
    for (let i = 0; i < writes.length; i++) {
      const { log, number, value } = writes[i] as LogWrite;
      if (value === undefined) this.of(log).trimTo(number);
      else this.of(log).add(number, { file, at: at + (offsets[i] as number), length: value.length, frame });
    }
  }

  /** The oldest frame that is needed for a row that LMDB does not have; undefined when none is. */
  oldestFrame(): number | undefined {
    let oldest: number | undefined;
    for (const { oldestFrame } of this.#logs.values()) {
      if (oldestFrame !== undefined) oldest = Math.min(oldest ?? oldestFrame, oldestFrame);
    }
    return oldest;
  }

  /** Whether `move` has anything to do. */
  wait(all: boolean): boolean {
    for (const log of this.#logs.values()) if (log.waits(all)) return true;
    return false;
  }

  /** Inside an LMDB transaction: moves a slice of each log (see there). Call the returned function after the commit. */
  move(all: boolean, applied: number): () => void {
    const moved = [...this.#logs.values()].map((log) => log.move(all, applied, this.#trimOf(log.name)));
    return () => {
      for (const done of moved) done();
    };
  }

  /** Inside a transaction of LMDB. */
  putTrims(trims: ReadonlyMap<string, number>): void {
    for (const [log, upTo] of trims) {
      if (upTo > this.#trimOf(log)) this.#databases(TRIMS).putSync(log, pack(upTo));
    }
  }

  /**
   * Inside an LMDB transaction, after a crash: restores rows of the journal, except those that LMDB records as trimmed.
   */
  restore(rows: readonly LogWrite[]): void {
    for (const { log, number, value } of rows) {
      if (number > this.#trimOf(log)) this.#databases(log).putSync(number, value as Buffer);
    }
  }

  /** The trim position recorded in LMDB. */
  #trimOf(log: string): number {
    const bytes = this.#databases(TRIMS).get(log);
    return bytes === undefined ? 0 : (unpack(bytes) as number);
  }
}
