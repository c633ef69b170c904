/** Random acts, and a plain map that runs them one after the other: what the store must show. */
import fc from "fast-check";
import type { Range, Store, Table } from "../../../src/store/store.ts";

const TABLES = ["one", "other"] as const;
/** What an act does, in this order; reads go into its value. */
export type Step =
  | { readonly do: "put"; readonly table: number; readonly key: number; readonly value: number }
  | { readonly do: "remove"; readonly table: number; readonly key: number }
  | { readonly do: "get"; readonly table: number; readonly key: number }
  /** What a key holds, and one more, goes to another key. */
  | { readonly do: "add"; readonly table: number; readonly key: number; readonly to: number }
  /** The sum of a range goes to a key. */
  | { readonly do: "sum"; readonly table: number; readonly range: Range; readonly to: number }
  /** A running number goes up: memory has it, and a row. */
  | { readonly do: "count"; readonly table: number }
  | { readonly do: "throw" };

export type Act = readonly Step[];

const key = fc.integer({ min: 0, max: 12 });
const value = fc.integer({ min: 0, max: 999 });
const table = fc.integer({ min: 0, max: 1 });
const range: fc.Arbitrary<Range> = fc.oneof(
  fc.record({ start: key, end: key }),
  fc.record({ start: key, limit: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ start: key, end: key, reverse: fc.constant(true) }),
  fc.constant({}),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("put" as const), table, key, value }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("remove" as const), table, key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("get" as const), table, key }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("add" as const), table, key, to: key }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("sum" as const), table, range, to: key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("count" as const), table }) },
  { weight: 1, arbitrary: fc.constant({ do: "throw" as const }) },
);
export const act: fc.Arbitrary<Act> = fc.array(step, { maxLength: 6 });

/** So many acts, the same for the same seed. */
export const actsOf = (seed: number, count: number): Act[] => fc.sample(act, { seed, numRuns: count });

/** Rows by key, as a table or as the model has them. */
interface Rows {
  get(key: number): number | undefined;
  range(range: Range): [key: number, value: number][];
  put(key: number, value: number): void;
  remove(key: number): void;
  /** The running number of the table, one more than before. */
  count(): number;
}

/** The row of a running number: no other step names it. */
const COUNT = 99;

export const Refused = class extends Error {};

/** Does the steps and returns what they read. @throws Refused where a step says so */
function run(rows: readonly Rows[], steps: Act): unknown[] {
  return steps.map((s) => {
    if (s.do === "throw") throw new Refused("no");
    const at = rows[s.table] as Rows;
    if (s.do === "put") return at.put(s.key, s.value);
    if (s.do === "remove") return at.remove(s.key);
    if (s.do === "get") return at.get(s.key);
    if (s.do === "count") return at.count();
    if (s.do === "add") return at.put(s.to, (at.get(s.key) ?? 0) + 1);
    const found = at.range(s.range);
    at.put(s.to, found.reduce((sum, [, n]) => sum + n, 0) % 1000);
    return found;
  });
}

/** The store's tables under acts. Values are bytes, so that what is read is what was put to the bit. */
export class Subject {
  readonly #store: Store;
  readonly #tables: readonly Rows[];

  constructor(store: Store) {
    this.#store = store;
    this.#tables = TABLES.map((name) => rowsOf(store.bytes(name), store));
  }

  /** @param also runs in the act too */
  act(steps: Act, also: () => void = () => {}): Promise<unknown[]> {
    return this.#store.act(() => {
      also();
      return run(this.#tables, steps);
    });
  }

  /** All rows, read outside of an act. */
  state(): string {
    return JSON.stringify(this.#tables.map((table) => table.range({})));
  }
}

function rowsOf(table: Table<Uint8Array>, store: Store): Rows {
  const put = (key: number, value: number) => table.put(key, Buffer.from(`value ${value}`));
  /** Read once, then kept in memory, ahead of what is committed. */
  let counted: number | undefined;
  return {
    get: (key) => numberOf(table.get(key)),
    range: (range) =>
      Array.from(table.range(range), ({ key, value }) => [key as number, numberOf(value) as number]),
    put,
    remove: (key) => table.remove(key),
    count() {
      const before = counted ?? numberOf(table.get(COUNT)) ?? 0;
      counted = before + 1;
      store.ifDropped(() => {
        counted = before;
      });
      put(COUNT, counted);
      return counted;
    },
  };
}

const numberOf = (bytes: Uint8Array | undefined): number | undefined =>
  bytes === undefined ? undefined : Number(Buffer.from(bytes).toString().slice("value ".length));

/** The plain map. */
export class Model {
  #maps: Map<number, number>[] = TABLES.map(() => new Map());

  /** @throws Refused, with nothing changed */
  act(steps: Act): unknown[] {
    const before = this.#maps.map((map) => new Map(map));
    try {
      return run(this.#maps.map(plain), steps);
    } catch (error) {
      this.#maps = before;
      throw error;
    }
  }

  state(): string {
    return JSON.stringify(this.#maps.map((map) => plain(map).range({})));
  }
}

const plain = (map: Map<number, number>): Rows => ({
  get: (key) => map.get(key),
  range({ start, end, reverse = false, limit }) {
    const sign = reverse ? -1 : 1;
    return [...map]
      .sort(([a], [b]) => sign * (a - b))
      .filter(([key]) => start === undefined || sign * (key - Number(start)) >= 0)
      .filter(([key]) => end === undefined || sign * (key - Number(end)) < 0)
      .slice(0, limit);
  },
  put: (key, value) => void map.set(key, value),
  remove: (key) => void map.delete(key),
  count() {
    const counted = (map.get(COUNT) ?? 0) + 1;
    map.set(COUNT, counted);
    return counted;
  },
});
