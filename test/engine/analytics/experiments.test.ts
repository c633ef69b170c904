/** The report on an experiment: every figure against the slow and obvious way, every interval against tables. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import {
  meanInterval,
  medianInterval,
  medianRank,
  quantile,
  studentT,
  type ValueCount,
  wilson,
} from "../../../src/analytics/intervals.ts";
import {
  type ArmEndpoint,
  type ArmReport,
  type PolicyReports,
  policyReports,
} from "../../../src/analytics/usage/policy-reports.ts";
import { seededRandom } from "../../../src/base/clock.ts";
import { fail } from "../../../src/base/errors.ts";
import { HOUR_MS } from "../../../src/base/time.ts";
import type { CallRecord, ErrorClass } from "../../../src/record/record.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { attempt, ORG, OTHER_ORG, record } from "../../support/analytics/records.ts";
import { LIMIT_MS } from "../../support/wait.ts";

const NOW = Date.now();
const clock = { now: () => NOW, monotonic: () => 0 };
let bench: Bench;
let clickhouse: ClickHouse;
let reports: PolicyReports;

/** A call of policy `duel`, experiment `hosts`; each entry of `tries` is an attempt: endpoint and how it failed. */
function call(
  arm: string,
  tries: readonly (readonly [endpointId: string, errorClass: ErrorClass])[],
  change: Partial<CallRecord> = {},
): CallRecord {
  const tsMs = change.tsMs ?? NOW - 60_000;
  return record({
    tsMs,
    policy: "duel",
    policyVersion: 1,
    experiment: "hosts",
    arm,
    attempts: tries.map(([endpointId, errorClass], at) =>
      attempt({
        attempt: at + 1,
        tsMs,
        endpointId,
        errorClass,
        outcome: errorClass === "" ? "ok" : "http_error",
      }),
    ),
    payloadState: "off",
    ...change,
  });
}

const CLASSES = [
  "",
  "",
  "",
  "",
  "client",
  "capacity",
  "auth",
  "server",
  "network",
  "timeout",
  "protocol",
] as const;

/** Calls of two arms in every mixture; the same each time. */
function mixed(count: number): CallRecord[] {
  const random = seededRandom(11);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  return Array.from({ length: count }, () => {
    const arm = pick(["a", "b", "b"]);
    // Mostly the arm's endpoint first, sometimes out of rotation, sometimes only second.
    const own = [`ep_${arm}`, pick(CLASSES)] as const;
    const other = ["ep_other", pick(CLASSES)] as const;
    const cost = Math.floor(random() ** 3 * 10_000);
    return call(arm, pick([[own], [own, other], [own, other], [other], [other, own], []]), {
      tsMs: Math.floor(NOW - random() * 23 * HOUR_MS),
      status: pick(["ok", "ok", "ok", "error", "cancelled", "rejected"]),
      stream: random() < 0.7,
      ttftMs: random() < 0.2 ? 0 : Math.floor(random() * 2000),
      cost: { total_micro_usd: cost, lines: [], price_version: "pv_1" },
    });
  });
}
const calls = mixed(1200);
const ARMS: readonly ArmEndpoint[] = ["a", "b"].map((arm) => ({
  version: 1,
  experiment: "hosts",
  arm,
  endpointId: `ep_${arm}`,
}));

