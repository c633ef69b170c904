/** Questions of others than the gateway: records that have waited for long are in the engine before one is answered. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CatchUp } from "../../../src/analytics/engine/catch-up.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { HOUR_MS } from "../../../src/base/time.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { manyRecords } from "../../support/analytics/records.ts";
import { LIMIT_MS } from "../../support/wait.ts";

let nowMs = Date.now();
let bench: Bench;

beforeAll(async () => {
  const clock = { now: () => nowMs, monotonic: systemClock.monotonic };
  // Nothing is inserted for its age.
  bench = openBench({ clock, batchAgeMs: HOUR_MS });
  // The engine is up then.
  await bench.add(manyRecords(1, nowMs - HOUR_MS, nowMs, 3));
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
});
afterAll(() => bench.close());

const QUESTION = "SELECT count() AS n FROM requests";

/** As a tool of the operator's asks, with the gateway's own password. */
async function asked(): Promise<number> {
  const { url, username, password } = JSON.parse(
    readFileSync(join(bench.dataDir, "clickhouse.json"), "utf8"),
  );
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const answer = await fetch(`${url}/?database=weir`, {
    method: "POST",
    headers: { authorization },
    body: QUESTION,
  });
  return Number(await answer.text());
}

it("records that have waited for two seconds are there, and a question in between inserts nothing", async () => {
  const few = manyRecords(6, nowMs - HOUR_MS, nowMs, 1);
  await bench.add(few.slice(0, 2));
  nowMs += 2001;
  expect(await asked()).toBe(3);
  await bench.add(few.slice(2, 4));
  nowMs += 1000;
  expect(await asked()).toBe(3);
  nowMs += 2001;
  expect(await asked()).toBe(5);
});

it("the gateway's own questions wait for nothing", async () => {
  await bench.add(manyRecords(3, nowMs - HOUR_MS, nowMs, 2));
  nowMs += HOUR_MS;
  const clickhouse = clickhouseOf(bench);
  expect(await clickhouse.rows(QUESTION)).toEqual([{ n: 5 }]);
  await clickhouse.close();
  expect(await asked()).toBe(8);
});

it("an answer of the gateway ends the waiting of its own question alone", async () => {
  const numbers: number[] = [];
  const catchUp = new CatchUp((number) => void numbers.push(number));
  const ended: string[] = [];
  const first = catchUp.wait().then(() => ended.push("first"));
  const second = catchUp.wait().then(() => ended.push("second"));
  expect(numbers).toEqual([1, 2]);
  catchUp.done(7);
  catchUp.done(2);
  await second;
  expect(ended).toEqual(["second"]);
  catchUp.done(1);
  await first;
  expect(ended).toEqual(["second", "first"]);
});
