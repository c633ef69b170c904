/** Streams that each org has open at this cell, of one kind: a bound of them is one for all who connect at the same moment, too. */
export class StreamCounts {
  readonly #most: number;
  readonly #open = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a stream of the org. @returns ends it, once; undefined where as many are open as may be */
  take(orgId: string): (() => void) | undefined {
    const open = this.#open.get(orgId) ?? 0;
    if (open >= this.#most) return undefined;
    this.#open.set(orgId, open + 1);
    return () => {
      const left = (this.#open.get(orgId) ?? 1) - 1;
      if (left > 0) this.#open.set(orgId, left);
      else this.#open.delete(orgId);
    };
  }
}
