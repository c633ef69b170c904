/**
 * A log of the store: rows numbered in commit order, appended at one end and trimmed at the other. They live in the
 * journal's files, and are read from there: kept in memory too, the rows of two busy seconds would take tens of megabytes.
 * Only long-lived ones move to LMDB, oldest first and a slice at a time. Invariant: rows up to `#trimmed` are gone, of the
 * others those before `#first` are in LMDB and the rest in the journal.
 */
import type { Database } from "lmdb";
import { type JournalFile, type ReadMemory, readAt } from "./read-at.ts";

/** The interface of a log. Reads are synchronous and see every committed row. */
export interface Log {
  /**
   * Only in an act. The bytes are stored as given and must not change.
   * @throws RangeError unless the number is greater than all before; numbers may be skipped.
   */
  append(number: number, row: Uint8Array): void;
  /** Only in an act: removes all rows up to and including this number. One write, however many they are. */
  trim(upTo: number): void;
  /** @throws Error of the disk */
  get(number: number): Uint8Array | undefined;
  /** Bytes of the row; undefined where there is none. */
  size(number: number): number | undefined;
  /**
   * The rows from `first` to `last`, until there are as many, or as many bytes, as asked for.
   * @param memory rows that an earlier read with it gave are overwritten. @throws Error of the disk
   */
  read(first: number, last: number, most: RowAmount, memory?: ReadMemory): ReadRows;
  /** The greatest number that is committed or trimmed; 0 for a log never used. */
  newest(): number;
  /** Every row up to and including this number is gone. */
  trimmed(): number;
}

/** So many rows, or so many bytes of them. */
export interface RowAmount {
  readonly rows: number;
  readonly bytes: number;
}

export interface ReadRows {
  readonly rows: readonly Uint8Array[];
  /** The number behind the last one that was looked at. */
  readonly next: number;
}

/** Where a committed row is in the journal. */
export interface RowPlace {
  readonly file: JournalFile;
  /** Offset in the file, and length, bytes. */
  readonly at: number;
  readonly length: number;
  /** The frame that holds it. */
  readonly frame: number;
}

const KEEP_NONE: RowAmount = { rows: 0, bytes: 0 };
/** Rows moved in one LMDB transaction, so that no call waits long for it: so many rows of 3 KB take 0.4 ms, a megabyte of large ones 0.3. */
const SLICE_ROWS = 200;
const SLICE_BYTES = 1024 * 1024;
/** Bytes of other writes between rows, beyond those of the rows, that are read with them. */
const MOST_BETWEEN = 256 * 1024;
/** In place of a length: the number has no row. */
const SKIPPED = -1;

export class LogRows {
  readonly name: string;
  readonly #db: Database<Uint8Array, number>;
  /** Rows in the journal beyond either bound move to LMDB. */
  readonly #kept: RowAmount;
  #trimmed: number;
  /** The greatest number appended, committed or not. */
  #appended: number;
  /** The number of the first of `#rows`. */
  #first: number;
  /** Those in the journal, consecutive by number; a skipped number has the place of the next row, and no length. */
  #rows: RowPlace[] = [];
  #bytes = 0;
  /** Range of numbers that LMDB holds, both inclusive; empty where they have crossed. */
  #oldestStored: number;
  #newestStored: number;

