/**
 * Statements for a cluster of ClickHouse. Views over the tables of a shard and reads over two shards run in the engine. It can
 * neither replicate nor run `ON CLUSTER`: its parser only reads those parts.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { forCluster, questionForCluster } from "../../../src/analytics/clickhouse/cluster.ts";
import { migrationFiles } from "../../../src/analytics/clickhouse/migrations.ts";
import { queryBudget } from "../../../src/analytics/clickhouse/query-budget.ts";
import {
  insertMonths,
  missingMonths,
  ROLL_UPS,
  USAGE_TAGS,
} from "../../../src/analytics/clickhouse/rollups.ts";
import { openAnalyticsLedger } from "../../../src/analytics/outbox/ledger.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { sumsOf } from "../../support/analytics/bench.ts";
import { FakeEngine } from "../../support/analytics/ledger.fixtures.ts";
import { temporaryFolder } from "../../support/analytics/records.ts";
import { tempStore } from "../../support/credits/fixtures.ts";

const CLUSTER = { name: "two", database: "weir" };
const forTwo = (sql: string) => forCluster(sql, CLUSTER);
const statements = () => migrationFiles().flatMap((file) => file.statements);

const folder = temporaryFolder();
let engine: ChildProcess;

async function rows<T>(sql: string): Promise<T[]> {
  engine.send(sql);
  const [answer] = (await once(engine, "message")) as [{ lines?: string; failed?: string }];
  if (answer.failed !== undefined) throw new Error(`${answer.failed}\n${sql}`);
  const lines = (answer.lines ?? "").split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as T);
}

beforeAll(async () => {
  engine = fork(new URL("./cluster.engine.ts", import.meta.url), [folder], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await once(engine, "message");
});
afterAll(() => {
  engine.kill();
  rmSync(folder, { recursive: true, force: true });
});

describe("a statement for a cluster", () => {
  it("makes replicated tables with a distributed one over them; those of migrations are one for all shards", () => {
    expect(
      forTwo("CREATE TABLE IF NOT EXISTS t\n(\n  x UInt8\n)\nENGINE = AggregatingMergeTree\nORDER BY x"),
    ).toEqual([
      "CREATE TABLE IF NOT EXISTS t_local ON CLUSTER `two`\n(\n  x UInt8\n)\nENGINE = ReplicatedAggregatingMergeTree('/clickhouse/weir/{database}/t/{shard}', '{replica}')\nORDER BY x",
      "CREATE TABLE IF NOT EXISTS t ON CLUSTER `two` AS t_local ENGINE = Distributed(`two`, `weir`, t_local, rand())",
    ]);
    expect(forTwo("CREATE TABLE IF NOT EXISTS migrations (x UInt8) ENGINE = MergeTree ORDER BY x")).toEqual([
      "CREATE TABLE IF NOT EXISTS migrations ON CLUSTER `two` (x UInt8) ENGINE = ReplicatedMergeTree('/clickhouse/weir/{database}/migrations', '{shard}-{replica}') ORDER BY x",
    ]);
  });

  it("changes, inserts into and drops the tables with the rows", () => {
    expect(forTwo("ALTER TABLE payloads DELETE WHERE org_id = 'a'")).toEqual([
      "ALTER TABLE payloads_local ON CLUSTER `two` DELETE WHERE org_id = 'a'",
    ]);
    expect(forTwo("ALTER TABLE payloads_local RESET SETTING x")).toEqual([
      "ALTER TABLE payloads_local ON CLUSTER `two` RESET SETTING x",
    ]);
    expect(forTwo("INSERT INTO usage_hourly (x) SELECT x FROM requests")).toEqual([
      "INSERT INTO usage_hourly_local (x) SELECT x FROM requests",
    ]);
    expect(forTwo("INSERT INTO migration_turns (turn) VALUES (1)")).toEqual([
      "INSERT INTO migration_turns (turn) VALUES (1)",
    ]);
    expect(forTwo("DROP TABLE IF EXISTS t")).toEqual([
      "DROP TABLE IF EXISTS t ON CLUSTER `two` SYNC",
      "DROP TABLE IF EXISTS t_local ON CLUSTER `two` SYNC",
    ]);
  });

  it("is refused where its kind is not known, as it would run on one server alone", () => {
    for (const sql of ["TRUNCATE TABLE t", "RENAME TABLE a TO b", "CREATE TABLE a AS b", "CREATE USER a"]) {
      expect(() => forTwo(sql)).toThrow("no form for a cluster");
    }
  });

  it("asks all servers what they do, one of each shard how much it stores, and is as it was otherwise", () => {
    const sql = "SELECT count() FROM system.mutations WHERE database = currentDatabase()";
    expect(questionForCluster(sql, CLUSTER)).toBe(
      "SELECT count() FROM clusterAllReplicas('two', system.mutations) WHERE database = 'weir'",
    );
    const stored = "SELECT sum(total_rows) AS n FROM system.tables WHERE database = currentDatabase()";
    expect(questionForCluster(stored, CLUSTER)).toBe(
      "SELECT sum(total_rows) AS n FROM cluster('two', system.tables) WHERE database = 'weir'",
    );
    const usual = "SELECT 1 FROM system.tables WHERE database = currentDatabase()";
    expect(questionForCluster(usual, CLUSTER)).toBe(usual);
  });

  it("is one that ClickHouse's parser takes, for each statement of the migrations and of an erasure", async () => {
    const more = [
      "CREATE DATABASE IF NOT EXISTS `weir`",
      "SYSTEM START CLEANUP requests",
      "ALTER TABLE requests UPDATE `tags` = map() WHERE org_id = 'a'",
      "ALTER TABLE payloads MODIFY SETTING old_parts_lifetime = 1",
    ];
    for (const sql of [...statements(), ...more].flatMap(forTwo)) {
      const text = sql.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
      const [parsed] = await rows<{ sql: string }>(`SELECT formatQuerySingleLine('${text}') AS sql`);
      expect(parsed?.sql).toMatch(/ON CLUSTER two\b/);
    }
  });
});

/** What the engine can run of it. */
const runnable = (sql: string): string =>
  sql
    .replace(/ ON CLUSTER `\w+`/, "")
    .replace(/ENGINE = Replicated(\w*)MergeTree\('[^']*', '[^']*'\)/, "ENGINE = $1MergeTree")
    .replace(/\breplicated_deduplication_window(_seconds)? = \d+,?/g, "")
    .replace(/ SYNC$/, "");

