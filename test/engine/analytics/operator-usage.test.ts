/** `GET /v1/operator/usage`: every org's usage, and its share of the disk. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import { type Bench, openBench } from "../../support/analytics/bench.ts";
import { caller, manyRecords, ORG, OTHER_ORG } from "../../support/analytics/records.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { LIMIT_MS } from "../../support/wait.ts";

const PAYLOAD_ORG = "org_01J00000000000000000000003";
let bench: Bench;
const nowMs = Date.now();
const mine = manyRecords(300, nowMs - 20 * DAY_MS, nowMs - HOUR_MS, 3);
const others = manyRecords(100, nowMs - 20 * DAY_MS, nowMs - HOUR_MS, 4).map((record) => ({
  ...record,
  orgId: OTHER_ORG,
}));
/** They keep what is asked and answered, for a month; the second kind is three times as large. */
const kept = [ORG, PAYLOAD_ORG].flatMap((orgId, n) =>
  manyRecords(10, nowMs - 2 * DAY_MS, nowMs - HOUR_MS, 5 + n).map((record) => ({
    ...record,
    orgId,
    payloadState: "available" as const,
    retentionDays: 30,
    bytesIn: 1000 * (1 + 2 * n),
    bytesOut: 0,
    request: Buffer.from('{"model":"a","messages":[]}'),
  })),
);
const all = [...mine, ...others, ...kept];

beforeAll(async () => {
  bench = openBench();
  await bench.add(all);
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
});
afterAll(() => bench.close());

async function usage(query: Record<string, string> = {}) {
  const { operatorGetUsage } = bench.analytics.operations;
  const parsed = operatorGetUsage.query?.parse(query) as never;
  return operatorGetUsage.output.parse(
    await operatorGetUsage.run({ params: undefined, query: parsed, body: undefined }, caller(""), NO_HEAD),
  );
}

const costOf = (records: typeof all) =>
  records.reduce((sum, { charged, cost }) => sum + (charged ? cost.total_micro_usd : 0), 0);
const of = (orgId: string, days = 400) =>
  all.filter((record) => record.orgId === orgId && record.tsMs >= nowMs - days * DAY_MS);

it("sums up each org over the range, the one that costs most first", async () => {
  for (const [range, days] of [["30d", 30] as const, ["7d", 7] as const]) {
    const answer = await usage({ range });
    const wanted = [ORG, OTHER_ORG, PAYLOAD_ORG].map((orgId) => ({
      org_id: orgId,
      requests: of(orgId, days).length,
      cost_micro: costOf(of(orgId, days)),
    }));
    wanted.sort((a, b) => b.cost_micro - a.cost_micro);
    expect(answer.orgs.map(({ org_id, requests, cost_micro }) => ({ org_id, requests, cost_micro }))).toEqual(
      wanted,
    );
    expect(answer.totals.cost_micro).toBe(wanted.reduce((sum, { cost_micro }) => sum + cost_micro, 0));
  }
});

it("shares out the bytes on the disk: of records by their number, of payloads by the size of their calls", async () => {
  // Within a day an org without calls is told too: its records are stored.
  const { orgs, tables, totals } = await usage({
    range: "custom",
    from: "2020-01-01T00:00:00Z",
    to: "2020-01-02T00:00:00Z",
    sort: "bytes",
  });
  expect(totals.requests).toBe(0);
  expect(orgs.map(({ org_id }) => org_id)[0]).toBe(ORG);
  const bytesOf = (name: string) => tables.find((table) => table.name === name)?.bytes ?? 0;
  expect(bytesOf("requests")).toBeGreaterThan(1000);
  const share = (n: number, ofAll: number, bytes: number) => Math.round((bytes * n) / ofAll);
  for (const { org_id, requests, stored } of orgs) {
    expect(requests).toBe(0);
    const payloads = kept.filter((record) => record.orgId === org_id);
    const weight = payloads.reduce((sum, { bytesIn }) => sum + bytesIn, 0);
    const { records, payloads: count } = stored;
    expect({ records, count }).toEqual({ records: of(org_id).length, count: payloads.length });
    const wanted = [
      share(of(org_id).length, all.length, bytesOf("requests")),
      share(weight, 40_000, bytesOf("payloads")),
    ];
    // Halves of a byte are rounded otherwise there.
    for (const [at, bytes] of [stored.record_bytes, stored.payload_bytes].entries()) {
      expect(Math.abs(bytes - (wanted[at] ?? 0))).toBeLessThanOrEqual(1);
    }
  }
});

it("answers as many orgs as are asked for, and the totals of all", async () => {
  const { orgs, totals } = await usage({ range: "30d", sort: "requests", limit: "1" });
  expect(orgs.map(({ org_id }) => org_id)).toEqual([ORG]);
  expect(totals.requests).toBe(all.length);
});

async function sums(query: Record<string, string> = {}) {
  const { operatorSumUsage } = bench.analytics.operations;
  const parsed = operatorSumUsage.query?.parse(query) as never;
  return operatorSumUsage.output.parse(
    await operatorSumUsage.run({ params: undefined, query: parsed, body: undefined }, caller(""), NO_HEAD),
  );
}

it("sums up all orgs as totals, a series and groups, or one of them alone", async () => {
  const { totals, series, groups, groups_total } = await sums({ range: "30d", group_by: "org" });
  expect(totals.requests).toBe(of(ORG, 30).length + of(OTHER_ORG, 30).length + of(PAYLOAD_ORG, 30).length);
  expect(series.reduce((sum, { cost_micro }) => sum + cost_micro, 0)).toBe(totals.cost_micro);
  expect(groups_total).toBe(3);
  for (const { key, requests, cost_micro } of groups) {
    expect(requests).toBe(of(key, 30).length);
    expect(cost_micro).toBe(costOf(of(key, 30)));
  }
  const one = await sums({ range: "30d", org_id: OTHER_ORG, group_by: "model" });
  expect(one.totals.requests).toBe(of(OTHER_ORG, 30).length);
  expect(one.groups.reduce((sum, { requests }) => sum + requests, 0)).toBe(one.totals.requests);
});