  /** `trimmed`: as recorded in LMDB. */
  constructor(name: string, db: Database<Uint8Array, number>, trimmed: number, kept: RowAmount) {
    this.name = name;
    this.#db = db;
    this.#kept = kept;
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

  /** The oldest frame that is needed for a row that LMDB does not have; undefined when none is. */
  get oldestFrame(): number | undefined {
    return this.#rows[0]?.frame;
  }

  get(number: number): Uint8Array | undefined {
    if (number <= this.#trimmed) return undefined;
    if (number < this.#first) return this.#db.get(number);
    const place = this.#rows[number - this.#first];
    return place === undefined || isSkipped(place) ? undefined : readAt(place.file, place.at, place.length);
  }

  size(number: number): number | undefined {
    if (number <= this.#trimmed) return undefined;
    if (number < this.#first) return this.#db.get(number)?.length;
    const place = this.#rows[number - this.#first];
    return place === undefined || isSkipped(place) ? undefined : place.length;
  }

  read(first: number, last: number, most: RowAmount, memory?: ReadMemory): ReadRows {
    const rows: Uint8Array[] = [];
    const end = Math.min(last, this.newest);
    let number = Math.max(first, this.#trimmed + 1);
    for (let bytes = 0; number <= end && rows.length < most.rows && bytes < most.bytes; ) {
      if (number < this.#first) {
        const row = this.#db.get(number++);
        if (row === undefined) continue;
        rows.push(row);
        bytes += row.length;
      } else {
        const left = { rows: most.rows - rows.length, bytes: most.bytes - bytes };
        // A second run of this read must not overwrite the first.
        const run = this.#run(number, end, left, rows.length === 0 ? memory : undefined);
        rows.push(...run.rows);
        bytes += run.bytes;
        number = run.next;
      }
    }
    return { rows, next: number > end ? last + 1 : number };
  }

  /** Reads rows that follow one another in a file at once, with what lies between them. */
  #run(first: number, last: number, most: RowAmount, memory: ReadMemory | undefined) {
    const places: RowPlace[] = [];
    let next = first;
    let bytes = 0;
    for (; next <= last && places.length < most.rows && bytes < most.bytes; next++) {
      const place = this.#rows[next - this.#first] as RowPlace;
      if (isSkipped(place)) continue;
      const start = places[0] ?? place;
      // Other writes may lie between two rows; they need not be read for a few more rows.
      if (place.file !== start.file || place.at - start.at > bytes + MOST_BETWEEN) break;
      places.push(place);
      bytes += place.length;
    }
    const [start] = places;
    const end = places.at(-1);
    if (start === undefined || end === undefined) return { rows: [], bytes, next };
    const read = readAt(start.file, start.at, end.at + end.length - start.at, memory);
    const rows = places.map(({ at, length }) => read.subarray(at - start.at, at - start.at + length));
    return { rows, bytes, next };
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

  /** The row is committed, at this place. */
  add(number: number, place: RowPlace): void {
    if (this.#rows.length === 0) this.#first = number;
    while (this.newest < number - 1) this.#rows.push({ ...place, length: SKIPPED });
    this.#rows.push(place);
    this.#bytes += place.length;
  }

  trimTo(upTo: number): void {
    if (upTo <= this.#trimmed) return;
    this.#trimmed = upTo;
    this.#appended = Math.max(this.#appended, upTo);
    this.#leaveJournal(upTo);
    if (this.#rows.length === 0) this.#first = Math.max(this.#first, upTo + 1);
  }

  /** Whether rows should move to LMDB (`all`: any) or be removed from it. */
  waits(all: boolean): boolean {
    const { rows, bytes } = all ? KEEP_NONE : this.#kept;
    if (this.#rows.length > rows || this.#bytes > bytes) return true;
    return this.#oldestStored <= Math.min(this.#trimmed, this.#newestStored);
  }

  /**
   * Inside an LMDB transaction: moves a slice of the oldest rows from the journal to LMDB where `waits` says so, none of a
   * frame beyond `applied`, and removes a slice of trimmed rows. Call the returned function after the commit.
   */
  move(all: boolean, applied: number, trimmed: number): () => void {
    const swept = this.#sweep(trimmed);
    const stored = this.#store(all ? KEEP_NONE : this.#kept, applied);
    return () => {
      this.#oldestStored = Math.max(this.#oldestStored, swept + 1);
      if (stored === undefined) return;
      // If LMDB held no rows, the numbers in between were never in it.
      if (this.#newestStored < this.#oldestStored) this.#oldestStored = stored.first;
      this.#newestStored = stored.last;
      this.#leaveJournal(stored.last);
    };
  }

  #sweep(trimmed: number): number {
    const last = Math.min(trimmed, this.#newestStored, this.#oldestStored + SLICE_ROWS - 1);
    for (let number = this.#oldestStored; number <= last; number++) this.#db.removeSync(number);
    return last;
  }

  #store(kept: RowAmount, applied: number): { first: number; last: number } | undefined {
    const rows: [number: number, row: Buffer][] = [];
    let bytes = 0;
    let at = 0;
    for (; at < SLICE_ROWS && bytes < SLICE_BYTES; at++) {
      const place = this.#rows[at];
      if (place === undefined || place.frame > applied) break;
      if (this.#rows.length - at <= kept.rows && this.#bytes - bytes <= kept.bytes) break;
      if (isSkipped(place)) continue;
      rows.push([this.#first + at, readAt(place.file, place.at, place.length)]);
      bytes += place.length;
    }
    // All or none: what a failed read left in LMDB would not be known to be there.
    for (const [number, row] of rows) this.#db.putSync(number, row);
    return at === 0 ? undefined : { first: this.#first, last: this.#first + at - 1 };
  }

  #leaveJournal(upTo: number): void {
    const count = Math.min(upTo + 1 - this.#first, this.#rows.length);
    if (count <= 0) return;
    for (const { length } of this.#rows.splice(0, count)) this.#bytes -= Math.max(0, length);
    this.#first += count;
  }
}

const isSkipped = ({ length }: RowPlace): boolean => length === SKIPPED;
