/** What the catalog shows of how endpoints and models do: whose traffic counts, what uptime is, and a model's stats. */

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { catalogFigures } from "../../../src/analytics/usage/catalog-figures.ts";
import { type ModelStatsReader, modelStats } from "../../../src/analytics/usage/model-stats.ts";
import type { Timers } from "../../../src/base/clock.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { fail } from "../../../src/base/errors.ts";
import { DAY_MS } from "../../../src/base/time.ts";
import { type Catalog, openCatalog } from "../../../src/catalog/models/catalog.ts";
import { catalogOperations } from "../../../src/catalog/models/operations.ts";
import { storedPriceVersions } from "../../../src/catalog/models/price-versions.ts";
import { simulatedModels } from "../../../src/catalog/models/stats-operations.ts";
import type { AttemptRecord, CallRecord } from "../../../src/record/record.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { attempt, caller, record } from "../../support/analytics/records.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { equals, LIMIT_MS, until } from "../../support/wait.ts";

const clock = systemClock;

const TOY = "weir/sim-small";
let bench: Bench;
let clickhouse: ClickHouse;
/** The shipped one, without any credential: only the simulator's models have an endpoint. */
let catalog: Catalog;

beforeAll(async () => {
  bench = openBench();
  catalog = await openCatalog({
    configDir: join(import.meta.dirname, "../../../config"),
    env: {},
    simulatorUrl: "http://127.0.0.1:9",
    priceVersions: storedPriceVersions(bench.store, clock),
  });
  await bench.analytics.statistics.endpointStats();
  clickhouse = clickhouseOf(bench);
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

/** A call of `model` with one attempt. */
function call(
  model: string,
  change: Partial<CallRecord> = {},
  tried: Partial<AttemptRecord> = {},
): CallRecord {
  const tsMs = change.tsMs ?? Date.now();
  return record({ tsMs, model, attempts: [attempt({ tsMs, ...tried })], payloadState: "off", ...change });
}

/** Adds the calls under names that no other test has, and waits until they can be read. */
async function added(calls: readonly CallRecord[]): Promise<void> {
  await bench.add(calls);
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
}

describe("uptime", () => {
  const failed = (errorClass: AttemptRecord["errorClass"], poolId = "pool_near") =>
    ({
      endpointId: `ep_up_${errorClass}_${poolId}`,
      outcome: "http_error",
      errorClass,
      poolId,
      ttftMs: 0,
    }) as const;

  it.each([
    ["server", "pool_near", 0.75],
    ["network", "byok_near", 0.75],
    ["timeout", "pool_near", 0.75],
    ["protocol", "pool_near", 0.75],
    ["capacity", "pool_near", 0.75],
    ["auth", "pool_near", 0.75],
    // What is the client's, or its own key's, does not count against the endpoint.
    ["client", "pool_near", 1],
    ["capacity", "byok_near", 1],
    ["auth", "byok_near", 1],
  ] as const)("one of four attempts fails as %s with a key of %s: %d", async (errorClass, poolId, uptime) => {
    const bad = failed(errorClass, poolId);
    const good = { endpointId: bad.endpointId, poolId };
    await added([bad, good, good, good].map((tried) => call("up/model", {}, tried)));
    const found = (await bench.analytics.statistics.endpointStats()).get(bad.endpointId);
    expect(found).toMatchObject({ uptime30d: uptime, attempts30d: 4 });
  });

  it("attempts that were given up on tell nothing, also where there are no others", async () => {
    const lost = { endpointId: "ep_hedged", outcome: "cancelled", ttftMs: 0 } as const;
    const broken = { endpointId: "ep_hedged", outcome: "timeout", errorClass: "timeout", ttftMs: 0 } as const;
    await added([lost, lost, lost].map((tried) => call("up/model", {}, tried)));
    const figures = () => bench.analytics.statistics.endpointStats();
    expect((await figures()).get("ep_hedged")).toMatchObject({ uptime30d: 1, attempts30d: 3, ttftP50Ms: 0 });
    await added([broken, { endpointId: "ep_hedged" }].map((tried) => call("up/model", {}, tried)));
    expect((await figures()).get("ep_hedged")).toMatchObject({ uptime30d: 0.5, attempts30d: 5 });
  });
});

describe("whose traffic counts", () => {
  it("live calls that reached an endpoint; test calls only for the simulator's models", async () => {
    const refused = { status: "rejected", provider: "", endpointId: "", attempts: [] } as const;
    const test = { environment: "test", charged: false } as const;
    const mix = (model: string, endpointId: string) => [
      call(model, {}, { endpointId }),
      call(model, test, { endpointId, outcome: "http_error", errorClass: "server", ttftMs: 0 }),
      call(model, { ...test, ...refused }),
      call(model, refused),
    ];
    await added([...mix("count/real", "ep_count_real"), ...mix("count/toy", "ep_count_toy")]);
    const { statistics } = bench.analytics;
    const requests = await statistics.modelRequests7d(["count/toy"]);
    expect([requests.get("count/real"), requests.get("count/toy")]).toEqual([1, 2]);
    const endpoints = await statistics.endpointStats(["count/toy"]);
    expect(endpoints.get("ep_count_real")).toMatchObject({ attempts30d: 1, uptime30d: 1 });
    expect(endpoints.get("ep_count_toy")).toMatchObject({ attempts30d: 2, uptime30d: 0.5 });
  });

  it("models and endpoints show what was measured", async () => {
    const simulated = () => simulatedModels(catalog.current());
    const stats = catalogFigures(bench.analytics.statistics, clock, simulated);
    const shown = catalogOperations({ catalog, clock, stats });
    const endpointId = catalog.current().models.get(TOY)?.endpoints[0]?.id ?? "";
    await added([
      call(TOY, { environment: "test", charged: false, stream: true }, { endpointId, ttftMs: 50 }),
      call(TOY, {}, { endpointId, outcome: "http_error", errorClass: "server", ttftMs: 0 }),
    ]);
    const path = { vendor: "weir", model: "sim-small" };
    const input = { params: path, query: undefined, body: undefined };
    await until(
      "the calls are counted",
      () => stats().requests7d(TOY),
      (calls) => calls > 0,
    );
    expect(await shown.getModel.run(input, caller(), NO_HEAD)).toMatchObject({
      uptime_30d: 0.5,
      ttft_p50_ms: 50,
      requests_7d: 2,
    });
    expect(await shown.getModelEndpoints.run(input, caller(), NO_HEAD)).toMatchObject({
      data: [{ uptime_30d: 0.5, latency: { ttft_p50_ms: 50, ttft_p95_ms: 50 }, attempts_30d: 2 }],
    });
  });
});

it("models are sorted by what was measured, and the median of a model is that of its attempts", async () => {
  const simulated = () => simulatedModels(catalog.current());
  const [slow, quick, unused] = ["weir/sim-large", "weir/sim-reasoner", "weir/sim-messages"];
  const of = (model: string, ttftMs: number, endpointId = `ep_of_${model}`) =>
    call(model, { stream: true }, { endpointId, ttftMs });
  await added([
    ...Array.from({ length: 9 }, () => of(slow, 900)),
    // Medians of 300 and 20 at two endpoints: a mean of these would be 160.
    ...[10, 20, 30].map((ms) => of(quick, ms, "ep_of_quick_1")),
    ...[300, 300].map((ms) => of(quick, ms, "ep_of_quick_2")),
  ]);
  const stats = catalogFigures(bench.analytics.statistics, clock, simulated);
  await until("all five calls are counted", () => stats().requests7d(quick), equals(5));
  const { listModels } = catalogOperations({ catalog, clock, stats });
  const list = async (sort: "latency" | "popularity") => {
    const query = listModels.query?.parse({ sort }) ?? expect.fail("it has a query");
    const { data } = listModels.output.parse(
      await listModels.run({ params: undefined, query, body: undefined }, caller(), NO_HEAD),
    );
    return data.filter(({ id }) => [slow, quick, unused].includes(id));
  };
  expect((await list("latency")).map(({ id, ttft_p50_ms: ms }) => [id, ms])).toEqual([
    [quick, 30],
    [slow, 900],
    [unused, 0],
  ]);
  expect((await list("popularity")).map(({ id, requests_7d: count }) => [id, count])).toEqual([
    [slow, 9],
    [quick, 5],
    [unused, 0],
  ]);
});

/** Its time limit has a test of its own: on a busy machine the engine may take longer than that for a first reading. */
const noLimit: Timers = { after: () => () => {} };

const reader = (deps: Partial<Parameters<typeof modelStats>[0]> = {}): ModelStatsReader =>
  modelStats({ clickhouse, clock, timers: noLimit, simulated: () => ["stats/toy"], ...deps });

/** Midnight of the day so many days ago. */
const dayOf = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);

describe("a model's stats as measured", () => {
  it("a day of an endpoint each: attempts, those that went well, first token and pace", async () => {
    const model = "stats/days";
    const on = (daysAgo: number, tried: Partial<AttemptRecord>, change: Partial<CallRecord> = {}) => {
      const tsMs = Date.parse(`${dayOf(daysAgo)}T00:00:01Z`);
      return call(model, { tsMs, stream: true, ...change }, { tsMs, endpointId: "ep_days", ...tried });
    };
    await added([
      // 20 tokens: 19 after the first in 380 ms.
      on(0, { ttftMs: 100, durationMs: 480, outputTokens: 20 }),
      on(0, { ttftMs: 100, durationMs: 480, outputTokens: 20 }),
      on(0, { outcome: "http_error", errorClass: "server", ttftMs: 0, outputTokens: 0 }),
      // A whole answer: its first byte is its last.
      on(3, { ttftMs: 9000, durationMs: 9001, outputTokens: 20 }, { stream: false }),
      on(3, { outcome: "timeout", errorClass: "timeout", ttftMs: 0, outputTokens: 0 }),
      on(29, { ttftMs: 70, durationMs: 70, outputTokens: 1, endpointId: "ep_days_b" }),
      on(30, {}),
      on(1, {}, { environment: "test" }),
    ]);
    expect((await reader()(model))?.series).toEqual([
      {
        endpoint_id: "ep_days",
        day: dayOf(3),
        attempts: 2,
        ok: 1,
        ttft_p50_ms: 0,
        ttft_p95_ms: 0,
        tpot_p50_ms: 0,
      },
      {
        endpoint_id: "ep_days",
        day: dayOf(0),
        attempts: 3,
        ok: 2,
        ttft_p50_ms: 100,
        ttft_p95_ms: 100,
        tpot_p50_ms: 20,
      },
      {
        endpoint_id: "ep_days_b",
        day: dayOf(29),
        attempts: 1,
        ok: 1,
        ttft_p50_ms: 70,
        ttft_p95_ms: 70,
        tpot_p50_ms: 0,
      },
    ]);
  });

  it("200 callers at once are one reading, which serves for ten seconds", async () => {
    let queries = 0;
    let monotonicMs = 0;
    const counted: Pick<ClickHouse, "rows"> = {
      rows(sql, params) {
        queries += 1;
        return clickhouse.rows(sql, params);
      },
    };
    const read = reader({
      clickhouse: { ...clickhouse, ...counted } as ClickHouse,
      clock: { now: () => 0, monotonic: () => monotonicMs },
    });
    const all = await Promise.all(Array.from({ length: 200 }, () => read("stats/days")));
    expect(new Set(all).size).toBe(1);
    expect(all[0]?.series.length).toBeGreaterThan(0);
    monotonicMs = 9_999;
    await read("stats/days");
    expect(queries).toBe(1);
    monotonicMs = 10_000;
    await read("stats/days");
    expect(queries).toBe(2);
  });

  it("goes without an engine that does not answer, and without one that fails, which is asked again", async () => {
    const due: (() => void)[] = [];
    const timers: Timers = {
      after(delayMs, act) {
        expect(delayMs).toBeLessThan(1000);
        due.push(act);
        return () => {};
      },
    };
    let rows: () => Promise<never[]> = () => new Promise(() => {});
    const engine = { rows: () => rows() } as unknown as ClickHouse;
    const hanging = reader({ clickhouse: engine, timers })("stats/days");
    for (const act of due) act();
    expect(await hanging).toBeUndefined();

    const failing = reader({ clickhouse: engine });
    rows = () => Promise.reject(fail("analytics_unavailable", "away"));
    expect(await failing("stats/days")).toBeUndefined();
    rows = async () => [];
    expect(await failing("stats/days")).toEqual({ series: [] });
  });
});
