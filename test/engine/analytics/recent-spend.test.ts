/** What was charged lately, which forecasts of budgets go by. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import { type Bench, openBench } from "../../support/analytics/bench.ts";
import { manyRecords, ORG, OTHER_ORG } from "../../support/analytics/records.ts";
import { LIMIT_MS } from "../../support/wait.ts";

const NOW = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 20 * 60_000;
let bench: Bench;
const mine = manyRecords(400, NOW - 20 * DAY_MS, NOW, 3).concat(manyRecords(100, NOW - 30 * HOUR_MS, NOW, 4));
beforeAll(async () => {
  bench = openBench({ clock: { now: () => NOW, monotonic: systemClock.monotonic } });
  await bench.add(mine);
  await bench.add(manyRecords(50, NOW - DAY_MS, NOW, 9).map((r) => ({ ...r, orgId: OTHER_ORG })));
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
});
afterAll(() => bench.close());

const costOf = (days: number, isOf: (r: (typeof mine)[number]) => boolean = () => true) =>
  mine
    .filter((r) => r.tsMs >= NOW - days * DAY_MS && isOf(r))
    .reduce((sum, { charged, cost }) => sum + (charged ? cost.total_micro_usd : 0), 0);

it("is that of a week of the org and its projects, and of a day of keys, of those that are asked for", async () => {
  const ids = { projects: ["prj_b", "prj_none"], keys: ["key_a", "key_c"] };
  const { orgMicroUsd, projects, keys } = await bench.analytics.recentSpend(ORG, ids);
  expect(orgMicroUsd).toBe(costOf(7));
  expect([...projects]).toEqual([["prj_b", costOf(7, (r) => r.projectId === "prj_b")]]);
  expect(new Map(keys)).toEqual(
    new Map(["key_a", "key_c"].map((id) => [id, costOf(1, (r) => r.keyId === id)])),
  );
});

it("of an org without calls is nothing", async () => {
  const none = await bench.analytics.recentSpend("org_none", { projects: [], keys: ["key_a"] });
  expect(none).toEqual({ orgMicroUsd: 0, projects: new Map(), keys: new Map() });
});
