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
  /** Functions that undo what the running act changed in memory. */
  #undos: (() => void)[] = [];

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
      // A new list: V8 shortens one in its runtime.
      this.#undos = [];
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
      this.#undos.push(() => rows.delete(text));
      return;
    }
    const before = known.row;
    this.#replace(known, row);
    this.#undos.push(() => {
      this.#replace(known, before);
      rows.set(text, known);
    });
  }

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

  /** Registers `undo` for the case that the running act is dropped; undos run in reverse order. */
  ifDropped(undo: () => void): void {
    this.#undos.push(undo);
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
    for (let undo = this.#undos.pop(); undo !== undefined; undo = this.#undos.pop()) undo();
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
