/** The bound of an export's rows, and what an export says of calls that may be missing. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import type { WaitForInserts } from "../../../src/analytics/clickhouse/inserted-until.ts";
import { queryBudget } from "../../../src/analytics/clickhouse/query-budget.ts";
import { analyticsExportOperations } from "../../../src/analytics/usage/export-operations.ts";
import { systemClock } from "../../../src/base/clock.ts";
import type { FullAnswer } from "../../../src/base/operation/answer.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { caller, manyRecords } from "../../support/analytics/records.ts";
import { BodyReader } from "../../support/body.fixtures.ts";
import { LIMIT_MS } from "../../support/wait.ts";

let bench: Bench;
let clickhouse: ClickHouse;
beforeAll(async () => {
  bench = openBench();
  await bench.add(manyRecords(20, Date.now() - 3_600_000, Date.now()));
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  clickhouse = clickhouseOf(bench);
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

const LIVE = { ...caller(), environment: "live" as const };

const operations = (mostRows: number, waitForInserts: WaitForInserts = async () => undefined) => {
  const budget = queryBudget(clickhouse);
  const takePlace = () => () => {};
  const deps = {
    clickhouse,
    budget,
    clock: systemClock,
    waitForInserts,
    takePlace,
    mostRows,
  };
  return analyticsExportOperations(deps);
};

const exported = (...of: Parameters<typeof operations>) =>
  operations(...of).exportRequests.run(
    { query: { format: "jsonl" }, params: undefined, body: undefined } as never,
    LIVE,
    {} as never,
  );

test("one of more rows than the bound is refused, with both numbers; one of as many is written", async () => {
  const n = 20;
  await expect(exported(n - 1)).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(new RegExp(`${n} rows.*${n - 1} at most`)),
  });
  const { content, parts } = (await exported(n)) as FullAnswer<never>;
  expect(parts.headers).toMatchObject({ "x-svc-rows": `${n}`, "x-svc-row-limit": `${n}` });
  const written = await new BodyReader(content.stream?.body ?? expect.fail("it is a stream")).all;
  expect(Buffer.concat(written).toString().trim().split("\n")).toHaveLength(n);
});

test("each kind says from when on calls may be missing, and says nothing where none is", async () => {
  const sinceMs = Date.UTC(2026, 10, 30, 23);
  const says = async (missingSinceMs: number | undefined) => {
    const { exportRequests, exportUsage } = operations(100, async () => missingSinceMs);
    const answers = [exportRequests, exportUsage].map((of) =>
      of.run({ query: of.query?.parse({}), params: undefined, body: undefined } as never, LIVE, {} as never),
    );
    const all = (await Promise.all(answers)) as FullAnswer<never>[];
    return all.map(({ parts }) => parts.headers?.["x-svc-incomplete-since"]);
  };
  expect(await says(sinceMs)).toEqual(["2026-11-30T23:00:00.000Z", "2026-11-30T23:00:00.000Z"]);
  expect(await says(0)).toEqual(["1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z"]);
  expect(await says(undefined)).toEqual([undefined, undefined]);
});
