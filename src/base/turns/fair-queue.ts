/** Waiting in line where nobody with hundreds in it keeps others waiting for all of them. */

/** Items of many owners, who take turns; those of one owner come in their order. */
export class FairQueue<T> {
  /** In the order of the owners' turns; no list is empty. */
  readonly #byOwner = new Map<string, T[]>();

  get isEmpty(): boolean {
    return this.#byOwner.size === 0;
  }

  push(owner: string, item: T): void {
    const items = this.#byOwner.get(owner);
    if (items === undefined) this.#byOwner.set(owner, [item]);
    else items.push(item);
  }

  /** The next item. What else its owner has waits until all others had a turn. */
  shift(): T | undefined {
    for (const [owner, items] of this.#byOwner) {
      const item = items.shift();
      this.#byOwner.delete(owner);
      if (items.length > 0) this.#byOwner.set(owner, items);
      return item;
    }
    return undefined;
  }
}

/** Work of many owners, so much of it at once; the rest waits as in a {@link FairQueue}. */
export class FairLimit {
  readonly #atOnce: number;
  #running = 0;
  readonly #waiting = new FairQueue<() => void>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Resolves or rejects as the work does. */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running++;
    // Whoever ends gives its place on.
    else await new Promise<void>((resolve) => this.#waiting.push(owner, resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
