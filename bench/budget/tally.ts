/** Amounts of work by what did it, in sums that can be taken from one another. */
import type { Kind } from "./attribution.ts";
import { ensured } from "./ensured.ts";

/** `heapBytes` and `objects` are of V8's heap, `blocks` and `outsideBytes` of the C library's. `entries` are into V8's runtime and Node's C++. */
export type Measure = Kind | "heapBytes" | "objects" | "blocks" | "outsideBytes" | "entries";

/**
 * `step`: of `steps.ts`. `place`: a function of the repository. `function`: one of the binaries. `entry`: a function of V8's runtime or
 * of Node's that was entered, and the place that entered it. `allocated`: the same for one that allocated outside of V8's heap.
 */
export type Group = "step" | "place" | "function" | "entry" | "allocated";

export type Amounts = ReadonlyMap<Measure, number>;

export class Tally {
  readonly #groups = new Map<Group, Map<string, Map<Measure, number>>>();

  add(group: Group, key: string, measure: Measure, amount: number): void {
    const keys = ensured(this.#groups, group, () => new Map());
    const amounts = ensured(keys, key, () => new Map());
    amounts.set(measure, (amounts.get(measure) ?? 0) + amount);
  }

  /** Adds all of another one, so many times. */
  addAll(other: Tally, times: number): this {
    for (const [group, keys] of other.#groups)
      for (const [key, amounts] of keys)
        for (const [measure, amount] of amounts) this.add(group, key, measure, amount * times);
    return this;
  }

  /** All of a group, the largest amounts of some measures first. */
  largest(group: Group, measures: readonly Measure[]): (readonly [key: string, amounts: Amounts])[] {
    return [...(this.#groups.get(group) ?? [])].sort(
      ([, a], [, b]) => sumOf(b, measures) - sumOf(a, measures),
    );
  }

  amounts(group: Group, key: string): Amounts {
    return this.#groups.get(group)?.get(key) ?? new Map();
  }
}

export const sumOf = (amounts: Amounts, measures: readonly Measure[]): number =>
  measures.reduce((sum, measure) => sum + (amounts.get(measure) ?? 0), 0);
