/** Data of an upstream that are not read yet, in the pieces in which they came: nearly always one. */
import type { Received } from "../format.ts";

export class ReceivedPieces implements Received {
  count = 0;
  /** The sum of all pieces. */
  bytes = 0;
  readonly pieces: Buffer[] = [];
  readonly ranges: number[] = [];

  /** Bytes of memory that stays as it is until they are read, from `start` up to `end`. */
  add(memory: Buffer, start: number, end: number): void {
    const { count } = this;
    this.bytes += end - start;
    this.pieces[count] = memory;
    this.ranges[2 * count] = start;
    this.ranges[2 * count + 1] = end;
    this.count = count + 1;
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
    for (let i = 0; i < this.count; i++) this.pieces[i] = NOTHING;
    this.count = 0;
    this.bytes = 0;
  }
}

const NOTHING = Buffer.alloc(0);
