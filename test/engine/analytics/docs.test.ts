import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { HOUR_MS } from "../../../src/base/time.ts";
import type { CallRecord } from "../../../src/record/record.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { attempt, manyRecords, record } from "../../support/analytics/records.ts";
import { LIMIT_MS } from "../../support/wait.ts";

const doc = readFileSync(new URL("../../../docs/analytics.md", import.meta.url), "utf8");
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
      status: "error",
      attempts: [
        attempt({
          tsMs: nowMs,
          outcome: "http_error",
          httpStatus: 400,
          errorClass: "client",
          upstreamMessage: "odd",
        }),
        attempt({
          tsMs: nowMs,
          attempt: 2,
          outcome: "rate_limited",
          httpStatus: 429,
          refusal: "openai.rate_limit",
        }),
      ],
    }),
    record({ stream: true }),
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
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  clickhouse = clickhouseOf(bench);
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

describe("docs/analytics.md", () => {
  it("has twenty-one worked queries", () => expect(queries).toHaveLength(21));

  it.each(queries)("%s", async (_title, sql) => {
    expect((await clickhouse.rows(sql)).length).toBeGreaterThan(0);
  });

  it("says what caching saved: 200 tokens at 900 nano-USD less each", async () => {
    const caching = queries.find(([title]) => title.includes("caching"))?.[1] ?? "";
    const rows = await clickhouse.rows<{ model: string; saved_usd: number }>(caching);
    expect(rows.find((r) => r.model === "acme/model")?.saved_usd).toBeCloseTo((200 * 900) / 1e9, 12);
  });

  it("lists what no row of the table of refusals knows, and nothing that one does", async () => {
    const unmatched = queries.find(([title]) => title.includes("table of refusals"))?.[1] ?? "";
    const rows = await clickhouse.rows<{ upstream_message: string; http_status: number }>(unmatched);
    expect(rows.some((row) => row.upstream_message === "odd" && row.http_status === 400)).toBe(true);
    expect(rows.some((row) => row.http_status === 429 && row.upstream_message === "")).toBe(false);
  });

  it("counts a call as an arm's failure where its first endpoint failed, whoever answered in the end", async () => {
    const arms = queries.find(([title]) => title.includes("arms"))?.[1] ?? "";
    const [row] = await clickhouse.rows<{ calls: number; error_rate: number }>(arms);
    const counted = seeded.filter((r) => r.environment === "live" && r.status !== "rejected");
    const failed = counted.filter((r) => r.status === "error" || r.attempts[0]?.errorClass === "server");
    expect(row?.calls).toBe(counted.length);
    expect(row?.error_rate).toBeCloseTo(failed.length / counted.length, 3);
  });

  it.each([
    "requests",
    "payloads",
    "attempts",
    "attempts_hourly",
    "shadow_runs",
    "usage_hourly",
    "usage_tags_daily",
    "ledger",
  ])("names the columns of `%s`, all of them and no others, with their types", async (table) => {
    const documented = documentedColumns(sectionOf(table));
    const columns = await columnsOf(table);
    expect(documented.map(({ name }) => name).sort()).toEqual(columns.map(({ name }) => name).sort());
    const types = new Map(columns.map(({ name, type }) => [name, plainType(type)]));
    // Columns of the call need no type where another table says it.
    const typed = documented.filter(({ type }) => type !== "");
    expect(typed).toEqual(typed.map(({ name }) => ({ name, type: types.get(name) })));
    if (table === "requests") expect(typed).toEqual(documented);
  });

  it("has a section for every table; those of migrations have a sentence", async () => {
    const tables = await clickhouse.rows<{ name: string }>(
      "SELECT name FROM system.tables WHERE database = 'weir' AND name NOT LIKE '%_view'",
    );
    const own = ["migrations", "migration_turns"];
    expect(tables.filter(({ name }) => !own.includes(name) && sectionOf(name) === "")).toEqual([]);
    for (const table of own) {
      const sentence = (await columnsOf(table)).map(({ name }) => `\`${name}\``).join(", ");
      expect(doc).toContain(`table \`${table}\` (${sentence})`);
    }
  });
});

const columnsOf = (table: string) =>
  clickhouse.rows<{ name: string; type: string }>(
    `SELECT name, type FROM system.columns WHERE database = 'weir' AND table = '${table}'`,
  );

const sectionOf = (table: string): string =>
  doc.split(/^## /m).find((section) => section.startsWith(`\`${table}\``)) ?? "";

/** Lines of the section's table: names, one type for all of them or one each, meaning. */
const documentedColumns = (section: string) =>
  [...section.matchAll(/^\| (`.+?`) \| (.*?) ?\|/gm)].flatMap(([, names = "", said = ""]) => {
    // Commas within parentheses are a type's own.
    const types = said.split(/, (?![^(]*\))/);
    return [...names.matchAll(/`(.+?)`/g)].map(([, name = ""], at) => ({
      name,
      type: (types.length === 1 ? types[0] : types[at]) ?? "?",
    }));
  });

/** As the documentation says it: times are all UTC, sums are their type, states are just states. */
const plainType = (type: string): string =>
  type
    .replace(/^SimpleAggregateFunction\(\w+, (.*)\)$/, "$1")
    .replace(/^AggregateFunction\(.*\)$/, "AggregateFunction")
    .replace("DateTime('UTC')", "DateTime")
    .replace(", 'UTC'", "");
