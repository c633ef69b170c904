/** Days and hours of the public figures are UTC's, wherever the database stands. */

import { afterAll, beforeAll, expect, it } from "vitest";
import type { ClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { modelStats } from "../../../src/analytics/usage/model-stats.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { DAY_MS } from "../../../src/base/time.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { attempt, record } from "../../support/analytics/records.ts";
import { LIMIT_MS } from "../../support/wait.ts";

const clock = systemClock;

let bench: Bench;
let clickhouse: ClickHouse;

beforeAll(async () => {
  bench = openBench();
  await bench.analytics.statistics.endpointStats();
  clickhouse = clickhouseOf(bench);
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

/** The same database in another zone, which is half an hour off every hour of UTC's. */
const inKolkata = (): ClickHouse => ({
  ...clickhouse,
  rows: (sql, params) => clickhouse.rows(`${sql} SETTINGS session_timezone = 'Asia/Kolkata'`, params),
});

it("a model's series has today and the 29 days before it, each whole", async () => {
  const [row] = await inKolkata().rows<{ zone: string }>("SELECT timezone() AS zone");
  expect(row?.zone).toBe("Asia/Kolkata");
  const firstMs = Math.floor(Date.now() / DAY_MS) * DAY_MS - 29 * DAY_MS;
  const call = (tsMs: number) =>
    record({ tsMs, model: "weir/zones", attempts: [attempt({ tsMs })], payloadState: "off" });
  await bench.add([call(firstMs - 60_000), call(firstMs + 60_000), call(firstMs + DAY_MS - 60_000)]);
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  const stats = await modelStats({ clickhouse: inKolkata(), clock, simulated: () => ["weir/zones"] })(
    "weir/zones",
  );
  expect(stats?.series).toMatchObject([{ day: new Date(firstMs).toISOString().slice(0, 10), attempts: 2 }]);
});
