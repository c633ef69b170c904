/** Records are kept 400 days; what they sum up to, for good. Payloads end by the org's own rule (test/gateway/erasure). */

import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { DAY_MS } from "../../../src/base/time.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { caller, manyRecords } from "../../support/analytics/records.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { LIMIT_MS } from "../../support/wait.ts";

const KEPT_DAYS = 400;
let bench: Bench;
let clickhouse: ClickHouse;
const nowMs = Date.now();
/** Records of months that are over for longer than that, and of days within it. */
const old = manyRecords(40, nowMs - (KEPT_DAYS + 90) * DAY_MS, nowMs - (KEPT_DAYS + 40) * DAY_MS, 1);
const young = manyRecords(40, nowMs - (KEPT_DAYS - 40) * DAY_MS, nowMs - DAY_MS, 2);

beforeAll(async () => {
  bench = openBench();
  await bench.add([...old, ...young]);
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  clickhouse = clickhouseOf(bench);
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

const countOf = async (where = "1") =>
  (await clickhouse.rows<{ n: number }>(`SELECT count() AS n FROM requests WHERE ${where}`))[0]?.n;

test("records older than 400 days go with the parts that hold nothing younger, and their sums stay", async () => {
  // The engine does it by and by.
  await clickhouse.command("OPTIMIZE TABLE requests FINAL");
  expect(await countOf(`ts < now() - toIntervalDay(${KEPT_DAYS})`)).toBe(0);
  expect(await countOf()).toBe(young.length);

  const [sums] = await clickhouse.rows<{ n: number; cost: number }>(
    "SELECT sum(requests) AS n, sum(cost_micro) AS cost FROM usage_hourly",
  );
  const all = [...old, ...young];
  const cost = all.reduce((sum, r) => sum + (r.charged ? r.cost.total_micro_usd : 0), 0);
  expect(sums).toEqual({ n: all.length, cost });
  const [tagged] = await clickhouse.rows<{ n: number }>("SELECT sum(requests) AS n FROM usage_tags_daily");
  expect(tagged?.n).toBe(all.filter(({ tags }) => Object.keys(tags).length > 0).length);
});

test("whole hours that long ago are still answered", async () => {
  const { getUsage } = bench.analytics.operations;
  const at = Math.floor((nowMs - (KEPT_DAYS + 95) * DAY_MS) / DAY_MS) * DAY_MS;
  const query = getUsage.query?.parse({
    range: "custom",
    from: new Date(at).toISOString(),
    to: new Date(at + 60 * DAY_MS).toISOString(),
  }) as never;
  const answer = await getUsage.run({ params: undefined, query, body: undefined }, caller(), NO_HEAD);
  expect(getUsage.output.parse(answer).totals.requests).toBeGreaterThan(30);
});