beforeAll(async () => {
  bench = openBench();
  await bench.add(calls);
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  clickhouse = clickhouseOf(bench);
  const waitForInserts = async () => {
    await bench.analytics.flush(LIMIT_MS);
    return undefined;
  };
  reports = policyReports({ clickhouse, clock, waitForInserts });
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

const FAULTS: readonly string[] = ["capacity", "auth", "server", "network", "timeout", "protocol"];
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

function naive(records: readonly CallRecord[], arm: string, endpointOf: (r: CallRecord) => string) {
  const mine = records.filter((r) => r.arm === arm && r.status !== "rejected");
  const own = (r: CallRecord) => r.attempts.filter((a) => a.endpointId === endpointOf(r));
  const costs = mine.map((r) => r.cost.total_micro_usd);
  const spread = mean(costs.map((cost) => (cost - mean(costs)) ** 2)) * (costs.length / (costs.length - 1));
  const ttfts = mine.flatMap((r) => (r.stream && r.ttftMs > 0 ? [r.ttftMs] : [])).sort((a, b) => a - b);
  const at = (rank: number) => ttfts[rank - 1];
  const errors = mine.filter(
    (r) => r.status === "error" || own(r).some((a) => FAULTS.includes(a.errorClass)),
  ).length;
  const rank = medianRank(ttfts.length);
  return {
    arm,
    experiment: "hosts",
    environment: "live",
    requests: mine.length,
    errors,
    tried: mine.filter((r) => own(r).length > 0).length,
    cost_micro: costs.reduce((sum, cost) => sum + cost, 0),
    output_tokens: mine.reduce((sum, r) => sum + r.usage.outputTokens, 0),
    ttft_p50_ms: at(Math.ceil(ttfts.length / 2)),
    ttft_p95_ms: at(Math.ceil(ttfts.length * 0.95)),
    ttft_p50_ms_interval: { low: at(rank), high: at(ttfts.length + 1 - rank) },
    confidence: 0.95,
    error_rate: errors / mine.length,
    error_rate_interval: wilson(errors, mine.length),
    cost_per_request_micro: mean(costs),
    cost_per_request_micro_interval: meanInterval(mean(costs), Math.sqrt(spread), costs.length),
  };
}

/** Sums of squares add up in another order in the engine. */
function expectReports(found: readonly ArmReport[], expected: readonly ReturnType<typeof naive>[]) {
  expect(found.map((r) => r.arm)).toEqual(expected.map((r) => r.arm));
  for (const [at, { cost_per_request_micro_interval: costs, ...rest }] of found.entries()) {
    const { cost_per_request_micro_interval: expectedCosts, ...others } = expected[
      at
    ] as (typeof expected)[0];
    expect(rest).toEqual(others);
    expect(costs?.low).toBeCloseTo(expectedCosts?.low ?? Number.NaN, 6);
    expect(costs?.high).toBeCloseTo(expectedCosts?.high ?? Number.NaN, 6);
  }
}

/** Arms of an experiment, as the report has them. */
const armsOf = async (...asked: Parameters<PolicyReports["experiments"]>) =>
  (await reports.experiments(...asked)).arms;

describe("the report", () => {
  it("equals a reduction over the records, where the arms' endpoints are known", async () => {
    const expected = ["a", "b"].map((arm) => naive(calls, arm, () => `ep_${arm}`));
    expectReports(await armsOf(ORG, "duel", 24, ARMS), expected);
  });

  it("takes the endpoint tried first for the arm's, where they are not", async () => {
    const expected = ["a", "b"].map((arm) => naive(calls, arm, (r) => r.attempts[0]?.endpointId ?? "none"));
    expectReports(await armsOf(ORG, "duel", 24), expected);
  });

  it.each<[string, readonly (readonly [string, ErrorClass])[], CallRecord["status"], number]>([
    [
      "a fallback that saved the call does not hide the arm's failure",
      [
        ["ep_a", "server"],
        ["ep_b", ""],
      ],
      "ok",
      1,
    ],
    [
      "nor one that was cancelled then",
      [
        ["ep_a", "timeout"],
        ["ep_b", ""],
      ],
      "cancelled",
      1,
    ],
    [
      "the fallback's own failure is not the arm's",
      [
        ["ep_a", ""],
        ["ep_b", "server"],
      ],
      "ok",
      0,
    ],
    [
      "a request that the endpoint refused is the client's fault",
      [
        ["ep_a", "client"],
        ["ep_b", ""],
      ],
      "ok",
      0,
    ],
    ["a call that failed counts, whoever failed", [["ep_b", "server"]], "error", 1],
    ["a client that left is no failure", [["ep_a", ""]], "cancelled", 0],
  ])("%s", async (title, tries, status, errors) => {
    await bench.add([call("a", tries, { status, policy: title })]);
    expect(await armsOf(ORG, title, 1, ARMS)).toMatchObject([{ requests: 1, errors }]);
  });

  it("knows which endpoint an arm stood for in each version", async () => {
    const policy = "moved";
    const broken = [
      ["ep_new", "server"],
      ["ep_a", ""],
    ] as const;
    await bench.add([
      call("a", broken, { policy, policyVersion: 1 }),
      call("a", broken, { policy, policyVersion: 2 }),
    ]);
    const moved = ARMS.concat({ version: 2, experiment: "hosts", arm: "a", endpointId: "ep_new" });
    expect(await armsOf(ORG, policy, 1, moved)).toMatchObject([{ requests: 2, errors: 1, tried: 2 }]);
  });

  it("takes as many arms as a policy with its versions may have", async () => {
    const others = Array.from(
      { length: 20_000 },
      (_, at) => ({ ...ARMS[0], version: at + 2 }) as ArmEndpoint,
    );
    expect(await armsOf(ORG, "duel", 24, [...others, ...ARMS])).toEqual(await armsOf(ORG, "duel", 24, ARMS));
  });

  it("leaves out test calls where there are live ones, experiment by experiment", async () => {
    const policy = "rehearsed";
    const test = { policy, environment: "test", charged: false } as const;
    await bench.add([
      call("a", [["ep_a", ""]], { policy }),
      call("a", [["ep_a", ""]], test),
      call("b", [["ep_b", ""]], test),
      call("x", [["ep_a", ""]], { ...test, experiment: "later" }),
    ]);
    expect(await armsOf(ORG, policy, 1)).toMatchObject([
      { experiment: "hosts", arm: "a", environment: "live", requests: 1 },
      { experiment: "later", arm: "x", environment: "test", requests: 1, cost_micro: 60 },
    ]);
  });

  it("keeps to the org, the policy, the hours, and calls with an arm", async () => {
    const policy = "bounded";
    await bench.add([
      call("a", [["ep_a", ""]], { policy, tsMs: NOW - 2 * HOUR_MS + 1000 }),
      call("a", [["ep_a", ""]], { policy, tsMs: NOW - 2 * HOUR_MS - 1000 }),
      call("a", [["ep_a", ""]], { policy, orgId: OTHER_ORG }),
      call("", [["ep_a", ""]], { policy, experiment: "" }),
    ]);
    expect(await armsOf(ORG, policy, 2)).toMatchObject([{ requests: 1 }]);
    expect(await armsOf(ORG, policy, 3)).toMatchObject([{ requests: 2 }]);
    expect(await armsOf(OTHER_ORG, policy, 2)).toMatchObject([{ requests: 1 }]);
    expect(await armsOf(ORG, "' OR 1 = 1 --", 720)).toEqual([]);
  });

  it("says of a single call what it can", async () => {
    await bench.add([call("a", [["ep_a", ""]], { policy: "lonely", stream: true, ttftMs: 70 })]);
    const [report] = await armsOf(ORG, "lonely", 1);
    expect(report).toMatchObject({
      requests: 1,
      ttft_p50_ms: 70,
      ttft_p95_ms: 70,
      ttft_p50_ms_interval: null,
      cost_per_request_micro: 60,
      cost_per_request_micro_interval: null,
    });
    expect(report?.error_rate_interval).toEqual({ low: 0, high: expect.closeTo(0.7935, 4) });
  });

  it("says from when on calls may be missing", async () => {
    const sinceMs = NOW - HOUR_MS;
    const late = policyReports({ clickhouse, clock, waitForInserts: async () => sinceMs });
    const all = await reports.experiments(ORG, "duel", 24, ARMS);
    expect(all.missingSinceMs).toBeUndefined();
    expect(await late.experiments(ORG, "duel", 24, ARMS)).toEqual({ ...all, missingSinceMs: sinceMs });
  });

  it("is refused while ClickHouse is away", async () => {
    const away = async () => {
      throw fail("analytics_unavailable", "away");
    };
    const report = policyReports({ clickhouse, clock, waitForInserts: away }).experiments(ORG, "duel", 1);
    await expect(report).rejects.toMatchObject({ kind: "analytics_unavailable" });
  });
});

describe("intervals", () => {
  // Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998), table I.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])("Wilson: %i of %i", (hits, total, low, high) => {
    expect(wilson(hits, total)).toEqual({ low: expect.closeTo(low, 4), high: expect.closeTo(high, 4) });
    const { low: lowFailing, high: highFailing } = wilson(total - hits, total);
    expect([1 - highFailing, 1 - lowFailing]).toEqual([expect.closeTo(low, 4), expect.closeTo(high, 4)]);
  });

  it.each([
    [1, 12.706],
    [2, 4.303],
    [4, 2.776],
    [10, 2.228],
    [30, 2.042],
    [120, 1.98],
    [1e7, 1.96],
  ])("Student's t of %i degrees of freedom", (degrees, t) => expect(studentT(degrees)).toBeCloseTo(t, 3));

  it("Student's t of three is short by 0.12 %", () =>
    expect(Math.abs(studentT(3) / 3.18245 - 1)).toBeLessThan(0.00125));

  // Up to 100 as every table of the sign test has them; beyond, where the exact sum gives way to the approximation.
  it.each([
    [5, 0],
    [6, 1],
    [8, 1],
    [9, 2],
    [12, 3],
    [20, 6],
    [50, 18],
    [100, 40],
    [1000, 469],
    [1001, 469],
    [10_000, 4902],
  ])("the median of %i lies between rank %i and its mirror", (count, rank) =>
    expect(medianRank(count)).toBe(rank),
  );

  it("a mean's interval never promises a negative cost, and needs two values", () => {
    expect(meanInterval(1, 10, 4)?.low).toBe(0);
    expect(meanInterval(1, 0, 1)).toBeUndefined();
    expect(meanInterval(5, 0, 3)).toEqual({ low: 5, high: 5 });
  });

  it("holds the truth at least about as often as it says", () => {
    const random = seededRandom(5);
    const runs = 2000;
    let median = 0;
    let share = 0;
    for (let run = 0; run < runs; run++) {
      const values = Array.from({ length: 40 }, () => Math.round(-Math.log(1 - random()) * 1e6));
      const seen: ValueCount[] = values.sort((a, b) => a - b).map((value) => [value, 1]);
      const around = medianInterval(seen);
      if (around !== undefined && around.low <= Math.LN2 * 1e6 && Math.LN2 * 1e6 <= around.high) median += 1;
      const hits = Array.from({ length: 40 }, () => random() < 0.1).filter(Boolean).length;
      const { low, high } = wilson(hits, 40);
      if (low <= 0.1 && 0.1 <= high) share += 1;
    }
    // By ranks it is conservative: 96.2 % with 40 values. Wilson's is right on average over shares: 94.3 % at this one.
    expect(median / runs).toBeGreaterThan(0.95);
    expect(median / runs).toBeLessThan(0.98);
    expect(share / runs).toBeGreaterThan(0.93);
    expect(share / runs).toBeLessThan(0.97);
  });

  it("quantiles count repeated values as often as they were seen", () => {
    const seen: ValueCount[] = [
      [10, 5],
      [20, 4],
      [30, 1],
    ];
    expect([0.01, 0.5, 0.51, 0.9, 0.95].map((share) => quantile(seen, share))).toEqual([10, 10, 20, 20, 30]);
    expect(quantile([], 0.5)).toBe(0);
  });
});
