/** Data of an upstream that are not read yet, in the pieces in which they came: nearly always one, which needs no list. */
import type { Piece, Received } from "../format.ts";

const NOTHING = Buffer.alloc(0);
/** Is never written to. */
const NO_OTHERS: Piece[] = [];

export class ReceivedPieces implements Received {
  count = 0;
  /** The sum of all pieces. */
  bytes = 0;
  memory: Buffer = NOTHING;
  start = 0;
  end = 0;
  #others: Piece[] = NO_OTHERS;

  get others(): readonly Piece[] {
    return this.#others;
  }

  /** Bytes of memory that stays as it is until they are read, from `start` up to `end`. */
  add(memory: Buffer, start: number, end: number): void {
    this.bytes += end - start;
    if (this.count++ > 0) {
      if (this.#others === NO_OTHERS) this.#others = [];
      this.#others.push({ memory, start, end });
      return;
    }
    this.memory = memory;
    this.start = start;
    this.end = end;
  }

  /** The same of memory that is used again before. */
  addCopy(memory: Buffer, start: number, end: number): void {
    this.add(Buffer.from(memory.subarray(start, end)), 0, end - start);
  }

  /** @param text latin1 */
  addText(text: string): void {
    if (text !== "") this.add(Buffer.from(text, "latin1"), 0, text.length);
  }

  /** All was read. */
  clear(): void {
    this.count = this.bytes = this.start = this.end = 0;
    this.memory = NOTHING;
    this.#others = NO_OTHERS;
  }
}
