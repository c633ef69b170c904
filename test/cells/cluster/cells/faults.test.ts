/** Shared rows when the network or Redis fails: acts happen once, cells stay equal, and no other dataset is followed. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { datasetId } from "../../../../src/cluster/cells/dataset/dataset.ts";
import { type FaultProxy, startFaultProxy } from "../../../support/cells/fault-proxy.ts";
import { rest } from "../../../support/pace.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { until } from "../../../support/wait.ts";
import { type Bench, openBench, type TestCell } from "./fixtures.ts";
import { restoreRedis, saveRedis } from "./redis-copy.ts";

const missing = missingRedis();

/** All rows of a table at a cell. */
const rowsOf = ({ store }: TestCell, table: string) =>
  Array.from(store.table<unknown>(table).range(), ({ key, value }) => [key, value]);

/** Adds one to a counter; resolves with its value. */
const add = ({ store }: TestCell, key = "all"): Promise<number> =>
  store.act(() => {
    const counts = store.table<number>("counts");
    const next = (counts.get(key) ?? 0) + 1;
    counts.put(key, next);
    return next;
  });

/**
 * A cell that loads its rows, or stood still without Redis, refuses acts meanwhile, and acts that were not committed for five seconds:
 * these did not happen.
 */
const addOnceCurrent = async (cell: TestCell, key: string): Promise<number> => {
  for (;;) {
    await until("the cell is current", () => cell.store.healthy());
    const value = await add(cell, key).catch((error: Error & { readonly retryable?: boolean }) => {
      if (error.retryable !== true) throw error;
    });
    if (value !== undefined) return value;
  }
};

