/** A Redis that was restarted begins a new term, before any exchange counts. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bench, openBench, type TestCell } from "./fixtures.ts";
import { missingRedis } from "./redis-server.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)(`a term${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let cell: TestCell;
  beforeAll(async () => {
    bench = await openBench();
    cell = await bench.cell("a");
  });
  afterAll(async () => await bench.close());

  test("begins with the first exchange at another process of Redis", async () => {
    const told: number[] = [];
    cell.restates(() => {
      told.push(bench.redis.pid());
      return [];
    });
    await bench.redis.kill();
    await bench.redis.start();
    await cell.caughtUp();
    await bench.link.ready(5000);
    const [id] = /run_id:(\w+)/.exec(String(await bench.link.call("INFO", "server")))?.slice(1) ?? [];
    expect(String(await bench.link.call("HGET", "{weir}:dataset", "term"))).toBe(id);
    expect(told).toEqual([bench.redis.pid()]);
    expect(await bench.link.call("SCARD", "{weir}:restating")).toBe(0);
  });

  test("goes on over a lost connection", async () => {
    const before = String(await bench.link.call("HGET", "{weir}:dataset", "term"));
    cell.cut();
    await cell.caughtUp();
    expect(String(await bench.link.call("HGET", "{weir}:dataset", "term"))).toBe(before);
  });
});
