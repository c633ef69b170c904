/** What the documentation and `config/grafana` let an analyst ask is answered to an analyst's user, with rows. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOUR_MS } from "../../../src/base/time.ts";
import { type Bench, openBench } from "../../support/analytics/bench.ts";
import { attempt, manyRecords, ORG, OTHER_ORG, record } from "../../support/analytics/records.ts";
import { LIMIT_MS } from "../../support/wait.ts";

const at = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const documented = [...at("docs/analytics.md").matchAll(/^\d+\. (.+):\n\n```sql\n([\s\S]+?)```/gm)].map(
  (m) => [m[1] ?? "", m[2] ?? ""] as const,
);

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets: readonly { readonly rawSql: string }[];
}
const { panels } = JSON.parse(at("config/grafana/weir.json")) as { panels: readonly Panel[] };
const shown = panels.flatMap(({ title, type, targets }) =>
  targets.map(({ rawSql }) => [title, type, rawSql] as const),
);

/** As the plugin expands its macros, and Grafana its variables, for the last day. */
function expanded(sql: string): string {
  const now = Math.ceil(Date.now() / 1000);
  return sql
    .replace(/\$__timeFilter\((\w+)\)/g, `$1 >= toDateTime(${now - 86_400}) AND $1 <= toDateTime(${now})`)
    .replace(/\$__timeInterval\((\w+)\)/g, "toStartOfInterval(toDateTime($1), INTERVAL 60 second)")
    .replaceAll("$" + "{environment}", "live");
}

let bench: Bench;
const users = [
  { username: "weir_analyst_org", orgId: ORG },
  { username: "weir_analyst_all", orgId: "" },
];
beforeAll(async () => {
  bench = openBench();
  const nowMs = Date.now();
  const streams = [
    record({ stream: true, userHash: "u1" }),
    record({ status: "error", errorCode: "upstream_error" }),
    record({
      attempts: [attempt({ tsMs: nowMs, outcome: "http_error", httpStatus: 400, errorClass: "client" })],
    }),
  ];
  const mine = manyRecords(200, nowMs - 20 * HOUR_MS, nowMs).concat(streams);
  await bench.add(
    mine.concat(manyRecords(50, nowMs - HOUR_MS, nowMs).map((r) => ({ ...r, orgId: OTHER_ORG }))),
  );
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  const digest = createHash("sha256").update("a password").digest("hex");
  await bench.store.act(() => {
    for (const user of users)
      bench.analytics.analysts.put({
        ...user,
        id: user.username,
        name: "A dashboard",
        digest,
        createdAtMs: nowMs,
        expiresAtMs: nowMs + HOUR_MS,
      });
  });
  await bench.analytics.analystAccess.apply();
});
afterAll(() => bench.close());

async function rowsOf(sql: string, username = "weir_analyst_org"): Promise<Record<string, unknown>[]> {
  const url = await bench.analytics.analystAccess.url();
  const headers = { "x-clickhouse-user": username, "x-clickhouse-key": "a password" };
  const answer = await fetch(`${url}/?default_format=JSONEachRow`, { method: "POST", headers, body: sql });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

describe("a worked query", () => {
  // Its table has figures over all orgs, of which an org's analyst sees none.
  const ofAll = documented.filter(([, sql]) => sql.includes("attempts_hourly"));
  const ofOrg = documented.filter(([, sql]) => !sql.includes("attempts_hourly"));

  it.each(ofOrg)("%s: has rows for an analyst of the org", async (_title, sql) => {
    expect((await rowsOf(sql)).length).toBeGreaterThan(0);
  });

  it.each(ofAll)("%s: has rows for analysts of all orgs only", async (_title, sql) => {
    expect(await rowsOf(sql)).toEqual([]);
    expect((await rowsOf(sql, "weir_analyst_all")).length).toBeGreaterThan(0);
  });
});

describe("the dashboard", () => {
  it.each(shown)("%s (%s): has rows for an analyst of the org", async (_title, type, rawSql) => {
    const sql = expanded(rawSql);
    expect(sql).not.toContain("$");
    const rows = await rowsOf(sql);
    expect(rows.length).toBeGreaterThan(0);
    // A series needs its time, and figures that are numbers.
    if (type === "timeseries") {
      expect(Object.keys(rows[0] ?? {})[0]).toBe("time");
      expect(sql).toMatch(/ORDER BY time$/);
    }
  });
});