describe.skipIf(missing !== undefined)(`faults${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let proxy: FaultProxy;
  beforeEach(async () => {
    bench = await openBench();
    proxy = await startFaultProxy(bench.redis.url);
  });
  afterEach(async () => {
    await bench.close();
    await proxy.close();
  });

  test("an act happens once, and resolves with its value, whatever reply of its cell is lost", async () => {
    const [a, b] = [await bench.cell("a", { url: proxy.url }), await bench.cell("b")];
    const scripts = ["documents", "beat"];
    let count = 0;
    for (const text of [...scripts, ...scripts, ...scripts]) {
      for (const cut of [proxy.cutAfter, proxy.cutBefore]) {
        cut(text);
        const cuts = proxy.cuts();
        expect(await add(a)).toBe(++count);
        await until(`there was a cut of ${text}`, () => proxy.cuts() > cuts);
      }
    }
    for (const cell of [a, b]) expect(cell.store.table("counts").get("all")).toBe(count);
  });

  test("a cell starts although a reply to its restating, its first beat, or a page of rows is lost", async () => {
    const first = await bench.cell("first");
    for (let i = 0; i < 50; i++) await add(first, `key ${i}`);
    const names = ["XREAD", "restate", "beat", "position", "tables", "rows", "have"];
    for (const [at, text] of names.entries()) {
      const cuts = proxy.cuts();
      proxy.cutAfter(text);
      const cell = await bench.cell(`cell ${at}`, { url: proxy.url });
      expect(rowsOf(cell, "counts")).toEqual(rowsOf(first, "counts"));
      await until(`there was a cut of ${text}`, () => proxy.cuts() > cuts);
      await cell.stop();
    }
  });

  test("nothing answered is lost, and nothing happens twice, when Redis is killed amid acts", async () => {
    const cells = await Promise.all(["a", "b", "c"].map((name) => bench.cell(name)));
    const values: number[] = [];
    let isStopping = false;
    const adding = cells.map(async (cell) => {
      while (!isStopping) values.push(await addOnceCurrent(cell, "all"));
    });
    for (let round = 0; round < 3; round++) {
      const had = values.length;
      await until("more acts are answered", () => values.length > had + 30);
      await bench.redis.kill();
      await bench.redis.start();
    }
    isStopping = true;
    await Promise.all(adding);
    expect([...values].sort((x, y) => x - y)).toEqual(values.map((_, i) => i + 1));
    for (const cell of cells) {
      await cell.caughtUp();
      expect(cell.store.table("counts").get("all")).toBe(values.length);
      expect(cell.ended()).toBeUndefined();
    }
  });

  test("cells are equal after a failover to a dataset that lacks the last acts, and acts go on", async () => {
    const cells = await Promise.all(["a", "b", "c"].map((name) => bench.cell(name)));
    const [a, b] = cells as [TestCell, TestCell];
    for (let i = 0; i < 5; i++) await add(a, "kept");
    const saved = saveRedis(bench.redis);
    for (let i = 0; i < 5; i++) await add(a, "lost");
    await restoreRedis(bench.redis, saved);
    await addOnceCurrent(b, "after");
    for (let i = 0; i < 9; i++) await addOnceCurrent(a, "after");
    for (const cell of cells) {
      await cell.caughtUp();
      expect(rowsOf(cell, "counts")).toEqual([
        ["after", 10],
        ["kept", 5],
      ]);
    }
  });

  test("acts under way at a failover happen once or not at all, and those answered after it stay", async () => {
    const cells = await Promise.all(["a", "b", "c"].map((name) => bench.cell(name)));
    let isStopping = false;
    let answered: number[] = [];
    const adding = cells.map(async (cell) => {
      while (!isStopping) {
        // Refused while the cell loads: it did not happen.
        const value = await add(cell).catch(async () => void (await rest(5)));
        if (value !== undefined) answered.push(value);
      }
    });
    await until("more acts are answered", () => answered.length > 30);
    const saved = saveRedis(bench.redis);
    await until("more acts are answered", () => answered.length > 90);
    answered = [];
    await restoreRedis(bench.redis, saved);
    // Those that were on their way to their callers when Redis died may be lost.
    await until("more acts are answered", () => answered.length > 10);
    for (const cell of cells) expect(cell.ended()).toBeUndefined();
    answered = [];
    await until("more acts are answered", () => answered.length > 60);
    isStopping = true;
    await Promise.all(adding);
    expect(new Set(answered).size).toBe(answered.length);
    for (const cell of cells) {
      await cell.caughtUp();
      expect(rowsOf(cell, "counts")).toEqual([["all", Math.max(...answered)]]);
    }
  });

  test("a flushed Redis is refused on an open connection, and removes nothing", async () => {
    const cell = await bench.cell("a");
    await add(cell);
    await bench.link.call("FLUSHALL");
    await until("the cell has ended", () => cell.ended() !== undefined);
    expect(String(cell.ended())).toContain("WEIREMPTY");
    expect(cell.store.healthy()).toBe(false);
    await expect(add(cell)).rejects.toMatchObject({ kind: "storage_unavailable" });
    expect(rowsOf(cell, "counts")).toEqual([["all", 1]]);
  });

  test("a foreign Redis behind the same address is refused, and removes nothing", async () => {
    const other = await openBench();
    const [cell, foreign] = [await bench.cell("a", { url: proxy.url }), await other.cell("a")];
    await add(cell);
    for (let i = 0; i < 5; i++) await add(foreign, "foreign");
    proxy.redirect(other.redis.url);
    await until("the cell has ended", () => cell.ended() !== undefined);
    expect(String(cell.ended())).toContain("WEIRFOREIGN");
    expect(rowsOf(cell, "counts")).toEqual([["all", 1]]);
    await other.close();
  });

  test("Redis that is emptied while a cell loads is refused, and removes nothing", async () => {
    const [a, away] = [await bench.cell("a"), await bench.cell("away", { url: proxy.url })];
    await Promise.all(Array.from({ length: 300 }, (_, i) => add(a, `key ${i}`)));
    await away.caughtUp();
    proxy.refuse(true);
    await add(a, "key 0");
    await bench.link.call("XTRIM", "{weir}:stream", "MAXLEN", 0);
    proxy.delay(20);
    proxy.refuse(false);
    await until("the cell loads", () =>
      bench.log.some((line) => line.startsWith("away") && line.includes("anew")),
    );
    await bench.link.call("FLUSHALL");
    await bench.link.call("HSET", "{weir}:dataset", "id", datasetId(), "version", "1", "origin", "x");
    await until("the cell has ended", () => away.ended() !== undefined);
    expect(rowsOf(away, "counts")).toHaveLength(300);
  });

  test.each([0, 3])(
    "a cell that was away loads anew where %i entries are left of the stream",
    async (left) => {
      const [a, away] = [await bench.cell("a"), await bench.cell("away", { url: proxy.url })];
      for (let i = 0; i < 20; i++) await add(a, `key ${i}`);
      proxy.refuse(true);
      await a.store.act(() => a.store.table("counts").remove("key 3"));
      for (let i = 10; i < 30; i++) await add(a, `key ${i}`);
      await bench.link.call("XTRIM", "{weir}:stream", "MAXLEN", left);
      proxy.refuse(false);
      await away.caughtUp();
      expect(rowsOf(away, "counts")).toEqual(rowsOf(a, "counts"));
      expect(bench.log.join()).toContain("anew");
      expect(await add(away, "key 29")).toBe(2);
    },
  );

  test("a cell that loads while rows change and go is equal to the others once it serves", async () => {
    const rows = Array.from({ length: 2000 }, (_, i) => `key ${i}`);
    const a = await bench.cell("a");
    await a.store.act(() => {
      for (const key of rows) a.store.table("counts").put(key, 0);
    });
    proxy.delay(5);
    let isStopping = false;
    const changing = (async () => {
      for (let i = 0; !isStopping; i++) {
        await a.store.act(() => {
          a.store.table("counts").remove(`key ${(i * 7) % 2000}`);
          a.store.table("counts").put(`key ${(i * 11) % 2000}`, i);
          a.store.table("counts").put(`new ${i}`, i);
        });
      }
    })();
    const late = await bench.cell("late", { url: proxy.url });
    const sums = () => [rowsOf(late, "counts").length, late.version()];
    expect(sums()[0]).toBeGreaterThan(1000);
    isStopping = true;
    await changing;
    await late.caughtUp();
    await a.caughtUp();
    expect(rowsOf(late, "counts")).toEqual(rowsOf(a, "counts"));
  });

  test("a row of no bytes is a row, also for a cell that loads", async () => {
    const a = await bench.cell("a");
    await a.store.act(() => a.store.bytes("raw").put("empty", new Uint8Array()));
    const b = await bench.cell("b");
    for (const { store } of [a, b]) expect(store.bytes("raw").get("empty")).toHaveLength(0);
  });

  test("a paused cell whose name a newer process took is refused", async () => {
    const [older, other] = [await bench.cell("a", { url: proxy.url }), await bench.cell("b")];
    await add(other);
    proxy.pause();
    const inFlight = add(older, "in flight").catch((error: unknown) => error);
    const newer = await bench.cell("a", { folder: "a again" });
    await add(newer);
    proxy.resume();
    await until("the cell has ended", () => older.ended() !== undefined);
    expect(String(older.ended())).toContain("WEIRFENCED");
    expect(await inFlight).toMatchObject({ kind: "storage_unavailable", details: { outcome: "unknown" } });
    for (const cell of [newer, other]) {
      await cell.caughtUp();
      expect(rowsOf(cell, "counts")).toEqual([["all", 2]]);
    }
  });
});
