/**
 * What a stream passes on of the read that is being worked on, in memory that all streams share for that one synchronous moment: memory
 * of its own for each event would cost more than all else that is done with it.
 */
import { type Around, found, goingOut, passRun } from "../../base/scan/runs.ts";
import { putRun } from "./byte-runs.ts";

/** Buffers up to this length are kept: events of a stream are of few lengths, and to make one takes as long as to read an event. */
const MOST_KEPT = 1024;

class PassedBytes {
  length = 0;
  /** Larger than what nearly all reads become. */
  readonly #usual = goingOut;
  #memory = this.#usual;
  /** By length: the beginning of the usual memory. */
  readonly #kept: (Buffer | undefined)[] = Array.from({ length: MOST_KEPT + 1 });

  /** Begins anew, also where a reader has thrown before. */
  clear(): void {
    this.length = 0;
    this.#memory = this.#usual;
  }

  /** Adds all bytes of a piece. */
  add(piece: Buffer): void {
    const at = this.#room(piece.length);
    this.#memory.set(piece, at);
  }

  /** Adds the bytes from `start` up to `end`. */
  addRun(from: Buffer, start: number, end: number): void {
    const at = this.#room(end - start);
    putRun(from, start, end, this.#memory, at);
  }

  /** @param text latin1 */
  addText(text: string): void {
    const at = this.#room(text.length);
    this.#memory.write(text, at, "latin1");
  }

  /** Adds the events of a read that {@link passRun} finds. @returns their number; {@link found} has the rest */
  addEvents(read: Buffer, from: number, to: number, around: Around): number {
    if (this.#memory !== this.#usual) {
      found.begins = true;
      return 0;
    }
    const events = passRun(read, from, to, around, this.length);
    if (events > 0) this.length = found.outEnd;
    return events;
  }

  /** All that was added, to be used at once: the next stream writes to the same memory. */
  taken(): Buffer {
    const { length } = this;
    const memory = this.#memory;
    this.clear();
    if (length > MOST_KEPT || memory !== this.#usual) return memory.subarray(0, length);
    let kept = this.#kept[length];
    if (kept === undefined) {
      kept = memory.subarray(0, length);
      this.#kept[length] = kept;
    }
    return kept;
  }

  /** @returns where that many bytes can be written */
  #room(bytes: number): number {
    const at = this.length;
    this.length = at + bytes;
    if (this.length > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(2 * this.length);
      this.#memory.copy(larger, 0, 0, at);
      this.#memory = larger;
    }
    return at;
  }
}

export type { PassedBytes };

export const passed = new PassedBytes();
