/** Counts names that callers chose, as labels of a metric: few, short and plain ones; all others count together. */

const MOST_NAMES = 64;
const PLAIN = /^[A-Za-z_][A-Za-z0-9_.-]{0,39}$/;

/** The label of names that have none of their own. No name can be it, because it is not plain. */
const OTHERS = "(others)";

export class NameCounts {
  readonly #counts = new Map<string, number>();

  count(name: string): void {
    const isKept = this.#counts.has(name) || (this.#counts.size < MOST_NAMES && PLAIN.test(name));
    const label = isKept ? name : OTHERS;
    this.#counts.set(label, (this.#counts.get(label) ?? 0) + 1);
  }

  all(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}
