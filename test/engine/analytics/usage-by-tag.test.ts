/** Percentiles of groups by tag: they come of the records, where the range has not too many. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { usageOperations } from "../../../src/analytics/usage/usage-operations.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { caller, manyRecords, ORG } from "../../support/analytics/records.ts";
import { expectFigures } from "../../support/analytics/usage-figures.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { LIMIT_MS } from "../../support/wait.ts";

/** Both ends of a range are within an hour, and whole days lie between, which the roll-up has. */
const NOW = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 20 * 60_000;
const clock = { now: () => NOW, monotonic: systemClock.monotonic };
const records = manyRecords(600, NOW - 7 * DAY_MS + 1000, NOW, 7).map((r, at) => {
  const durationMs = 200 + ((at * 7919) % 9000);
  return { ...r, provider: "acme", stream: at % 2 === 0, durationMs, ttftMs: Math.floor(durationMs / 3) };
});
let bench: Bench;
let clickhouse: ReturnType<typeof clickhouseOf>;
beforeAll(async () => {
  bench = openBench({ clock, batchAgeMs: HOUR_MS });
  await bench.add(records);
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  clickhouse = clickhouseOf(bench);
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

test.each([
  ["as many calls as are read for times", 0, {}, "all"],
  ["one call more", 1, {}, "none"],
  ["one call more, but not of the project that is asked for", 1, { project_id: "prj_a" }, "all"],
] as const)("groups by tag of a range with %s", async (_, more, filter, times) => {
  const { getUsage } = usageOperations({
    budget: { of: () => clickhouse },
    clock,
    waitForInserts: async () => undefined,
    mostTimedByTag: records.length - more,
  });
  const query = getUsage.query?.parse({ range: "7d", group_by: "tag", tag: "team", ...filter }) as never;
  const answer = await getUsage.run({ params: undefined, query, body: undefined }, caller(ORG), NO_HEAD);
  const { groups } = getUsage.output.parse(answer);
  expect(groups.length).toBeGreaterThan(1);
  const project = "project_id" in filter ? filter.project_id : undefined;
  const wanted = records.filter((r) => project === undefined || r.projectId === project);
  for (const { key, name: _, ...sums } of groups)
    expectFigures(
      sums,
      wanted.filter((r) => (r.tags.team ?? "") === key),
      times,
    );
});
