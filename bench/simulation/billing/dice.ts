/** Seeded choices of the simulation. */
import { type Random, seededRandom } from "../../../src/base/clock.ts";

export class Dice {
  readonly random: Random;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  /** @param share 0 to 1 */
  chance(share: number): boolean {
    return this.random() < share;
  }

  /** A number of `[from, to)`. */
  between(from: number, to: number): number {
    return from + (to - from) * this.random();
  }

  /** An integer of `[from, to]`. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.random() * (to - from + 1));
  }

  /** @param list not empty */
  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)] as T;
  }

  /** One of the names, as often as its weight says. */
  weighted<N extends string>(weights: Readonly<Record<N, number>>): N {
    const entries = Object.entries(weights) as [N, number][];
    let left = this.random() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return (entries.at(-1) as [N, number])[0];
  }
}
