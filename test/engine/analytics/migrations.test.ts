/** What the migrations make of a database: once, and with the columns that a record is written to. */

import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { TURN_TIMES } from "../../../src/analytics/clickhouse/migration-turns.ts";
import { migrationFiles } from "../../../src/analytics/clickhouse/migrations.ts";
import { USAGE_TAGS } from "../../../src/analytics/clickhouse/rollups.ts";
import { MARKED_COLUMNS } from "../../../src/analytics/outbox/batch.ts";
import { DAY_MS } from "../../../src/base/time.ts";
import { COLUMNS, REQUEST_COLUMNS } from "../../../src/record/columns.ts";
import { type Bench, clickhouseOf, openBench, sumsOf } from "../../support/analytics/bench.ts";
import { settle, shown } from "../../support/analytics/ledger.fixtures.ts";
import { manyRecords, record, temporaryFolder } from "../../support/analytics/records.ts";
import { LIMIT_MS, until } from "../../support/wait.ts";

/** Given, so that its tables are not those that were made for other tests. */
const dataDir = temporaryFolder();
let bench: Bench;
let clickhouse: ClickHouse;

beforeAll(async () => {
  bench = openBench({ dataDir });
  await until("ClickHouse answers", () => bench.analytics.live());
  clickhouse = clickhouseOf(bench);
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
  rmSync(dataDir, { recursive: true, force: true });
});

it("the migrations make the columns that a record is written to, of the same types, and those of its batch", async () => {
  const mark = MARKED_COLUMNS.slice(REQUEST_COLUMNS.length);
  const stored = (
    await clickhouse.rows<{ name: string; type: string }>(
      "SELECT name, type FROM system.columns WHERE database = 'weir' AND table = 'requests'",
    )
  ).filter(({ name }) => !mark.includes(name));
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  expect(stored.sort(byName)).toEqual(COLUMNS.map(({ name, type }) => ({ name, type })).sort(byName));
});

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

it("what was recorded before a roll-up was made is summed up by its migration", async () => {
  const nowMs = Date.now();
  await bench.add(manyRecords(300, nowMs - 60 * DAY_MS, nowMs, 8));
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  const { sums } = sumsOf(USAGE_TAGS, "1 = 1");
  const before = await clickhouse.rows(sums);
  expect(before.length).toBeGreaterThan(30);
  await clickhouse.command("DROP VIEW usage_tags_daily_view");
  await clickhouse.command("DROP TABLE usage_tags_daily");
  await clickhouse.command("ALTER TABLE migrations DELETE WHERE name >= '0008' SETTINGS mutations_sync = 2");
  const next = clickhouseOf(bench);
  await next.ready();
  expect(await next.rows(sums)).toEqual(before);
  await next.close();
});

it("a database of the release before gets the table of ledgers, and lists what is put then", async () => {
  await clickhouse.command("DROP TABLE ledger");
  await clickhouse.command("ALTER TABLE migrations DELETE WHERE name >= '0011' SETTINGS mutations_sync = 2");
  await clickhouse.close();
  await bench.close();
  bench = openBench({ dataDir });
  const { ledger } = bench.analytics;
  await bench.store.act(() => ledger.put([settle("org_before", 1)]));
  expect(await ledger.flush(LIMIT_MS)).toBe(true);
  expect(await ledger.entriesOf("org_before", { limit: 2 })).toEqual([shown(settle("org_before", 1))]);
  clickhouse = clickhouseOf(bench);
});

it("no two files set the query of a view, and none empties a table: a late statement of an earlier file spoils nothing", () => {
  const statements = migrationFiles().flatMap((file) => file.statements);
  const altered = statements.flatMap((sql) => /^ALTER TABLE (\w+) MODIFY QUERY$/m.exec(sql)?.[1] ?? []);
  expect(altered).toEqual([...new Set(altered)]);
  expect(altered.length).toBeGreaterThan(0);
  expect(statements.filter((sql) => /^(TRUNCATE|DELETE|INSERT)\b/m.test(sql))).toEqual([]);
});

it("a gateway that was killed while it migrated does not wait for itself at its next start", async () => {
  await clickhouse.command("ALTER TABLE migrations DELETE WHERE name >= '0010' SETTINGS mutations_sync = 2");
  const turn = "SELECT max(turn) + 1 AS turn, 'killed', 0, false FROM migration_turns";
  await clickhouse.command(`INSERT INTO migration_turns (turn, holder, sign, is_over) ${turn}`);
  await clickhouse.close();
  await bench.close();
  bench = openBench({ dataDir });
  // Longer than an engine takes to start on a busy machine, and shorter than a lost turn is waited for.
  expect(TURN_TIMES.lostAfterMs).toBeGreaterThan(15_000);
  await bench.add([record()]);
  expect(await bench.analytics.flush(15_000)).toBe(true);
  clickhouse = clickhouseOf(bench);
});
