/** The bound of an export's rows. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClickHouse } from "../../../src/analytics/client.ts";
import { analyticsExportOperations } from "../../../src/analytics/export-operations.ts";
import { queryBudget } from "../../../src/analytics/query-budget.ts";
import type { FullAnswer } from "../../../src/answer.ts";
import { systemClock } from "../../../src/clock.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { caller, manyRecords } from "../../support/analytics/records.ts";
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

const exported = (mostRows: number) => {
  const budget = queryBudget(clickhouse);
  const takePlace = () => () => {};
  const deps = {
    clickhouse,
    budget,
    clock: systemClock,
    waitForInserts: async () => {},
    takePlace,
    mostRows,
  };
  const { exportRequests } = analyticsExportOperations(deps);
  const live = { ...caller(), environment: "live" as const };
  return exportRequests.run(
    { query: { format: "jsonl" }, path: undefined, body: undefined } as never,
    live,
    {} as never,
  );
};

test("one of more rows than the bound is refused, with both numbers; one of as many is written", async () => {
  const n = 20;
  await expect(exported(n - 1)).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(new RegExp(`${n} rows.*${n - 1} at most`)),
  });
  const { content, parts } = (await exported(n)) as FullAnswer<never>;
  expect(parts.headers).toMatchObject({ "x-svc-rows": `${n}`, "x-svc-row-limit": `${n}` });
  const written: Uint8Array[] = [];
  for await (const part of content.stream?.body ?? []) written.push(part);
  expect(Buffer.concat(written).toString().trim().split("\n")).toHaveLength(n);
});
