/** What an act may do at a cell among several: throw, read ranges, write tables of its own cell too, and wait for a bounded time. */
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Clock, systemClock } from "../../../../../src/base/clock.ts";
import { type FaultProxy, startFaultProxy } from "../../../../support/cells/fault-proxy.ts";
import { amount } from "../../../../support/effort.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import { type Bench, openBench, type TestCell } from "../fixtures.ts";

const missing = missingRedis();
/** Below the gap after which a cell knows that it stood still. */
const STEP_MS = 400;
/** Time that passed at once. */
let aheadMs = 0;
const clock: Clock = {
  now: () => systemClock.now() + aheadMs,
  monotonic: () => systemClock.monotonic() + aheadMs,
};
const noted = (isSo: () => boolean) => until("it is noted", isSo);
const put = ({ store }: TestCell, key: string | string[], value: unknown = 1) =>
  store.act(() => store.table("things").put(key, value));

describe.skipIf(missing !== undefined)(`acts of cells${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let proxy: FaultProxy;
  let a: TestCell;
  let b: TestCell;
  beforeEach(async () => {
    bench = await openBench();
    proxy = await startFaultProxy(bench.redis.url);
    a = await bench.cell("a", { url: proxy.url, clock });
    b = await bench.cell("b");
    // A process that stood still has to catch up, which is not to come between a test's acts.
    await until("both cells are current", () => [a, b].every(({ store }) => store.healthy()));
  });
  afterEach(async () => {
    await bench.close();
    await proxy.close();
  });

  /** Time goes on without a gap: the process did not stand still. */
  function pass(ms: number): void {
    for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
      aheadMs += Math.min(leftMs, STEP_MS);
      a.store.healthy();
    }
  }

  test("an act sees the acts of its cell that were called before it, committed or not", async () => {
    const things = a.store.table<number>("things");
    const made = a.store.act(() => things.put("made", 1));
    const needs = a.store.act(() => {
      if (things.get("made") === undefined) throw new Error("nothing was made");
      things.put("needs", 2);
    });
    await Promise.all([made, needs]);
    expect(b.store.table("things").get("needs")).toBe(2);
  });

  test("what a cell reads of an act that is not answered yet may be told once every cell has it", async () => {
    const isRead = new Promise<void>((resolve) => b.store.table("things").watch(() => resolve()));
    proxy.pause();
    const made = put(b, "made");
    await isRead;
    const seen = b.seenEverywhere();
    proxy.resume();
    await seen;
    expect(a.store.table("things").get("made")).toBe(1);
    await made;
  });

  test("200 callers who wait for every cell go on when one is silent, and Redis away", async () => {
    const isRead = new Promise<void>((resolve) => b.store.table("things").watch(() => resolve()));
    proxy.pause();
    const made = put(b, "made");
    await isRead;
    await bench.redis.kill();
    await Promise.all(Array.from({ length: 200 }, () => b.seenEverywhere()));
    expect(b.store.table("things").get("made")).toBe(1);
    expect(a.store.table("things").get("made")).toBeUndefined();
    await bench.redis.start();
    proxy.resume();
    await made;
  });

  test("an act that throws puts nothing and undoes memory in reverse, and the acts beside it are committed", async () => {
    const undone: number[] = [];
    const failing = a.store.act(() => {
      a.store.table("things").put("never", 1);
      for (const n of [1, 2]) a.store.ifDropped(() => undone.push(n));
      throw new Error("no");
    });
    await Promise.all([expect(failing).rejects.toThrow("no"), put(a, "beside")]);
    expect(undone.slice(0, 2)).toEqual([2, 1]);
    expect(b.store.table("things").get("never")).toBeUndefined();
    expect(b.store.table("things").get("beside")).toBe(1);
  });

  test.each([
    ["of a table", {}, "x"],
    ["of a first part", { start: ["x"], end: ["x", "~"] }, ["x", "1"]],
    ["of a first part, by a row under the part alone", { start: ["x"], end: ["x", "~"] }, "x"],
  ])(
    "a row put by another cell into an empty range %s refuses an act that read it",
    async (_, range, key) => {
      proxy.delay(30);
      let runs = 0;
      const counting = a.store.act(() => {
        runs++;
        const seen = [...a.store.table("things").range(range)].length;
        a.store.table("counts").put("seen", seen);
        return seen;
      });
      proxy.pause();
      await put(b, key);
      proxy.resume();
      expect(await counting).toBe(1);
      // The probe, a run that was refused, and the one that was committed.
      expect(runs).toBe(3);
    },
  );

  test("a row put by another cell refuses an act that read the range, also where the act before it in the group put one", async () => {
    const things = a.store.table("things");
    const first = put(a, ["x", "mine"]);
    const counting = a.store.act(() => {
      const seen = [...things.range({ start: ["x"], end: ["x", "~"] })].length;
      a.store.table("counts").put("seen", seen);
      return seen;
    });
    proxy.pause();
    await put(b, ["x", "other"]);
    proxy.resume();
    await first;
    expect(await counting).toBe(2);
    expect(b.store.table("counts").get("seen")).toBe(2);
  });

  test("an act's rows of its own cell are stored with its shared ones, though its entry was trimmed", async () => {
    const both = (n: number) =>
      a.store.act(() => {
        a.store.table("things").put("shared", n);
        a.store.table("local.things").put("own", n);
      });
    await both(1);
    proxy.cutAfter("acts");
    const second = both(2);
    await until("the reply is cut off", proxy.cuts, equals(1));
    proxy.refuse(true);
    await put(b, "other");
    await bench.link.call("XTRIM", "{weir}:stream", "MAXLEN", 0);
    proxy.refuse(false);
    await second;
    expect(a.store.table("local.things").get("own")).toBe(2);
    expect(b.store.table("local.things").get("own")).toBeUndefined();
  });

  test("the oldest changes leave the stream once those after them have 256 MiB", async () => {
    const { link } = bench;
    const megabyte = "x".repeat(1024 * 1024);
    const marks = async () => Number(await link.call("LLEN", "{weir}:marks"));
    const versions = async () =>
      ((await link.call("XRANGE", "{weir}:stream", "-", "+")) as [Buffer, Buffer[]][]).map(([id]) =>
        Number.parseInt(String(id), 10),
      );
    for (let n = 0; n < 5; n++) await put(a, "small", n);
    const [kept = 0, newest = 0] = (await versions()).slice(-2);
    await put(a, "large", megabyte);
    expect(await marks()).toBe(1);
    await put(a, "large", megabyte.repeat(3));
    expect(await marks()).toBe(4);
    // As if 252 MiB had come before these: in all but one of them with the second newest of the small acts.
    await link.call("LPUSH", "{weir}:marks", ...Array(251).fill(newest), kept);
    expect((await versions())[0]).toBeLessThan(kept);
    await put(a, "large", megabyte);
    expect(await marks()).toBe(256);
    expect((await versions())[0]).toBe(kept);
    await put(a, "large", megabyte);
    expect((await versions())[0]).toBe(newest);
    expect(b.store.table("things").get("large")).toBe(megabyte);
  });

  test("an act is refused after 5 s while Redis is away, and an owed one is committed when it is back", async () => {
    await bench.redis.kill();
    // Sent before the connection is known to have ended, an act may have been committed.
    await noted(() => bench.log.some((line) => line.startsWith("a: Redis cannot be reached")));
    const owed = a.store.act(() => a.store.table("things").put("owed", 1), { isOwed: true });
    const earlier = put(a, "earlier");
    earlier.catch(() => {});
    // Its 5 s are over long after those of the earlier one, also where the machine is late.
    pass(4000);
    const notOwed = put(a, "not owed");
    notOwed.catch(() => {});
    pass(1100);
    await expect(earlier).rejects.toMatchObject({ kind: "storage_unavailable", retryable: true });
    expect(await Promise.race([notOwed, turn("waits")])).toBe("waits");
    pass(4000);
    await expect(notOwed).rejects.toMatchObject({ kind: "storage_unavailable", retryable: true });
    await bench.redis.start();
    await owed;
    await b.caughtUp();
    expect(b.store.table("things").get("not owed")).toBeUndefined();
    expect(b.store.table("things").get("owed")).toBe(1);
  });

  test("an act whose reply does not come says that its outcome is not known", async () => {
    proxy.dropReplies(true);
    const sent = put(a, "sent");
    await noted(() => [...b.store.table("things").range()].length === 1);
    aheadMs += 11_000;
    await expect(sent).rejects.toMatchObject({ retryable: false, details: { outcome: "unknown" } });
    proxy.dropReplies(false);
    await a.caughtUp();
    expect(b.store.table("things").get("sent")).toBe(1);
  });

  test("acts are refused while Redis has no memory, which the log says once, and go on when it has", async () => {
    await bench.link.call("CONFIG", "SET", "maxmemory", 1);
    const full = put(a, "full");
    await noted(() => bench.log.some((line) => line.startsWith("a:") && line.includes("OOM")));
    aheadMs += 6000;
    await expect(full).rejects.toMatchObject({ kind: "storage_unavailable", retryable: true });
    await bench.link.call("CONFIG", "SET", "maxmemory", 0);
    await a.caughtUp();
    await noted(() => a.store.healthy());
    await put(a, "again");
    expect(bench.log.filter((line) => line.startsWith("a:") && line.includes("OOM"))).toHaveLength(1);
    expect(b.store.table("things").get("full")).toBeUndefined();
  });

  test("a cell that stood still is not current until it has caught up", async () => {
    expect(a.store.healthy()).toBe(true);
    aheadMs += 600;
    expect(a.store.healthy()).toBe(false);
    await noted(() => a.store.healthy());
    proxy.pause();
    aheadMs += 600;
    expect(a.store.healthy()).toBe(false);
    await put(b, "meanwhile");
    expect(a.store.healthy()).toBe(false);
    proxy.resume();
    await noted(() => a.store.healthy());
    expect(a.store.table("things").get("meanwhile")).toBe(1);
  });

  test("acts of a cell that stood still wait until it has caught up, and are refused where that takes long", async () => {
    aheadMs += 600;
    const soon = Promise.all([put(a, "one"), put(a, "two")]);
    expect(a.store.healthy()).toBe(false);
    await soon;
    expect(b.store.table("things").get("two")).toBe(1);
    proxy.pause();
    aheadMs += 600;
    await expect(put(a, "late")).rejects.toMatchObject({ kind: "storage_unavailable", retryable: true });
    proxy.resume();
    await noted(() => a.store.healthy());
    expect(a.store.table("things").get("late")).toBeUndefined();
  });

  test("a row of 5 MB is stored, and an act of too many rows is refused for good", async () => {
    await put(a, "large", "x".repeat(5 * 1024 * 1024));
    await b.caughtUp();
    expect(b.store.table<string>("things").get("large")).toHaveLength(5 * 1024 * 1024);
    const rows = (count: number) =>
      a.store.act(() => {
        for (let i = 0; i < count; i++) a.store.table("things").put(`key ${i}`, i);
      });
    await rows(20_000);
    await b.caughtUp();
    const found = Array.from(b.store.table("things").range({ start: "key" }), ({ key, value }) => [
      key,
      value,
    ]);
    expect(new Map(found as [string, number][]).get("key 19999")).toBe(19_999);
    expect(found.filter(([key]) => String(key).startsWith("key "))).toHaveLength(20_000);
    await expect(rows(20_001)).rejects.toMatchObject({ kind: "payload_too_large", retryable: false });
  });

  test("very many acts at once are all committed", async () => {
    const all = amount(10_000, 1500);
    // Owed: others are refused after 5 s, which all of them may take on a late machine.
    const things = a.store.table("things");
    const owed = (n: number) => a.store.act(() => things.put(`key ${n}`, n), { isOwed: true });
    await Promise.all(Array.from({ length: all }, (_, n) => owed(n)));
    await b.caughtUp();
    expect([...b.store.table("things").range()]).toHaveLength(all);
  });
});
