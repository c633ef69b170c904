/** Commits that one append to the journal makes durable together; they are committed at the same moment or not at all. */
import type { LogWrite, Write } from "./frame.ts";

export class Group {
  readonly writes: Write[] = [];
  readonly logWrites: LogWrite[] = [];
  /** One promise for all of them. It never rejects: an append that failed is tried again. */
  readonly committed: Promise<void>;
  #resolve: () => void = () => {};

  constructor() {
    this.committed = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get size(): number {
    return this.writes.length + this.logWrites.length;
  }

  /** Adds what `write` puts, or nothing when it throws. */
  collect(write: () => void): void {
    const writes = this.writes.length;
    const logWrites = this.logWrites.length;
    try {
      write();
    } catch (error) {
      this.writes.length = writes;
      this.logWrites.length = logWrites;
      throw error;
    }
  }

  done(): void {
    this.#resolve();
  }
}
