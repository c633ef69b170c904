/**
 * An exact sliding window: a log of weights, one entry per millisecond. A weight added at t counts until t + 60,000
 * (exclusive), so the sum over any 60 s never exceeds the limit, and waits are exact to the millisecond.
 */

export const WINDOW_MS = 60_000;
const SMALLEST = 8;
const EMPTY_RING = new Float64Array(0);

/** Times are whole milliseconds of one clock that never steps back. */
export class SlidingWindow {
  /** Ring buffer of times and running sums, each including its entry. Running sums allow a binary search for waits. */
  #atMs = EMPTY_RING;
  #sum = EMPTY_RING;
  #head = 0;
  #size = 0;
  /** The running sum before the oldest entry. */
  #gone = 0;
  /** The time of the last look for entries that are over: a call looks several times, and many calls within a millisecond. */
  #lookedAtMs = -1;

  /** The current sum. */
  total(nowMs: number): number {
    this.#expire(nowMs);
    return this.#newest() - this.#gone;
  }

  add(nowMs: number, weight: number): void {
    if (weight === 0) return;
    this.#expire(nowMs);
    const sum = this.#newest() + weight;
    if (this.#size > 0 && this.#atMs[this.#slot(this.#size - 1)] === nowMs) {
      this.#sum[this.#slot(this.#size - 1)] = sum;
      return;
    }
    if (this.#size === this.#atMs.length) this.#resize(Math.max(SMALLEST, this.#size * 2));
    const slot = this.#slot(this.#size++);
    this.#atMs[slot] = nowMs;
    this.#sum[slot] = sum;
  }

  /** Milliseconds until `weight` fits under `limit` if nothing else is added: 0 now, Infinity never. */
  waitMs(nowMs: number, weight: number, limit: number): number {
    if (weight > limit) return Number.POSITIVE_INFINITY;
    const excess = this.total(nowMs) + weight - limit;
    if (excess <= 0) return 0;
    // The oldest entry whose expiry frees enough; running sums are sorted.
    let low = 0;
    let high = this.#size - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#at(this.#sum, middle) - this.#gone >= excess) high = middle;
      else low = middle + 1;
    }
    return this.#at(this.#atMs, low) + WINDOW_MS - nowMs;
  }

  /** Milliseconds until the sum is 0 if nothing is added. */
  emptyInMs(nowMs: number): number {
    this.#expire(nowMs);
    return this.#size === 0 ? 0 : this.#at(this.#atMs, this.#size - 1) + WINDOW_MS - nowMs;
  }

  #newest(): number {
    return this.#size === 0 ? this.#gone : this.#at(this.#sum, this.#size - 1);
  }

  /** Ring lengths are powers of two. */
  #slot(index: number): number {
    return (this.#head + index) & (this.#atMs.length - 1);
  }

  #at(column: Float64Array, index: number): number {
    return column[this.#slot(index)] as number;
  }

  #expire(nowMs: number): void {
    if (nowMs === this.#lookedAtMs) return;
    this.#lookedAtMs = nowMs;
    while (this.#size > 0 && this.#at(this.#atMs, 0) + WINDOW_MS <= nowMs) {
      this.#gone = this.#at(this.#sum, 0);
      this.#head = this.#slot(1);
      this.#size -= 1;
    }
    // The sums are reset when the log is empty, so that they stay exact however long the process lives.
    if (this.#size === 0) this.#gone = 0;
    // A large ring shrinks after a burst; each resize is paid for by the entries removed before it.
    if (this.#atMs.length > SMALLEST && this.#size * 8 <= this.#atMs.length) {
      this.#resize(Math.max(SMALLEST, this.#atMs.length / 4));
    }
  }

  #resize(length: number): void {
    const atMs = new Float64Array(length);
    const sum = new Float64Array(length);
    for (let i = 0; i < this.#size; i++) {
      atMs[i] = this.#at(this.#atMs, i);
      sum[i] = this.#at(this.#sum, i);
    }
    this.#atMs = atMs;
    this.#sum = sum;
    this.#head = 0;
  }
}
