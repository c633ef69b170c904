/** A Redis that was restarted begins a new term, before any exchange counts. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingRedis } from "../../../../support/redis-server.ts";
import { until } from "../../../../support/wait.ts";
import { type Bench, openBench, type TestCell } from "../fixtures.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)(`a term${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let cell: TestCell;
  beforeAll(async () => {
    bench = await openBench();
    cell = await bench.cell("a", { hasParts: true });
  });
  afterAll(async () => await bench.close());

  test("begins with the first exchange at another process of Redis", async () => {
    const told: number[] = [];
    cell.restates({
      operations() {
        told.push(bench.redis.pid());
        return [];
      },
      isSettled: () => true,
    });
    await cell.opened();
    const first = bench.redis.pid();
    await bench.redis.kill();
    await bench.redis.start();
    await cell.caughtUp();
    await bench.link.ready(5000);
    const [id] = /run_id:(\w+)/.exec(String(await bench.link.call("INFO", "server")))?.slice(1) ?? [];
    expect(String(await bench.link.call("HGET", "{weir}:dataset", "term"))).toBe(id);
    expect(told).toEqual([first, bench.redis.pid()]);
    expect(await bench.link.call("SCARD", "{weir}:restating")).toBe(0);
    // It has all that it had confirmed: no cell can be unknown to it.
    expect(await bench.link.call("HEXISTS", "{weir}:dataset", "unsure_until")).toBe(0);
  });

  test("that begins while a cell opens its parts is restated by all of them", async () => {
    const opening = await bench.cell("opening", { hasParts: true });
    await bench.redis.kill();
    await bench.redis.start();
    await opening.caughtUp();
    await cell.caughtUp();
    await bench.link.ready(5000);
    const waited = async () =>
      ((await bench.link.call("SMEMBERS", "{weir}:restating")) as Buffer[]).map(String);
    expect(await waited()).toEqual(["opening"]);
    opening.restates({ operations: () => [["claims_mine", ["key_1", "print"]]], isSettled: () => true });
    await opening.opened();
    expect(await waited()).toEqual([]);
    expect(await bench.link.call("HEXISTS", "{weir}:claims", "key_1")).toBe(1);
    expect(() => opening.restates({ operations: () => [], isSettled: () => true })).toThrow(/too late/);
  });

  test("at a server that would lose what it acknowledged ends the cell, with the name of the setting", async () => {
    const settings: string[] = [];
    const other = await openBench([], settings);
    const unsafe = await other.cell("a");
    settings.push("--appendfsync", "everysec");
    await other.redis.kill();
    await other.redis.start();
    await until(
      "the cell has ended for unsafe settings",
      () => unsafe.ended()?.message,
      (seen) => seen?.includes("appendfsync everysec"),
    );
    await expect(other.cell("b")).rejects.toThrow("appendfsync everysec");
    await other.close();
  });

  test("goes on over a lost connection", async () => {
    const before = String(await bench.link.call("HGET", "{weir}:dataset", "term"));
    cell.cut();
    await cell.caughtUp();
    expect(String(await bench.link.call("HGET", "{weir}:dataset", "term"))).toBe(before);
  });
});
