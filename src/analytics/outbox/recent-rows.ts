/**
 * The newest rows of the outbox by number, pending or not: a lookup right after a call needs neither disk nor ClickHouse. They are
 * copied into one piece of memory, in which the newest row takes the place of the oldest ones.
 */

const ROWS = 2000;
const BYTES = 2 * 1024 * 1024;
/** A longer row is not kept. */
const ROW_BYTES = 256 * 1024;

export class RecentRows {
  readonly #bytes = Buffer.allocUnsafeSlow(BYTES);
  /** By number modulo the length. Positions only grow: a row lies at its position modulo the memory's size. */
  readonly #positions = new Float64Array(ROWS);
  /** Bytes; 0 for a row that is not kept. */
  readonly #lengths = new Uint32Array(ROWS);
  #oldest = 0;
  #newest = -1;
  #position = 0;

  /** No row with a smaller number is kept. */
  get oldest(): number {
    return this.#oldest;
  }

  /** A copy of the row. */
  get(number: number): Buffer | undefined {
    if (number < this.#oldest || number > this.#newest) return undefined;
    const length = this.#lengths[number % ROWS] as number;
    if (length === 0) return undefined;
    const at = (this.#positions[number % ROWS] as number) % BYTES;
    return Buffer.from(this.#bytes.subarray(at, at + length));
  }

  /** @param number greater than all before; numbers in between have no row */
  add(number: number, row: Uint8Array): void {
    if (this.#newest < 0 || number - this.#newest > ROWS) this.#oldest = number;
    for (let skipped = Math.max(this.#newest + 1, this.#oldest); skipped < number; skipped++)
      this.#note(skipped, this.#position, 0);
    this.#newest = number;
    const length = row.length <= ROW_BYTES ? row.length : 0;
    const at = this.#position % BYTES;
    // A row lies in one piece: where the end is too near, the bytes up to it stay unused.
    const position = at + length <= BYTES ? this.#position : this.#position + BYTES - at;
    this.#position = position + length;
    while (this.#oldest < number && this.#isOver(number)) this.#oldest++;
    this.#note(number, position, length);
    if (length > 0) this.#bytes.set(row, position % BYTES);
  }

  /** Whether the oldest row's place is needed, of the list or of the memory. */
  #isOver(number: number): boolean {
    const position = this.#positions[this.#oldest % ROWS] as number;
    return number - this.#oldest >= ROWS || this.#position - position > BYTES;
  }

  #note(number: number, position: number, length: number): void {
    this.#positions[number % ROWS] = position;
    this.#lengths[number % ROWS] = length;
  }
}
