import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { USAGE_QUERY, usageExport } from "../../../src/analytics/usage/usage-operations.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import type { CallRecord } from "../../../src/record/record.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { attempt, caller, manyRecords, ORG, OTHER_ORG, record } from "../../support/analytics/records.ts";
import { expectFigures, reduced } from "../../support/analytics/usage-figures.ts";
import { amount } from "../../support/effort.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { holdsUnlessCrowded } from "../../support/processor-time.fixtures.ts";
import { equals, LIMIT_MS, until } from "../../support/wait.ts";

/** Twenty past an hour, so that both ends of every range are broken hours. */
const NOW = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 20 * 60_000;
let nowMs = NOW;
let bench: Bench;
/** Half of them are streams, times differ, and what was refused reached no provider and took a millisecond. */
const seeded = manyRecords(1500, NOW - 100 * DAY_MS, NOW, 7)
  .concat(manyRecords(500, NOW - 26 * HOUR_MS, NOW, 8))
  .map((r, at): CallRecord => {
    const isRefused = r.status === "rejected";
    const durationMs = isRefused ? 1 : 200 + ((at * 7919) % 9000);
    const ttftMs = at % 5 === 0 ? 0 : Math.floor(durationMs / 3);
    return { ...r, stream: at % 2 === 0, durationMs, ttftMs, ...(isRefused && { provider: "" }) };
  });

beforeAll(async () => {
  const clock = { now: () => nowMs, monotonic: systemClock.monotonic };
  // Nothing is inserted for its age: only reads bring it about.
  bench = openBench({ clock, batchAgeMs: HOUR_MS });
  await bench.add(seeded);
  await bench.add(manyRecords(50, NOW - DAY_MS, NOW, 9).map((r) => ({ ...r, orgId: OTHER_ORG })));
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
});
afterAll(() => bench.close());

async function usage(query: Record<string, string> = {}, orgId = ORG) {
  const { getUsage } = bench.analytics.operations;
  const parsed = getUsage.query?.parse(query) as never;
  return getUsage.output.parse(
    await getUsage.run({ params: undefined, query: parsed, body: undefined }, caller(orgId), NO_HEAD),
  );
}

/** What `GET /v1/usage/export` writes. */
async function exported(query: Record<string, string>, orgId = ORG) {
  const { sql, params } = usageExport(USAGE_QUERY.parse(query), caller(orgId), nowMs);
  const clickhouse = clickhouseOf(bench);
  try {
    return await clickhouse.rows<{ bucket: string; group: string; requests: number }>(sql, params);
  } finally {
    await clickhouse.close();
  }
}

const between = (fromMs: number, toMs: number) => seeded.filter((r) => r.tsMs >= fromMs && r.tsMs < toMs);
const KEYS: Record<string, (r: CallRecord) => string> = {
  project: (r) => r.projectId,
  key: (r) => r.keyId,
  model: (r) => r.model,
  provider: (r) => r.provider,
  byok: (r) => String(r.byok),
  app: (r) => r.appId,
  tag: (r) => r.tags.team ?? "",
};

