/** Roll-ups are summed by views as rows come in, and by statements of ours where a view's sums were lost: alike. */

import { afterAll, beforeAll, expect, it } from "vitest";
import type { ClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { ROLL_UPS } from "../../../src/analytics/clickhouse/rollups.ts";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import { type Bench, clickhouseOf, openBench, sumsOf } from "../../support/analytics/bench.ts";
import { manyRecords, ORG, OTHER_ORG } from "../../support/analytics/records.ts";
import { LIMIT_MS } from "../../support/wait.ts";

let bench: Bench;
let clickhouse: ClickHouse;

beforeAll(async () => {
  bench = openBench({ batchAgeMs: 60_000 });
  const nowMs = Date.now();
  const some = manyRecords(300, nowMs - 5 * HOUR_MS, nowMs, 3);
  await bench.add(some.map((record, n) => ({ ...record, stream: n % 2 === 0 })));
  // One batch: one part of each partition, and nothing to merge.
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  clickhouse = clickhouseOf(bench);
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

it.each(ROLL_UPS)("O2: sums up again for $table what its view has summed", async (rollUp) => {
  const { table, columns, keys, from } = rollUp;
  const names = columns.map(([name]) => name);
  const key = names.slice(0, keys).join(", ");
  const shown = names.map((n) =>
    /^(ttft|tpot|duration)$/.test(n) ? `finalizeAggregation(${n}) AS ${n}` : n,
  );
  const rows = (source: string) =>
    clickhouse.rows(`SELECT ${shown.join(", ")} FROM ${source} ORDER BY ${key}`);
  const again = `SELECT ${columns.map(([name, by]) => `${by} AS ${name}`).join(", ")} FROM ${from} GROUP BY ${key}`;
  const found = await rows(table);
  expect(found.length).toBeGreaterThan(3);
  expect(await rows(`(${again})`)).toEqual(found);
});

const USAGE_ROLL_UPS = ROLL_UPS.filter(({ table }) => table.startsWith("usage_"));

it("equals the records for each org after late rows, and after the erasure of one", async () => {
  const nowMs = Date.now();
  const late = manyRecords(200, nowMs - 70 * DAY_MS, nowMs - DAY_MS, 5);
  await bench.add(late.map((record, n) => ({ ...record, orgId: n % 3 === 0 ? OTHER_ORG : ORG })));
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  const compare = async () => {
    for (const rollUp of USAGE_ROLL_UPS) {
      const { table, sums, again } = sumsOf(rollUp, "org_id != ''");
      expect([table, await clickhouse.rows(sums)]).toEqual([table, await clickhouse.rows(again)]);
    }
  };
  const tagged = async (org: string) =>
    (
      await clickhouse.rows<{ n: number }>(
        "SELECT sum(requests) AS n FROM usage_tags_daily WHERE org_id = {org:String}",
        { org },
      )
    )[0]?.n;
  await compare();
  const before = await tagged(ORG);
  expect(await tagged(OTHER_ORG)).toBeGreaterThan(10);
  expect(await bench.analytics.erasure.erase(OTHER_ORG)).toBe(false);
  await compare();
  expect([await tagged(OTHER_ORG), await tagged(ORG)]).toEqual([0, before]);
});
