/**
 * What the cells measure, put together. What a process counted stays in the sum when it has ended, as far as it was read before, so
 * that no sum of counts goes backwards while the supervisor runs.
 */
import {
  type GatewayFigures,
  labelled,
  type MetricFamily,
  type MetricSample,
} from "../../base/metrics/family.ts";

export class CellFigures {
  /** By number of the cell: what its process told last. */
  readonly #latest = new Map<number, GatewayFigures>();
  /** By family: what processes that have ended had counted. */
  readonly #ended = new Map<string, MetricFamily>();

  /** The process of the cell with this number told them. Its counts are those that it told before, or more. */
  told(cell: number, { cell: name, families }: GatewayFigures): void {
    // What is no number, as an age before the first event, has no place in JSON.
    const finite = (family: MetricFamily) => family.samples.filter(({ value }) => Number.isFinite(value));
    const numbers = families.map((family) => ({ ...family, samples: finite(family) }));
    this.#latest.set(cell, { cell: name, families: numbers });
  }

  /** The process of the cell with this number has ended. */
  ended(cell: number): void {
    const figures = this.#latest.get(cell);
    this.#latest.delete(cell);
    for (const family of figures?.families.filter(isCount) ?? []) {
      const before = this.#ended.get(family.name);
      this.#ended.set(family.name, before === undefined ? family : overAll([before, family]));
    }
  }

  /** The name that the cell's process gave itself; undefined where none has told yet. */
  nameOf(cell: number): string | undefined {
    return this.#latest.get(cell)?.cell;
  }

  /** The figures of these cells, each with its name as label `cell`: one family for all. */
  each(cells: readonly number[]): readonly MetricFamily[] {
    const found = cells.flatMap((cell) => this.#latest.get(cell) ?? []);
    const families = found.map(({ cell, families }) => labelled(families, { cell }));
    return byName(families.flat()).map(([first, ...others]) => ({
      ...first,
      samples: [first, ...others].flatMap(({ samples }) => samples),
    }));
  }

  /**
   * One installation: counts of all processes that were ever read, and of these cells what is not a count.
   * @param cells those that have just told
   */
  sum(cells: readonly number[]): readonly MetricFamily[] {
    const told = [...this.#latest].flatMap(([cell, { families }]) =>
      families.filter((family) => isCount(family) || cells.includes(cell)),
    );
    return byName([...told, ...this.#ended.values()])
      .filter(([{ over }]) => over !== "none")
      .map(overAll);
  }
}

const isCount = ({ type }: MetricFamily): boolean => type !== "gauge";

type Same = readonly [MetricFamily, ...MetricFamily[]];

/** Those of one name together, in the order in which names came first. */
function byName(families: readonly MetricFamily[]): readonly Same[] {
  const found = new Map<string, [MetricFamily, ...MetricFamily[]]>();
  for (const family of families) {
    const same = found.get(family.name);
    if (same === undefined) found.set(family.name, [family]);
    else same.push(family);
  }
  return [...found.values()];
}

/** One value of several gateways'. */
const MADE_ONE: Readonly<Record<MetricFamily["over"], (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  average: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  none: () => 0,
};

/** One family of several of its name: a sample for each set of labels. */
function overAll(same: Same): MetricFamily {
  const [first] = same;
  const samples = new Map<string, { readonly of: MetricSample; readonly values: number[] }>();
  for (const sample of same.flatMap((family) => family.samples)) {
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).toSorted()]);
    const known = samples.get(key);
    if (known === undefined) samples.set(key, { of: sample, values: [sample.value] });
    else known.values.push(sample.value);
  }
  return {
    ...first,
    samples: Array.from(samples.values(), ({ of, values }) => ({
      ...of,
      value: MADE_ONE[first.over](values),
    })),
  };
}
