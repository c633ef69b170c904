/** What a server is told of its analysts' users. No server of ClickHouse runs here: its answers are given, its parser is real. */
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  droppingOf,
  makingOf,
  othersOf,
  reconcile,
  usernameOf,
} from "../../../src/analytics/analysts/analyst-server.ts";
import type { AnalystRow } from "../../../src/analytics/analysts/analysts.ts";
import type { ClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { ORG_TABLES } from "../../../src/analytics/statements/engine-access.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";

let bench: Bench;
let clickhouse: ClickHouse;
beforeAll(async () => {
  bench = openBench();
  await bench.analytics.analystAccess.url();
  clickhouse = clickhouseOf(bench);
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

const row = (id: string, orgId = "org_a"): AnalystRow => ({
  id,
  orgId,
  name: "A dashboard",
  username: usernameOf("weir", id),
  digest: "ab".repeat(32),
  createdAtMs: 0,
  expiresAtMs: 3_600_000,
});

/** A server with users, and with policies of others on some tables; what it is told. */
function serverWith(users: readonly string[], governed: readonly string[] = []) {
  const told: string[] = [];
  const rows = async <T>(sql: string): Promise<T[]> =>
    (sql.includes("system.users")
      ? users.map((name) => ({ name }))
      : governed.map((table) => ({ table }))) as T[];
  const command = async (sql: string) => void told.push(sql);
  return { told, server: { rows, command } };
}

test("every statement is one that ClickHouse's parser takes", async () => {
  const made = [row("anu_4"), row("anu_5", "")].flatMap((user) => makingOf("weir", user));
  const others = [...othersOf("weir", new Set()), ...othersOf("weir", new Set(["requests"]))];
  for (const q of [...made, ...others, ...droppingOf("weir", "weir_analyst_4")]) {
    const sql = "SELECT formatQuerySingleLine({q:String}) AS sql";
    const [parsed] = await clickhouse.rows<{ sql: string }>(sql, { q });
    expect(parsed?.sql).not.toBe("");
  }
});

test("those that are there are altered once in a process, those that lack are made, others' left alone", async () => {
  const made = new Set<string>();
  const [old, added] = [row("anu_1"), row("anu_2")];
  const { told, server } = serverWith([old.username, usernameOf("weir", "anu_0")]);
  await reconcile(server, "weir", [old], made);
  expect(told.filter((sql) => /USER .*`weir_analyst_0`/.test(sql))).toEqual([
    "DROP USER IF EXISTS `weir_analyst_0`",
  ]);
  expect(told.some((sql) => sql.startsWith("ALTER USER `weir_analyst_1`"))).toBe(true);
  const again = serverWith([old.username]);
  await reconcile(again.server, "weir", [old], made);
  expect(again.told).toEqual([]);
  await reconcile(again.server, "weir", [old, added], made);
  expect(again.told.join("\n")).toContain("CREATE USER IF NOT EXISTS `weir_analyst_2`");
  expect(again.told.join("\n")).not.toContain("`weir_analyst_1`");
});

test("other users of the server go on seeing their rows, and analysts only their own, whatever roles they leave", async () => {
  const { told, server } = serverWith([]);
  await reconcile(server, "weir", [row("anu_1")], new Set());
  const first = told.findIndex((sql) => sql.includes("weir_analyst_1"));
  const others = told.filter((sql) => sql.includes("ROW POLICY OR REPLACE weir_all"));
  expect(others).toHaveLength(ORG_TABLES.length);
  for (const sql of others) {
    expect(sql).toMatch(/ USING NOT startsWith\(currentUser\(\), 'weir_analyst_'\) TO ALL$/);
    expect(told.indexOf(sql)).toBeLessThan(first);
  }
});

test("a table with policies of the server's operator shows nobody more than these do", async () => {
  const { told, server } = serverWith([], ["requests"]);
  await reconcile(server, "weir", [row("anu_1")], new Set());
  const policy = (table: string) => told.find((sql) => sql.includes(`weir_all ON \`weir\`.\`${table}\``));
  expect(policy("requests")).toMatch(/ USING 1 TO CURRENT_USER$/);
  expect(policy("payloads")).toMatch(/ TO ALL$/);
});
