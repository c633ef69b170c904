import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClickHouse } from "../src/analytics/client.ts";
import { migrationFiles } from "../src/analytics/migrations.ts";
import type { CallRecord } from "../src/record.ts";
import { type Bench, clickhouseOf, HOUR_MS, manyRecords, openBench, record } from "./analytics.records.ts";

const doc = readFileSync(new URL("../docs/analytics.md", import.meta.url), "utf8");
const queries = [...doc.matchAll(/^\d+\. (.+):\n\n```sql\n([\s\S]+?)```/gm)].map(
  (m) => [m[1] ?? "", m[2] ?? ""] as const,
);

let bench: Bench;
let seeded: CallRecord[];
let clickhouse: ClickHouse;

beforeAll(async () => {
  bench = openBench();
  const nowMs = Date.now();
  const extra = [
    record({ status: "error", errorCode: "upstream_error" }),
    record({
      cost: {
        total_micro_usd: 30,
        lines: [
          { kind: "input", units: 10, unit_price_nano: 1000, micro_usd: 10 },
          { kind: "cache_read", units: 200, unit_price_nano: 100, micro_usd: 20 },
        ],
        price_version: "pv_1",
      },
    }),
  ];
  seeded = manyRecords(300, nowMs - 20 * HOUR_MS, nowMs).concat(extra);
  await bench.add(seeded);
  await bench.analytics.flush(10_000);
  clickhouse = clickhouseOf(bench);
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

describe("docs/analytics.md", () => {
  it("has twelve worked queries", () => expect(queries).toHaveLength(12));

  it.each(queries)("%s", async (_title, sql) => {
    expect((await clickhouse.rows(sql)).length).toBeGreaterThan(0);
  });

  it("says what caching saved: 200 tokens at 900 nano-USD less each", async () => {
    const caching = queries.find(([title]) => title.includes("caching"))?.[1] ?? "";
    const rows = await clickhouse.rows<{ model: string; saved_usd: number }>(caching);
    expect(rows.find((r) => r.model === "acme/model")?.saved_usd).toBeCloseTo((200 * 900) / 1e9, 12);
  });

  it("counts a call as an arm's failure where its first endpoint failed, whoever answered in the end", async () => {
    const arms = queries.find(([title]) => title.includes("arms"))?.[1] ?? "";
    const [row] = await clickhouse.rows<{ calls: number; error_rate: number }>(arms);
    const counted = seeded.filter((r) => r.environment === "live" && r.status !== "rejected");
    const failed = counted.filter((r) => r.status === "error" || r.attempts[0]?.errorClass === "server");
    expect(row?.calls).toBe(counted.length);
    expect(row?.error_rate).toBeCloseTo(failed.length / counted.length, 3);
  });

  it("names every column of every table", async () => {
    const columns = await clickhouse.rows<{ table: string; name: string }>(
      `SELECT table, name FROM system.columns WHERE database = 'weir' AND table NOT LIKE '%_view' ORDER BY table, position`,
    );
    const missing = columns.filter(({ table, name }) => !sectionOf(table).includes(`\`${name}\``));
    expect(missing).toEqual([]);
    expect(new Set(columns.map((c) => c.table))).toEqual(
      new Set([
        "requests",
        "payloads",
        "attempts",
        "usage_hourly",
        "attempts_hourly",
        "shadow_runs",
        "migrations",
      ]),
    );
  });
});

/** The table's own section; `migrations` has a sentence. */
const sectionOf = (table: string): string =>
  doc.split(/^## /m).find((section) => section.startsWith(`\`${table}\``)) ?? doc.split(/^## /m)[1] ?? "";

it("two first callers at once share one migration", async () => {
  const fresh = clickhouseOf(bench, "at_once");
  await Promise.all(Array.from({ length: 8 }, () => fresh.ready()));
  const rows = await fresh.rows<{ name: string }>("SELECT name FROM migrations ORDER BY name");
  await fresh.close();
  expect(rows.map(({ name }) => name)).toEqual(migrationFiles().map(({ name }) => name));
});

it("migrations are numbered without gaps and applied once, however often they run", async () => {
  const names = migrationFiles().map((file) => file.name);
  expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, at) => at + 1));
  const again = clickhouseOf(bench);
  await again.ready();
  await again.close();
  expect(
    (await clickhouse.rows<{ name: string }>("SELECT name FROM migrations ORDER BY name")).map((r) => r.name),
  ).toEqual(names);
});