const MIGRATIONS =
  "CREATE TABLE IF NOT EXISTS migrations (name String, applied_at DateTime('UTC') DEFAULT now()) ENGINE = MergeTree ORDER BY name";

/** Makes the tables of a cluster in a database of its name, and inserts rows of one batch into those of this server. */
async function openShard(name: string): Promise<void> {
  await rows(`CREATE DATABASE ${name}`);
  await rows(`USE ${name}`);
  for (const sql of [MIGRATIONS, ...statements()]) {
    for (const each of forCluster(sql, { name, database: name })) await rows(runnable(each));
  }
  await rows("SET distributed_product_mode = 'global'");
  const attempts = Object.entries({ attempt: "1", ts: "now64(3)", endpoint_id: "'ep'", outcome: "'ok'" });
  const zeros = ["provider", "pool_id", "key_hint", "error_class", "upstream_code", "upstream_message"];
  const numbers = ["http_status", "ttft_ms", "duration_ms", "output_tokens"];
  const nested = [
    ...attempts,
    ...zeros.map((column) => [column, "''"] as const),
    ...numbers.map((column) => [column, "number"] as const),
  ];
  await rows(
    `INSERT INTO requests_local (request_id, ts, org_id, environment, status, input_tokens, cost_micro, charged, model, tags,
       ${nested.map(([column]) => `\`attempt_rows.${column}\``).join(", ")}, spool_run, spool_batch)
     SELECT toString(number), now64(3) - toIntervalDay(number % 2 * 40), 'org_a', 'live', 'ok', number, 10, true, 'm',
       map('team', toString(number % 3)), ${nested.map(([, value]) => `[${value}]`).join(", ")}, 'run', 1
     FROM numbers(50)`,
  );
}

it("two shards are read as one: their rows together, and sums that equal the rows", async () => {
  await openShard("two");
  // Both shards are this server, so each row is read once for each of them.
  const counted = "SELECT count() AS n, uniqExact(request_id) AS ids FROM";
  expect(await rows(`${counted} requests`)).toEqual([{ n: 100, ids: 50 }]);
  expect(await rows(`${counted} requests_local`)).toEqual([{ n: 50, ids: 50 }]);
  expect(await rows("SELECT count() AS n FROM attempts")).toEqual([{ n: 100 }]);
  for (const rollUp of ROLL_UPS) {
    const { table, sums, again } = sumsOf(rollUp, "1 = 1");
    const found = await rows(sums);
    expect([table, found]).toEqual([table, await rows(again)]);
    expect(found.length).toBeGreaterThan(0);
  }
});

it("an org's ledger is listed over both shards, an entry that is on both of them once", async () => {
  await rows("USE two");
  const entry = "number + 1, 'settle', -1, 5, now64(3), toString(number), '', ''";
  await rows(`INSERT INTO ledger_local SELECT 'org_a', ${entry} FROM numbers(50)`);
  const temp = tempStore();
  const reader = {
    async rows<T>(sql: string, params: Record<string, unknown> = {}): Promise<T[]> {
      const bound = Object.entries(params).map(([name, value]) => `param_${name} = '${paramText(value)}'`);
      await rows(`SET ${bound.join(", ")}, output_format_json_quote_64bit_integers = 0`);
      return await rows<T>(questionForCluster(sql, CLUSTER));
    },
    bytes: async () => [],
  };
  const ledger = openAnalyticsLedger({
    store: temp.store,
    clickhouse: new FakeEngine(),
    budget: queryBudget(reader),
    clock: systemClock,
    log: { warn() {} },
  });
  const seqs = (await ledger.entriesOf("org_a", { limit: 20, before: 50 })).map(({ seq }) => seq);
  expect(seqs).toEqual(Array.from({ length: 20 }, (_, at) => 49 - at));
  const all = await ledger.entriesOf("org_a", { limit: 1000, kind: "settle" });
  expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, at) => 50 - at));
  await temp.dispose();
});

const paramText = (value: unknown): string => (Array.isArray(value) ? `[${value.join(",")}]` : String(value));

it("a batch whose sums are missing is completed on this server from the rows of all shards", async () => {
  await openShard("alone");
  await rows("SET param_run = 'run', param_number = '1'");
  const batch = "spool_run = {run:String} AND spool_batch = {number:UInt64} AND org_id = 'org_a'";
  expect(await rows(missingMonths(USAGE_TAGS, batch))).toEqual([]);
  await rows("TRUNCATE TABLE usage_tags_daily_local");
  const months = (await rows<{ month: number }>(missingMonths(USAGE_TAGS, batch))).map(({ month }) => month);
  expect(months.length).toBeGreaterThan(1);
  await rows(`SET param_months = '[${months.join(",")}]'`);
  for (const sql of forTwo(insertMonths(USAGE_TAGS, batch))) await rows(sql);
  expect(await rows(missingMonths(USAGE_TAGS, batch))).toEqual([]);
  const { sums, again } = sumsOf(USAGE_TAGS, "1 = 1");
  expect(await rows(sums)).toEqual(await rows(again));
});

it("an erasure changes the tables with the rows, and its end is asked of all servers", async () => {
  await rows("USE alone");
  const alone = { name: "alone", database: "alone" };
  for (const sql of forCluster("ALTER TABLE usage_tags_daily DELETE WHERE org_id = 'org_a'", alone)) {
    await rows(`${runnable(sql)} SETTINGS mutations_sync = 1`);
  }
  expect(await rows("SELECT count() AS n FROM usage_tags_daily")).toEqual([{ n: 0 }]);
  const sql = "SELECT count() AS n FROM system.mutations WHERE database = currentDatabase() AND is_done";
  expect(await rows(questionForCluster(sql, alone))).toEqual([{ n: 1 }]);
});

it("the client of a cluster reads the common tables once they are up to date, and inserts on the server it is connected to", async () => {
  const names = migrationFiles().map(({ name }) => `${JSON.stringify({ name })}\n`);
  const told: string[] = [];
  const settings: (string | null)[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "", "http://server");
    let body = url.searchParams.get("query") ?? "";
    for await (const chunk of request) body += ` ${chunk}`;
    const sql = body.trim().replaceAll(/\s+/g, " ");
    told.push(sql);
    if (sql.startsWith("SELECT count()")) settings.push(url.searchParams.get("distributed_product_mode"));
    response.end(/FROM migrations\b/.test(sql) ? names.join("") : "");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = openClickHouse({
    address: async () => ({ url, username: "default", password: "" }),
    database: "weir",
    cluster: "two",
  });
  const target = { token: "t", queryId: "q" };
  await client.ready();
  await client.insert("payloads", ["org_id"], [Buffer.from("x")], target);
  await client.insertSelect("INSERT INTO usage_hourly (x) SELECT 1", {}, target);
  await client.command("ALTER TABLE payloads DELETE WHERE 1");
  await client.rows("SELECT count() FROM requests");
  await client.close();
  server.close();
  expect(told.map((sql) => sql.slice(0, 60).trim())).toEqual([
    "CREATE DATABASE IF NOT EXISTS `weir` ON CLUSTER `two`",
    "CREATE TABLE IF NOT EXISTS migrations ON CLUSTER `two` (name",
    "SYSTEM SYNC REPLICA migrations",
    "SELECT name FROM migrations FORMAT JSONEachRow",
    "INSERT INTO payloads_local (`org_id`) FORMAT RowBinary x",
    "INSERT INTO usage_hourly_local (x) SELECT 1",
    "ALTER TABLE payloads_local ON CLUSTER `two` DELETE WHERE 1",
    "SELECT count() FROM requests FORMAT JSONEachRow",
  ]);
  expect(settings).toEqual(["global"]);
});
