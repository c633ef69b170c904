/** What the public pages are made of, as ClickHouse sums it: days, whose calls count, and names that try to be more than names. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type PublicFigures, publicFigures } from "../../../src/analytics/usage/public-figures.ts";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import type { CallRecord } from "../../../src/record/record.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { record } from "../../support/analytics/records.ts";
import { LIMIT_MS } from "../../support/wait.ts";

let bench: Bench;
let clickhouse: ReturnType<typeof clickhouseOf>;
let figures: PublicFigures;
/** The hour in which it is always. */
const hourMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
const clock = { now: () => hourMs + 1000 };

beforeAll(async () => {
  bench = openBench();
  await bench.analytics.statistics.endpointStats();
  clickhouse = clickhouseOf(bench);
  figures = publicFigures({ clickhouse, clock, simulated: () => ["v/toy"] });
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

const call = (orgId: string, appId: string, change: Partial<CallRecord> = {}): CallRecord =>
  record({ orgId, appId, tsMs: hourMs, attempts: [], payloadState: "off", ...change });

async function added(...calls: CallRecord[]): Promise<void> {
  await bench.add(calls);
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
}

const ago = (hours: number) => ({ tsMs: hourMs - hours * HOUR_MS });
const refused = { status: "rejected", provider: "", endpointId: "" } as const;
const tested = { environment: "test", charged: false } as const;

test("days of 24 hours, the orgs of each model by their last use, and nothing older than 90 days", async () => {
  const model = "v/days";
  const at = (orgId: string, hours: number) => call(orgId, "", { model, ...ago(hours) });
  await added(at("a", 0), at("a", 23), at("a", 24), at("b", 24), at("c", 89 * 24 + 23), at("d", 90 * 24));
  const { days, orgs } = await figures.models();
  const mine = <T extends { model: string; daysAgo: number }>(rows: T[]) =>
    rows.filter((row) => row.model === model).sort((x, y) => x.daysAgo - y.daysAgo);
  expect(mine(days)).toEqual([
    { model, daysAgo: 0, requests: 2, tokens: 240 },
    { model, daysAgo: 1, requests: 2, tokens: 240 },
    { model, daysAgo: 89, requests: 1, tokens: 120 },
  ]);
  expect(mine(orgs)).toEqual([0, 1, 89].map((daysAgo) => ({ model, daysAgo, orgs: 1 })));
});

test("test calls count for simulated models only, and calls that reached no endpoint never", async () => {
  await added(
    ...["v/real", "v/toy"].flatMap((model) => [
      call("a", "who", { model }),
      call("a", "who", { model, ...tested }),
      call("a", "who", { model, ...refused }),
      call("a", "who", { model, ...tested, ...refused }),
    ]),
  );
  const requestsOf = (rows: readonly { model: string; requests: number }[]) =>
    ["v/real", "v/toy"].map((model) => rows.find((row) => row.model === model)?.requests);
  expect(requestsOf((await figures.models()).days)).toEqual([1, 2]);
  const { days, models } = await figures.names([{ orgId: "a", name: "who" }]);
  expect(days).toEqual([{ orgId: "a", name: "who", daysAgo: 0, requests: 3, tokens: 360 }]);
  expect(models.map(({ model, requests7d }) => [model, requests7d]).sort()).toEqual([
    ["v/real", 1],
    ["v/toy", 2],
  ]);
  expect(requestsOf(await figures.page("a", ["who"]))).toEqual([1, 2]);
});

test("names are of their org, and their last seven days are told apart", async () => {
  const name = "same";
  await added(
    call("n1", name),
    call("n1", name, ago(7 * 24 - 1)),
    call("n1", name, ago(7 * 24)),
    call("n2", name),
    call("n3", name),
    call("n1", "other"),
  );
  const { days, models } = await figures.names([
    { orgId: "n1", name },
    { orgId: "n2", name },
  ]);
  const byOrg = (orgId: string) =>
    days.filter((day) => day.orgId === orgId).map(({ daysAgo, requests }) => [daysAgo, requests]);
  expect([byOrg("n1").sort(), byOrg("n2"), byOrg("n3")]).toEqual([
    [
      [0, 1],
      [6, 1],
      [7, 1],
    ],
    [[0, 1]],
    [],
  ]);
  expect(models.find(({ orgId }) => orgId === "n1")).toMatchObject({
    daysAgo: 0,
    requests7d: 2,
    tokens7d: 240,
  });
  expect(await figures.names([])).toEqual({ days: [], models: [] });
});

test("names are text, whatever they hold", async () => {
  const names = [
    "it's",
    "back\\slash",
    "') OR 1=1 --",
    "\\', 'x",
    "{name:String}",
    "日本語 👩‍💻",
    "a\tb",
    "%",
    "/* */",
  ];
  await added(...names.map((name) => call("hostile", name)), call("victim", "secret"));
  const { days } = await figures.names(names.map((name) => ({ orgId: "hostile", name })));
  expect(days.map(({ name }) => name).sort()).toEqual([...names].sort());
  expect(new Set(days.map(({ orgId }) => orgId))).toEqual(new Set(["hostile"]));
  expect((await figures.page("hostile", names))[0]?.requests).toBe(names.length);
});

test("an app's page is told by days of the calendar, today and 29 before", async () => {
  const today = Math.floor(hourMs / DAY_MS) * DAY_MS;
  const on = (daysAgo: number) => call("page", "p", { tsMs: today - daysAgo * DAY_MS });
  await added(on(0), on(0), on(29), on(30));
  const rows = await figures.page("page", ["p"]);
  const dayOf = (daysAgo: number) => new Date(today - daysAgo * DAY_MS).toISOString().slice(0, 10);
  expect(rows.map(({ day, requests }) => [day, requests]).sort()).toEqual([
    [dayOf(29), 1],
    [dayOf(0), 2],
  ]);
});

test("300 names of the greatest length are one statement that ClickHouse takes", async () => {
  const names = Array.from({ length: 300 }, (_, at) => ({
    orgId: `org_${String(at).padStart(26, "0")}`,
    name: "日".repeat(100),
  }));
  expect(await figures.names(names)).toEqual({ days: [], models: [] });
});