describe("usage", () => {
  it("equals a reduction over the records, for any range, granularity, grouping and filter", async () => {
    // Both ends near a record, so that the broken hours are never empty by chance.
    const near = fc
      .tuple(fc.nat(seeded.length - 1), fc.integer({ min: -600_000, max: 600_000 }))
      .map(([at, offMs]) => (seeded[at] as CallRecord).tsMs + offMs);
    const query = fc.record({
      ends: fc
        .tuple(near, fc.oneof(near, fc.integer({ min: 1, max: 3 * HOUR_MS })))
        .map(([a, b]) => (b < 1e9 ? [a, a + b] : [Math.min(a, b), Math.max(a, b) + 1]) as [number, number]),
      granularity: fc.constantFrom(undefined, "hour", "day"),
      group_by: fc.constantFrom(undefined, ...Object.keys(KEYS)),
      filter: fc.constantFrom<Record<string, string>>(
        {},
        { project_id: "prj_a" },
        { key_id: "key_b", model: "acme/model" },
        { provider: "bolt" },
      ),
    });
    await fc.assert(
      fc.asyncProperty(query, async ({ ends: [fromMs, toMs], granularity, group_by, filter }) => {
        const query = {
          range: "custom",
          from: new Date(fromMs).toISOString(),
          to: new Date(toMs).toISOString(),
          ...(granularity && { granularity }),
          ...(group_by && { group_by }),
          ...(group_by === "tag" && { tag: "team" }),
          ...filter,
        };
        const answer = await usage(query);
        const wanted = between(fromMs, toMs).filter(
          (r) =>
            (filter.project_id ?? r.projectId) === r.projectId &&
            (filter.key_id ?? r.keyId) === r.keyId &&
            (filter.model ?? r.model) === r.model &&
            (filter.provider ?? r.provider) === r.provider,
        );
        expectFigures(answer.totals, wanted);
        const stepMs = answer.range.granularity === "hour" ? HOUR_MS : DAY_MS;
        for (const { bucket, ...sums } of answer.series) {
          const at = Date.parse(bucket);
          expect(at % stepMs).toBe(0);
          expectFigures(
            sums,
            wanted.filter((r) => r.tsMs >= at && r.tsMs < at + stepMs),
          );
        }
        expect(answer.series).toHaveLength(Math.ceil(toMs / stepMs) - Math.floor(fromMs / stepMs));
        const keyOf = group_by === undefined ? undefined : KEYS[group_by];
        const keys = keyOf === undefined ? [] : [...new Set(wanted.map(keyOf))];
        expect(answer.groups.map((g) => g.key).sort()).toEqual(keys.sort());
        expect([answer.groups_total, answer.groups_more]).toEqual([keys.length, false]);
        for (const { key, name: _, ...sums } of answer.groups) {
          expectFigures(
            sums,
            wanted.filter((r) => keyOf?.(r) === key),
          );
        }
        const cells = wanted.map((r) => `${Math.floor(r.tsMs / stepMs) * stepMs} ${keyOf?.(r) ?? ""}`);
        const rows = await exported(query);
        expect(rows.map((row) => `${Date.parse(`${row.bucket}Z`)} ${row.group}`).sort()).toEqual(
          [...new Set(cells)].sort(),
        );
        for (const { bucket, group, ...sums } of rows) {
          const at = Date.parse(`${bucket}Z`);
          const isOf = (r: CallRecord) => Math.floor(r.tsMs / stepMs) * stepMs === at;
          expect(sums).toEqual(reduced(wanted.filter((r) => isOf(r) && (keyOf?.(r) ?? "") === group)));
        }
      }),
      { numRuns: amount(25, 10), seed: 42 },
    );
  });

  it.each([
    ["24h", DAY_MS, "hour"],
    ["7d", 7 * DAY_MS, "hour"],
    ["30d", 30 * DAY_MS, "hour"],
    ["90d", 90 * DAY_MS, "day"],
  ] as const)("range %s ends now, by the %s", async (range, lengthMs, granularity) => {
    const answer = await usage({ range });
    expect(answer.range).toEqual({
      from: new Date(NOW - lengthMs).toISOString(),
      to: new Date(NOW).toISOString(),
      granularity,
    });
    expectFigures(answer.totals, between(NOW - lengthMs, NOW));
    expect(answer.group_by).toBe("");
    expect(answer.compare).toBeUndefined();
  });

  it("takes the finer granularity up to 90 days and never beyond", async () => {
    expect((await usage({ range: "90d", granularity: "hour" })).range.granularity).toBe("hour");
    const from = new Date(NOW - 91 * DAY_MS).toISOString();
    expect((await usage({ range: "custom", from, granularity: "hour" })).range.granularity).toBe("day");
  });

  it("compares with the period before, item by item", async () => {
    const { compare, series } = await usage({ range: "7d", compare: "true" });
    expect(compare?.range).toEqual({
      from: new Date(NOW - 14 * DAY_MS).toISOString(),
      to: new Date(NOW - 7 * DAY_MS).toISOString(),
    });
    expectFigures(compare?.totals, between(NOW - 14 * DAY_MS, NOW - 7 * DAY_MS));
    const starts = series.map(({ bucket }) => Date.parse(bucket) - 7 * DAY_MS);
    expect(compare?.series.map(({ bucket }) => Date.parse(bucket))).toEqual(starts);
    for (const { bucket, ...sums } of compare?.series ?? []) {
      const at = Date.parse(bucket);
      const [fromMs, toMs] = [Math.max(at, NOW - 14 * DAY_MS), Math.min(at + HOUR_MS, NOW - 7 * DAY_MS)];
      expectFigures(sums, between(fromMs, toMs));
    }
  });

  it("has as many items before as in the period, of any length, and loses no call of them", async () => {
    const ends = fc.tuple(
      fc.integer({ min: 1, max: 40 * DAY_MS }),
      fc.integer({ min: 1, max: 59 * DAY_MS }),
      fc.constantFrom("hour", "day"),
    );
    await fc.assert(
      fc.asyncProperty(ends, async ([agoMs, lengthMs, granularity]) => {
        const toMs = NOW - agoMs;
        const [from, to] = [toMs - lengthMs, toMs].map((at) => new Date(at).toISOString());
        const { compare, series } = await usage({
          range: "custom",
          from,
          to,
          granularity,
          compare: "1",
        } as never);
        expect(compare?.series.map(({ bucket }) => Date.parse(bucket) + lengthMs)).toEqual(
          series.map(({ bucket }) => Date.parse(bucket)),
        );
        const before = reduced(between(toMs - 2 * lengthMs, toMs - lengthMs));
        expect(compare?.totals).toMatchObject(before);
        const sum = compare?.series.reduce((all, item) => all + item.requests, 0);
        expect(sum).toBe(before.requests);
      }),
      { numRuns: amount(25, 10), seed: 43 },
    );
  });

  it("answers the dearest groups, and says how many there are", async () => {
    const all = await usage({ range: "90d", group_by: "key" });
    const two = await usage({ range: "90d", group_by: "key", limit: "2" });
    expect(all.groups.length).toBeGreaterThan(2);
    expect(two.groups).toEqual(all.groups.slice(0, 2));
    expect([two.groups_total, two.groups_more]).toEqual([all.groups.length, true]);
  });

  it("names groups, of what the caller may list", async () => {
    const asked: unknown[] = [];
    const named = openBench({
      clickhouseUrl: engineUrl(),
      pool: bench.pool,
      clock: { now: () => NOW, monotonic: systemClock.monotonic },
      names: (kind, orgId, ids) => {
        asked.push([kind, orgId, ids.includes("")]);
        return new Map([["key_b", { name: "Robot", hint: "wxyz" }]]);
      },
    });
    const { getUsage } = named.analytics.operations;
    const by = async (scopes: readonly string[], group_by: string) => {
      const query = getUsage.query?.parse({ range: "90d", group_by }) as never;
      const who = { ...caller(ORG), scopes: new Set(scopes) };
      return getUsage.output.parse(
        await getUsage.run({ params: undefined, query, body: undefined }, who, NO_HEAD),
      ).groups;
    };
    try {
      const groups = await by(["read:usage", "read:keys"], "key");
      expect(groups.find(({ key }) => key === "key_b")).toMatchObject({ name: "Robot", hint: "wxyz" });
      expect(groups.filter(({ name }) => name !== "")).toHaveLength(1);
      expect(asked).toEqual([["key", ORG, false]]);
      for (const kind of ["key", "project", "app", "byok"])
        expect((await by(["read:usage"], kind)).every(({ name }) => name === "")).toBe(true);
      expect(asked).toHaveLength(1);
    } finally {
      await named.close();
    }
  });

  it("orders groups by cost", async () => {
    const costs = (await usage({ range: "90d", group_by: "key" })).groups.map((g) => g.cost_micro);
    expect(costs).toEqual([...costs].sort((a, b) => b - a));
  });

  it.each([
    [{ range: "custom" }, "/from"],
    [{ range: "custom", from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z" }, "/from"],
    [{ range: "custom", from: "2020-01-01T00:00:00Z", to: "2026-01-01T00:00:00Z" }, "/from"],
    [{ range: "7d", from: "2026-01-01T00:00:00Z" }, "/from"],
    [{ group_by: "tag" }, "/tag"],
  ])("refuses %j, naming %s", async (query, param) => {
    await expect(usage(query as Record<string, string>)).rejects.toMatchObject({
      kind: "invalid_value",
      param,
    });
  });

  it("counts a call right after it was recorded", async () => {
    nowMs = NOW + 60_000;
    const before = await usage({ range: "24h", key_id: "key_now" });
    await bench.add([record({ tsMs: NOW + 1000, keyId: "key_now" })]);
    let after = before;
    // A read waits a second for what is to be inserted, which a busy machine may need several of.
    await holdsUnlessCrowded(async () => {
      after = await usage({ range: "24h", key_id: "key_now" });
      return after.totals.requests > 0;
    });
    nowMs = NOW;
    expect([before.totals.requests, after.totals.requests, after.totals.cost_micro]).toEqual([0, 1, 60]);
  });
});

describe("figures for other rooms", () => {
  it("counts an org's refusals of the last 24 hours", async () => {
    const org = "org_refused";
    const refused = (errorCode: string, ageMs = 60_000) =>
      record({
        orgId: org,
        tsMs: Date.now() - ageMs,
        status: "rejected",
        errorCode,
        attempts: [],
        endpointId: "",
      });
    await bench.add([
      refused("rpm"),
      refused("rpm"),
      refused("tpm"),
      refused("concurrency"),
      refused("upstream_capacity"),
    ]);
    await bench.add([refused("rpm", 25 * HOUR_MS), record({ orgId: org })]);
    await bench.analytics.flush(LIMIT_MS);
    expect(await bench.analytics.statistics.counts24h(org)).toEqual({
      rejected: { rpm: 2, tpm: 1, concurrency: 1 },
      upstreamCapacity: 1,
    });
  });

  it("tells how endpoints do: faults of the client and cancellations are not the endpoint's", async () => {
    const tsMs = Date.now();
    const tries = (["", "", "", "server", "client"] as const).map((errorClass, at) =>
      attempt({ tsMs, endpointId: "ep_stats", errorClass, ttftMs: errorClass === "" ? 100 * (at + 1) : 0 }),
    );
    await bench.add([
      record({ tsMs, model: "stats/model", stream: true, attempts: tries }),
      record({ tsMs, model: "stats/model" }),
    ]);
    await bench.analytics.flush(LIMIT_MS);
    const found = (await bench.analytics.statistics.endpointStats()).get("ep_stats");
    expect(found).toMatchObject({ attempts30d: 5, uptime30d: 0.8, ttftP50Ms: 200 });
    expect(found?.ttftP95Ms).toBeGreaterThan(200);
    expect((await bench.analytics.statistics.modelRequests7d()).get("stats/model")).toBe(2);
  });
});

it("T58: what is over its time goes with its whole partition, side tables included", async () => {
  const reader = openBench({ clickhouseUrl: engineUrl(), pool: bench.pool });
  const nowMs = Date.now();
  const aged = (days: number, retentionDays: number, leftMs = 0) =>
    record({ tsMs: nowMs + leftMs - days * DAY_MS, orgId: "org_aged", retentionDays });
  const short = aged(30, 30);
  const soon = aged(30, 30, HOUR_MS);
  const long = aged(30, 60);
  const ancient = aged(400, 1);
  await bench.add([short, soon, long, ancient]);
  await bench.analytics.flush(LIMIT_MS);
  try {
    const state = async ({ requestId: id }: CallRecord) => {
      const input = { params: { id }, query: {}, body: undefined };
      return (await reader.analytics.operations.getRequest.run(input, caller("org_aged"), NO_HEAD)) as {
        payload_state: string;
      };
    };
    expect(await state(soon)).toMatchObject({ payload_state: "available", logged: true });
    // Over at once for readers, whenever the engine sweeps.
    expect(await state(short)).toMatchObject({ payload_state: "expired", logged: true });
    expect(await state(long)).toMatchObject({ payload_state: "available" });
    // The engine does this by itself within a minute or so; asked, it does it now.
    for (const table of ["payloads", "requests"]) await sql(`OPTIMIZE TABLE ${table} FINAL`);
    const kept = [soon.requestId, long.requestId].sort();
    await until("the payloads that are over are gone", () => ids("payloads"), equals(kept));
    const stay = [short.requestId, ...kept].sort();
    await until("the oldest request is gone", () => ids("requests"), equals(stay));
  } finally {
    await reader.close();
  }
});

const ids = async (table: string) =>
  (await sql(`SELECT request_id FROM ${table} WHERE org_id = 'org_aged'`)).split("\n").sort();

const connection = () => JSON.parse(readFileSync(`${bench.dataDir}/clickhouse.json`, "utf8"));

function engineUrl(): string {
  const { url, username, password, database } = connection();
  return `${url.replace("://", `://${username}:${password}@`)}/${database}`;
}

async function sql(statement: string): Promise<string> {
  const { url, username, password, database } = connection();
  const response = await fetch(`${url}/?database=${database}`, {
    method: "POST",
    headers: { "x-clickhouse-user": username, "x-clickhouse-key": password },
    body: statement,
  });
  expect(response.status).toBe(200);
  return (await response.text()).trim();
}
