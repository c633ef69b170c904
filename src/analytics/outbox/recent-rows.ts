/**
 * The newest rows of the outbox by number, pending or not, in memory: a lookup right after a call needs neither disk nor
 * ClickHouse.
 */

const ROWS = 2000;
const BYTES = 8 * 1024 * 1024;
/** A longer row is not kept. */
const ROW_BYTES = 256 * 1024;

export class RecentRows {
  /** A ring buffer: a row is at its number modulo the length. */
  readonly #rows: (Uint8Array | undefined)[] = new Array(ROWS).fill(undefined);
  #oldest = 0;
  #newest = -1;
  #bytes = 0;

  /** No row with a smaller number is kept. */
  get oldest(): number {
    return this.#oldest;
  }

  get(number: number): Uint8Array | undefined {
    return number < this.#oldest || number > this.#newest ? undefined : this.#rows[number % ROWS];
  }

  /** @param number greater than all before */
  add(number: number, row: Uint8Array): void {
    if (this.#newest < 0) this.#oldest = number;
    this.#newest = number;
    const kept = row.length <= ROW_BYTES;
    if (kept) this.#bytes += row.length;
    while (number - this.#oldest >= ROWS || this.#bytes > BYTES) this.#forgetOldest();
    if (kept) this.#rows[number % ROWS] = row;
  }

  #forgetOldest(): void {
    const at = this.#oldest++ % ROWS;
    this.#bytes -= this.#rows[at]?.length ?? 0;
    this.#rows[at] = undefined;
  }
}
