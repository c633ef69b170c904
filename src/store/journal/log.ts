/**
 * A log of the store: rows numbered in commit order, appended at one end and trimmed at the other. They live in the
 * journal and in memory; only long-lived ones move to LMDB, oldest first and a slice at a time. Invariant: rows up to
 * `#trimmed` are gone, of the others those before `#first` are in LMDB and the rest in memory.
 */
import type { Database } from "lmdb";

/** The interface of a log. Reads are synchronous and see every committed row. */
export interface Log {
  /**
   * Only in an act. The bytes are stored as given and must not change.
   * @throws RangeError unless the number is greater than all before; numbers may be skipped.
   */
  append(number: number, row: Uint8Array): void;
  /** Only in an act: removes all rows up to and including this number. One write, however many they are. */
  trim(upTo: number): void;
  get(number: number): Uint8Array | undefined;
  /** The greatest number that is committed or trimmed; 0 for a log never used. */
  newest(): number;
  /** Every row up to and including this number is gone. */
  trimmed(): number;
}

/** Rows in memory beyond either bound move to LMDB. */
export interface LogMemory {
  readonly rows: number;
  readonly bytes: number;
}

const KEEP_NONE: LogMemory = { rows: 0, bytes: 0 };
/** Rows moved in one LMDB transaction, so that no call waits long for it: so many rows of 3 KB take 0.4 ms, a megabyte of large ones 0.3. */
const SLICE_ROWS = 200;
const SLICE_BYTES = 1024 * 1024;

export class LogRows {
  readonly name: string;
  readonly #db: Database<Uint8Array, number>;
  readonly #memory: LogMemory;
  #trimmed: number;
  /** The greatest number appended, committed or not. */
  #appended: number;
  /** The number of the first of `#rows`. */
  #first: number;
  /** Consecutive by number; undefined where a number was skipped. */
  #rows: (Uint8Array | undefined)[] = [];
  /** The journal frame that holds each of `#rows`; never falls. */
  #frames: number[] = [];
  #bytes = 0;
  /** Range of numbers that LMDB holds, both inclusive; empty where they have crossed. */
  #oldestStored: number;
  #newestStored: number;

  /** `trimmed`: as recorded in LMDB. */
  constructor(name: string, db: Database<Uint8Array, number>, trimmed: number, memory: LogMemory) {
    this.name = name;
    this.#db = db;
    this.#memory = memory;
    this.#trimmed = trimmed;
    [this.#oldestStored = 1] = db.getKeys({ limit: 1 });
    [this.#newestStored = 0] = db.getKeys({ limit: 1, reverse: true });
    this.#appended = Math.max(trimmed, this.#newestStored);
    this.#first = this.#appended + 1;
  }

  get trimmed(): number {
    return this.#trimmed;
  }

  get newest(): number {
    return this.#first + this.#rows.length - 1;
  }

  /** The oldest frame that a row in memory needs; undefined when none does. */
  get oldestFrame(): number | undefined {
    return this.#frames[0];
  }

  get(number: number): Uint8Array | undefined {
    if (number <= this.#trimmed) return undefined;
    return number >= this.#first ? this.#rows[number - this.#first] : this.#db.get(number);
  }

  /** Reserves the number for a row that is about to be committed. */
  claim(number: number): void {
    if (number <= this.#appended) throw new RangeError(`${this.name} has a row ${this.#appended} already`);
    this.#appended = number;
  }

  /** The row, and all reserved after it, will not be committed. */
  unclaim(number: number): void {
    if (this.#appended === number) this.#appended = number - 1;
  }

  /** The row is committed, in this journal frame. */
  add(number: number, row: Uint8Array, frame: number): void {
    if (this.#rows.length === 0) this.#first = number;
    while (this.newest < number - 1) {
      this.#rows.push(undefined);
      this.#frames.push(frame);
    }
    this.#rows.push(row);
    this.#frames.push(frame);
    this.#bytes += row.length;
  }

  trimTo(upTo: number): void {
    if (upTo <= this.#trimmed) return;
    this.#trimmed = upTo;
    this.#appended = Math.max(this.#appended, upTo);
    this.#leaveMemory(upTo);
    if (this.#rows.length === 0) this.#first = Math.max(this.#first, upTo + 1);
  }

  /** Whether rows should move to LMDB (`all`: any) or be removed from it. */
  waits(all: boolean): boolean {
    const { rows, bytes } = all ? KEEP_NONE : this.#memory;
    if (this.#rows.length > rows || this.#bytes > bytes) return true;
    return this.#oldestStored <= Math.min(this.#trimmed, this.#newestStored);
  }

  /**
   * Inside an LMDB transaction: moves a slice of the oldest rows from memory to LMDB where `waits` says so, none of a
   * frame beyond `applied`, and removes a slice of trimmed rows. Call the returned function after the commit.
   */
  move(all: boolean, applied: number, trimmed: number): () => void {
    const swept = this.#sweep(trimmed);
    const stored = this.#store(all ? KEEP_NONE : this.#memory, applied);
    return () => {
      this.#oldestStored = Math.max(this.#oldestStored, swept + 1);
      if (stored === undefined) return;
      // If LMDB held no rows, the numbers in between were never in it.
      if (this.#newestStored < this.#oldestStored) this.#oldestStored = stored.first;
      this.#newestStored = stored.last;
      this.#leaveMemory(stored.last);
    };
  }

  #sweep(trimmed: number): number {
    const last = Math.min(trimmed, this.#newestStored, this.#oldestStored + SLICE_ROWS - 1);
    for (let number = this.#oldestStored; number <= last; number++) this.#db.removeSync(number);
    return last;
  }

  #store(memory: LogMemory, applied: number): { first: number; last: number } | undefined {
    let bytes = 0;
    let at = 0;
    for (; at < SLICE_ROWS && bytes < SLICE_BYTES; at++) {
      const frame = this.#frames[at];
      if (frame === undefined || frame > applied) break;
      if (this.#rows.length - at <= memory.rows && this.#bytes - bytes <= memory.bytes) break;
      const row = this.#rows[at];
      if (row === undefined) continue;
      this.#db.putSync(this.#first + at, row as Buffer);
      bytes += row.length;
    }
    return at === 0 ? undefined : { first: this.#first, last: this.#first + at - 1 };
  }

  #leaveMemory(upTo: number): void {
    const count = Math.min(upTo + 1 - this.#first, this.#rows.length);
    if (count <= 0) return;
    for (const row of this.#rows.splice(0, count)) this.#bytes -= row?.length ?? 0;
    this.#frames.splice(0, count);
    this.#first += count;
  }
}
