/** A group: the acts that one append to the journal makes durable; they are committed together or not at all. */
import type { LogWrite, Write } from "./frame.ts";

export interface ActOptions {
  /** The write was promised and must not be refused: the charge of an admitted call, or a fact the disk must record. */
  readonly isOwed?: boolean;
}

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
