/**
 * Cache of values under names that callers choose: bounded in number, and forgotten between one and two spans after
 * their last use. Two generations instead of a sweep, so that no single read pays for all entries.
 */
export class Recent<V> {
  #young = new Map<string, V>();
  #old = new Map<string, V>();
  #turnedMs = 0;
  readonly #spanMs: number;
  readonly #max: number;

  /** @param max values per generation: at most twice as many in all. */
  constructor(spanMs: number, max: number) {
    this.#spanMs = spanMs;
    this.#max = max;
  }

  /** Counts as a use: the value stays for another span. */
  get(name: string, nowMs: number): V | undefined {
    this.#turn(nowMs);
    let value = this.#young.get(name);
    if (value === undefined) {
      value = this.#old.get(name);
      if (value !== undefined) this.#young.set(name, value);
    }
    return value;
  }

  set(name: string, value: V, nowMs: number): void {
    this.#turn(nowMs);
    this.#young.set(name, value);
  }

  /** Each value once, including those that the next use would forget. */
  *values(): Iterable<V> {
    yield* this.#young.values();
    for (const [name, value] of this.#old) if (!this.#young.has(name)) yield value;
  }

  #turn(nowMs: number): void {
    const sinceMs = nowMs - this.#turnedMs;
    if (sinceMs < this.#spanMs && this.#young.size < this.#max) return;
    this.#old = sinceMs < 2 * this.#spanMs ? this.#young : new Map();
    this.#young = new Map();
    this.#turnedMs = nowMs;
  }
}
