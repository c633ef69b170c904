/** What providers refused in the last day, over all orgs: which attempts count, and what is answered without the engine. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { providerRefusals } from "../../../src/analytics/usage/provider-refusals.ts";
import type { Timers } from "../../../src/base/clock.ts";
import { fail } from "../../../src/base/errors.ts";
import { DAY_MS } from "../../../src/base/time.ts";
import type { AttemptRecord } from "../../../src/record/record.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { attempt, OTHER_ORG, record } from "../../support/analytics/records.ts";
import { ManualClock } from "../../support/credits/fixtures.ts";
import { LIMIT_MS } from "../../support/wait.ts";

let bench: Bench;
let clickhouse: ClickHouse;
const nowMs = Date.now();

const LIMITED: Partial<AttemptRecord> = {
  refusal: "http.too_many_requests",
  outcome: "rate_limited",
  httpStatus: 429,
  errorClass: "capacity",
  upstreamCode: "slow_down",
};

function call(tsMs: number, ...tried: Partial<AttemptRecord>[]) {
  const attempts = tried.map((change, at) =>
    attempt({ attempt: at + 1, tsMs, provider: "refuser", ...change }),
  );
  return record({ tsMs, attempts, payloadState: "off" });
}

beforeAll(async () => {
  bench = openBench();
  await bench.add([
    call(nowMs - 3000, LIMITED, { ...LIMITED, poolId: "byok_refuser" }, {}),
    { ...call(nowMs - 1000, LIMITED), orgId: OTHER_ORG },
    call(nowMs - 2000, { outcome: "http_error", httpStatus: 400, errorClass: "client", upstreamCode: "odd" }),
    call(
      nowMs - 2000,
      { outcome: "timeout", httpStatus: 0, errorClass: "timeout" },
      { outcome: "cancelled" },
    ),
    call(nowMs - DAY_MS - 60_000, LIMITED, LIMITED, LIMITED),
  ]);
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  clickhouse = clickhouseOf(bench);
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

const waitForInserts = async () => undefined;
/** Waits as long as the engine takes: how long an answer waits is another test's. */
const patient: Timers = { after: () => () => {} };

it("counts attempts of 24 hours that a provider refused, by row, status and code, own keys apart", async () => {
  const rows = await providerRefusals({
    clickhouse,
    waitForInserts,
    clock: new ManualClock("2026-09-09T00:00:00.000Z"),
    timers: patient,
  })();
  expect(rows?.filter(({ provider }) => provider === "refuser")).toEqual([
    {
      provider: "refuser",
      refusal: "http.too_many_requests",
      outcome: "rate_limited",
      httpStatus: 429,
      errorClass: "capacity",
      upstreamCode: "slow_down",
      attempts: 3,
      ownKey: 1,
      lastMs: nowMs - 1000,
    },
    {
      provider: "refuser",
      refusal: "",
      outcome: "http_error",
      httpStatus: 400,
      errorClass: "client",
      upstreamCode: "odd",
      attempts: 1,
      ownKey: 0,
      lastMs: nowMs - 2000,
    },
  ]);
});

it("reads once a minute for all who ask, and again after a failure", async () => {
  const clock = new ManualClock("2026-09-09T00:00:00.000Z");
  let reads = 0;
  let isAway = true;
  const counting = {
    rows: async <T>() => {
      reads++;
      if (isAway) throw fail("analytics_unavailable", "away");
      return [] as T[];
    },
  };
  const asked = providerRefusals({ clickhouse: counting, waitForInserts, clock, timers: patient });
  expect(await asked()).toBeUndefined();
  isAway = false;
  expect(await Promise.all(Array.from({ length: 20 }, asked))).toEqual(Array.from({ length: 20 }, () => []));
  expect(reads).toBe(2);
  clock.advance(60_000);
  await asked();
  expect(reads).toBe(3);
});

it("answers without an engine that is silent", async () => {
  const silent = { rows: () => new Promise<never>(() => {}) };
  const atOnce: Timers = {
    after(_ms, act) {
      act();
      return () => {};
    },
  };
  const clock = new ManualClock("2026-09-09T00:00:00.000Z");
  expect(
    await providerRefusals({ clickhouse: silent, waitForInserts, clock, timers: atOnce })(),
  ).toBeUndefined();
});
