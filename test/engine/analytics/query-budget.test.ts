/** What questions of orgs may take: each org its share of places, and a statement its memory, rows and time. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { LIMITS, queryBudget } from "../../../src/analytics/clickhouse/query-budget.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";

/** A database whose answers are given by the test. */
function answeredByHand() {
  const asked: { readonly sql: string; readonly answer: () => void }[] = [];
  const rows = <T>(sql: string): Promise<T[]> =>
    new Promise((resolve) => asked.push({ sql, answer: () => resolve([]) }));
  return { asked, reader: { rows, bytes: () => Promise.reject(new Error("not asked")) } };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("an org that asks much leaves places to others, and has its own answered in order", async () => {
  const { asked, reader } = answeredByHand();
  const budget = queryBudget(reader, LIMITS, { all: 3, org: 2 });
  const ask = (org: string, sql: string) => budget.of(org).rows(sql);
  const all = ["a1", "a2", "a3", "a4"].map((sql) => ask("a", sql)).concat(ask("b", "b1"));
  await tick();
  expect(asked.map(({ sql }) => sql)).toEqual(["a1", "a2", "b1"]);
  while (asked.length < 5) {
    for (const { answer } of asked) answer();
    await tick();
  }
  for (const { answer } of asked) answer();
  await Promise.all(all);
  expect(asked.map(({ sql }) => sql)).toEqual(["a1", "a2", "b1", "a3", "a4"]);
});

it("refuses an org that has too many waiting, and no other", async () => {
  const { asked, reader } = answeredByHand();
  const budget = queryBudget(reader, LIMITS, { all: 3, org: 1 });
  const first = budget.of("a", { waiting: 1 }).rows("a1");
  await tick();
  const second = budget.of("a", { waiting: 1 }).rows("a2");
  await expect(budget.of("a", { waiting: 1 }).rows("a3")).rejects.toMatchObject({ kind: "concurrency" });
  const other = budget.of("b", { waiting: 1 }).rows("b1");
  while (asked.length < 3) {
    for (const { answer } of asked) answer();
    await tick();
  }
  for (const { answer } of asked) answer();
  await Promise.all([first, second, other]);
});

let bench: Bench;
beforeAll(async () => {
  bench = openBench();
  await bench.analytics.statistics.counts24h("org");
});
afterAll(() => bench.close());

it.each([
  [
    "rows",
    { readRows: 1000 },
    "SELECT count() AS n FROM (SELECT * FROM numbers(5000000)) WHERE number % 7 = 1",
  ],
  [
    "memory",
    { memoryBytes: 20_000_000 },
    "SELECT count() AS n FROM (SELECT groupArray(toString(number)) AS a FROM numbers(3000000) GROUP BY number % 3)",
  ],
  [
    "time",
    { seconds: 1, readRows: 1e12 },
    "SELECT count() AS n FROM numbers(100000000000) WHERE sipHash64(number) % 7 = 1",
  ],
])("a statement that needs too much %s is refused, and the next is answered", async (_what, limits, sql) => {
  const clickhouse = clickhouseOf(bench);
  try {
    await clickhouse.ready();
    const budget = queryBudget(clickhouse, { ...LIMITS, ...limits });
    await expect(budget.of("org").rows(sql)).rejects.toMatchObject({ kind: "query_too_large" });
    expect(clickhouse.live()).toBe(true);
    expect(await budget.of("org").rows("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  } finally {
    await clickhouse.close();
  }
});
