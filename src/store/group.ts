/** Acts that one append to the journal makes durable together; they are committed at the same moment or not at all. */
import type { LogWrite, Write } from "./frame.ts";

export class Group {
  readonly writes: Write[] = [];
  readonly logWrites: LogWrite[] = [];
  /** One promise for all of them. It never rejects: an append that failed is tried again. */
  readonly committed: Promise<void>;
  #resolve: () => void = () => {};
  /** The newest write of each key of each table, of the first so many writes: most acts read nothing that waits here. */
  readonly #newest = new Map<string, Map<string, Write>>();
  #indexed = 0;
  /** What the act that runs changed in memory, as functions that change it back. */
  readonly #undos: (() => void)[] = [];

  readonly #undoAppend: (write: LogWrite) => void;

  /** @param undoAppend told of each row that was appended to a log by an act that is dropped */
  constructor(undoAppend: (write: LogWrite) => void) {
    this.#undoAppend = undoAppend;
    this.committed = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get size(): number {
    return this.writes.length + this.logWrites.length;
  }

  /** Runs `act` and adds what it puts, or nothing when it throws. */
  collect<T>(act: () => T): T {
    const writes = this.writes.length;
    const logWrites = this.logWrites.length;
    try {
      return act();
    } catch (error) {
      this.#drop(writes, logWrites);
      throw error;
    } finally {
      this.#undos.length = 0;
    }
  }

  /** Runs `act` and drops what it puts. */
  rehearse(act: () => unknown): void {
    const writes = this.writes.length;
    const logWrites = this.logWrites.length;
    try {
      act();
    } finally {
      this.#drop(writes, logWrites);
    }
  }

  /** Runs `undo` should the act that runs be dropped: the last one first. */
  ifDropped(undo: () => void): void {
    this.#undos.push(undo);
  }

  /** The newest write of a key; undefined where none waits. */
  find(table: string, text: string): Write | undefined {
    return this.of(table)?.get(text);
  }

  /** The newest write of each key of a table. */
  of(table: string): ReadonlyMap<string, Write> | undefined {
    for (; this.#indexed < this.writes.length; this.#indexed++) {
      const write = this.writes[this.#indexed] as Write;
      const rows = this.#newest.get(write.table);
      if (rows === undefined) this.#newest.set(write.table, new Map([[write.text, write]]));
      else rows.set(write.text, write);
    }
    return this.#newest.get(table);
  }

  done(): void {
    this.#resolve();
  }

  #drop(writes: number, logWrites: number): void {
    for (let undo = this.#undos.pop(); undo !== undefined; undo = this.#undos.pop()) undo();
    this.writes.length = writes;
    for (const write of this.logWrites.splice(logWrites).reverse()) this.#undoAppend(write);
    if (this.#indexed <= writes) return;
    // What was written over cannot be told from the index: it is made anew.
    this.#newest.clear();
    this.#indexed = 0;
  }
}
