/** All logs of the store, and the table of their trim positions. */
import type { Database, Key } from "lmdb";
import { pack, unpack } from "msgpackr";
import type { LogWrite } from "./frame.ts";
import { type LogMemory, LogRows } from "./log.ts";

export const TRIMS = "log_trims";

export type Databases = (name: string) => Database<Uint8Array, Key>;

export class Logs {
  readonly #databases: Databases;
  readonly #memory: LogMemory;
  readonly #logs = new Map<string, LogRows>();

  /** `memory`: bounds for each log. */
  constructor(databases: Databases, memory: LogMemory) {
    this.#databases = databases;
    this.#memory = memory;
  }

  of(name: string): LogRows {
    let log = this.#logs.get(name);
    if (log === undefined) {
      const db = this.#databases(name) as Database<Uint8Array, number>;
      log = new LogRows(name, db, this.#trimmed(name), this.#memory);
      this.#logs.set(name, log);
    }
    return log;
  }

  /** The write is committed, in this journal frame. */
  committed({ log, number, value }: LogWrite, frame: number): void {
    if (value === undefined) this.of(log).trimTo(number);
    else this.of(log).add(number, value, frame);
  }

  /** The oldest frame that a row in memory needs; undefined when none does. */
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
    const moved = [...this.#logs.values()].map((log) => log.move(all, applied, this.#trimmed(log.name)));
    return () => {
      for (const done of moved) done();
    };
  }

  /** Inside a transaction of LMDB. */
  putTrims(trims: ReadonlyMap<string, number>): void {
    for (const [log, upTo] of trims) {
      if (upTo > this.#trimmed(log)) this.#databases(TRIMS).putSync(log, pack(upTo));
    }
  }

  /**
   * Inside an LMDB transaction, after a crash: restores rows of the journal, except those that LMDB records as trimmed.
   */
  restore(rows: readonly LogWrite[]): void {
    for (const { log, number, value } of rows) {
      if (number > this.#trimmed(log)) this.#databases(log).putSync(number, value as Buffer);
    }
  }

  /** The trim position recorded in LMDB. */
  #trimmed(log: string): number {
    const bytes = this.#databases(TRIMS).get(log);
    return bytes === undefined ? 0 : (unpack(bytes) as number);
  }
}
