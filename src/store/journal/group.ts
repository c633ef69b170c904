/** A group: the acts that one append to the journal makes durable; they are committed together or not at all. */
import type { LogWrite, Write } from "./frame.ts";

export interface ActOptions {
  /** The write was promised and must not be refused: the charge of an admitted call, or a fact the disk must record. */
  readonly isOwed?: boolean;
}

type OpenWrite = { -readonly [K in keyof Write]: Write[K] };

/** A write whose row may still be replaced, by acts of the same group: it is encoded when its bytes are needed. */
interface LateWrite {
  readonly write: OpenWrite;
  row: unknown;
  readonly encode: Encode;
  isEncoded: boolean;
}

/** Makes the bytes of a row under a key. */
type Encode = (row: never, text: string) => Uint8Array;

const NO_BYTES = new Uint8Array(0);

/** Reverts what an act changed in memory, of what it was told with it. */
export type Undo<A, B, C, D> = (a: A, b: B, c: C, d: D) => void;

/** An undo, and what it is given. */
const UNDO_PARTS = 5;

/** Undoes a row of `putLast` that was the first of its key. */
const forget = (rows: Map<string, LateWrite>, text: string): void => void rows.delete(text);

export class Group {
  readonly writes: Write[] = [];
  readonly logWrites: LogWrite[] = [];
  /** Shared by all acts of the group. It never rejects: a failed append is retried. */
  readonly committed: Promise<void>;
  /** All its writes are committed. */
  readonly done: () => void;
  /**
   * Index of the newest write per table and key, for a limited number of writes: most acts read nothing that is
   * uncommitted.
   */
  readonly #newest = new Map<string, Map<string, Write>>();
  #indexed = 0;
  /** By table and key. */
  readonly #late = new Map<string, Map<string, LateWrite>>();
  /** Those that may lack the bytes of their row. */
  #unencoded: LateWrite[] = [];
  /**
   * Functions that undo what the running act changed in memory, each with the four things that it is given. What is behind
   * `#undoParts` is of earlier acts of the group: to make the list shorter is a call into V8.
   */
  readonly #undos: unknown[] = [];
  #undoParts = 0;

  readonly #undoAppend: (write: LogWrite) => void;

  /** @param undoAppend called for each log row appended by an act that is dropped */
  constructor(undoAppend: (write: LogWrite) => void) {
    this.#undoAppend = undoAppend;
    ({ promise: this.committed, resolve: this.done } = Promise.withResolvers<void>());
  }

  get size(): number {
    return this.writes.length + this.logWrites.length;
  }

  /** Runs `act` and adds its writes, or none when it throws. */
  collect<T>(act: () => T): T {
    const writes = this.writes.length;
    const logWrites = this.logWrites.length;
    try {
      return act();
    } catch (error) {
      this.#drop(writes, logWrites);
      throw error;
    } finally {
      this.#undoParts = 0;
    }
  }

  /** Runs `act` and drops its writes. */
  rehearse(act: () => unknown): void {
    const writes = this.writes.length;
    const logWrites = this.logWrites.length;
    try {
      act();
    } finally {
      this.#drop(writes, logWrites);
    }
  }

  /** Only in an act. */
  put(write: Write): void {
    this.writes.push(write);
    const rows = this.#late.get(write.table);
    const late = rows?.get(write.text);
    if (rows === undefined || late === undefined) return;
    // What replaces it must stand behind this write.
    encodeLate(late);
    rows.delete(write.text);
  }

  /** Only in an act: a row that replaces those that earlier acts of the group have put so under its key. */
  putLast({ table, key, text }: Omit<Write, "value">, row: unknown, encode: Encode): void {
    let rows = this.#late.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#late.set(table, rows);
    }
    const known = rows.get(text);
    if (known === undefined) {
      const write: OpenWrite = { table, key, text, value: NO_BYTES };
      this.writes.push(write);
      const late = { write, row, encode, isEncoded: false };
      rows.set(text, late);
      this.#unencoded.push(late);
      this.ifDropped(forget, rows, text);
      return;
    }
    const before = known.row;
    this.#replace(known, row);
    this.ifDropped(this.#giveBack, rows, known, before);
  }

  /** Undoes a row of `putLast` that replaced another. */
  readonly #giveBack = (rows: Map<string, LateWrite>, known: LateWrite, before: unknown): void => {
    this.#replace(known, before);
    rows.set(known.write.text, known);
  };

  /** Gives the rows of `putLast` their bytes; before any of the writes is read. */
  encode(): void {
    if (this.#unencoded.length === 0) return;
    for (const late of this.#unencoded) encodeLate(late);
    this.#unencoded = [];
  }

  #replace(late: LateWrite, row: unknown): void {
    late.row = row;
    if (late.isEncoded) this.#unencoded.push(late);
    late.isEncoded = false;
  }

  /** Registers `undo`, with what it is given, for the case that the running act is dropped; undos run in reverse order. */
  ifDropped<A, B, C, D>(undo: Undo<A, B, C, D>, a?: A, b?: B, c?: C, d?: D): void {
    const undos = this.#undos;
    const at = this.#undoParts;
    undos[at] = undo;
    undos[at + 1] = a;
    undos[at + 2] = b;
    undos[at + 3] = c;
    undos[at + 4] = d;
    this.#undoParts = at + UNDO_PARTS;
  }

  /** The newest write of a key; undefined where there is none. */
  find(table: string, text: string): Write | undefined {
    return this.of(table)?.get(text);
  }

  /** The newest write of each key of a table. */
  of(table: string): ReadonlyMap<string, Write> | undefined {
    if (this.#late.has(table)) this.encode();
    for (; this.#indexed < this.writes.length; this.#indexed++) {
      const write = this.writes[this.#indexed] as Write;
      const rows = this.#newest.get(write.table);
      if (rows === undefined) this.#newest.set(write.table, new Map([[write.text, write]]));
      else rows.set(write.text, write);
    }
    return this.#newest.get(table);
  }

  #drop(writes: number, logWrites: number): void {
    while (this.#undoParts > 0) {
      this.#undoParts -= UNDO_PARTS;
      const [undo, a, b, c, d] = this.#undos.slice(this.#undoParts, this.#undoParts + UNDO_PARTS);
      (undo as Undo<unknown, unknown, unknown, unknown>)(a, b, c, d);
    }
    this.writes.length = writes;
    for (const write of this.logWrites.splice(logWrites).reverse()) this.#undoAppend(write);
    if (this.#indexed <= writes) return;
    // The index does not know which writes were overwritten, so it is rebuilt.
    this.#newest.clear();
    this.#indexed = 0;
  }
}

function encodeLate(late: LateWrite): void {
  if (late.isEncoded) return;
  late.write.value = late.encode(late.row as never, late.write.text);
  late.isEncoded = true;
}
