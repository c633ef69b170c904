/** What a run counted, and its table. */

/** Counts by name, in the order in which they first came. */
export class Figures {
  readonly #counts = new Map<string, number>();

  add(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** By name; for comparing runs. */
  all(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** A line for each, grouped by the word before the colon. */
  table(): string {
    const groups = Map.groupBy([...this.#counts.keys()].sort(), (name) => name.split(": ")[0] as string);
    return [...groups]
      .map(([group, names]) => [group, ...names.map((name) => this.#line(name))].join("\n"))
      .join("\n");
  }

  #line(name: string): string {
    const what = name.slice(name.indexOf(": ") + 2);
    return `  ${what.padEnd(48)}${Math.round(this.of(name)).toLocaleString("en-US").padStart(14)}`;
  }
}

/** Something that must hold does not. The first one ends the run. */
export class Deviation extends Error {
  override readonly name = "Deviation";
}

/** @throws Deviation */
export function must(holds: boolean, what: () => string): asserts holds {
  if (!holds) throw new Deviation(what());
}
