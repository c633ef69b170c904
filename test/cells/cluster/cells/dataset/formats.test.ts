/** Releases beside each other: cells write what each of them reads, and one that meets more than that drains. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Session, TERM_LANE } from "../../../../../src/cluster/cells/exchange/exchange.ts";
import { retire } from "../../../../../src/cluster/cells/membership/registry.ts";
import { readEntry } from "../../../../../src/cluster/cells/replica/replica.ts";
import { startFaultProxy } from "../../../../support/cells/fault-proxy.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { type Bench, isShared, openBench } from "../fixtures.ts";
import { EARLIER, earlier, formatIn, LATER, later, outdatedCell, put } from "./formats-rig.ts";

const missing = missingRedis();
describe.skipIf(missing !== undefined)(`releases${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await openBench();
  });
  afterEach(async () => await bench.close());

  const formatsOfEntries = async () =>
    ((await bench.link.call("XRANGE", "{weir}:stream", "-", "+")) as [Buffer, Buffer[]][])
      .map(readEntry)
      .map(({ format }) => format);

  test("a rolling upgrade: all write the earlier format until every cell reads the later one", async () => {
    const a = await bench.cell("a", EARLIER);
    const b = await bench.cell("b", EARLIER);
    await a.stop();
    const a2 = await bench.cell("a", LATER);
    await put(a2, "one");
    expect(earlier(b).get("one")).toBe(3);
    expect(later(a2).get("one")).toEqual({ size: 3, color: "unknown" });
    await b.store.act(() => earlier(b).put("by b", 7));
    expect(later(a2).get("by b")).toEqual({ size: 7, color: "unknown" });
    expect(await formatIn(a2)).toBe(1);
    await b.stop();
    expect(await formatIn(a2)).toBe(2);
    await a2.caughtUp();
    await put(a2, "three");
    expect(await formatsOfEntries()).toEqual([1, 1, 2]);
    await expect(bench.cell("b", EARLIER)).rejects.toThrow(/WEIRFORMAT.*format 2.*reads up to 1/);
    const b2 = await bench.cell("b", LATER);
    const keys = ["one", "by b", "three"];
    expect(keys.map((key) => later(b2).get(key))).toEqual(keys.map((key) => later(a2).get(key)));
    expect(later(b2).get("three")).toEqual({ size: 5, color: "red" });
  });

  test("a cell that was killed is counted until it is back or retired", async () => {
    const killed = new Session({
      link: bench.link,
      datasetId: bench.id,
      cell: "b",
      ...EARLIER,
      onEnd() {},
      onTerm: async (session) => void (await session.lane(TERM_LANE).send([["restate", 0, ""]])),
    });
    await killed.start();
    const a = await bench.cell("a", LATER);
    expect(await formatIn(a)).toBe(1);
    expect(await retire(bench.link, bench.id, "b", 0)).toBe(true);
    expect(await formatIn(a)).toBe(2);
  });

  test.each([
    ["nothing", []],
    ["a lease", ["org"]],
  ])("a cell that left with %s is not counted, although the reply to that was lost", async (_, leased) => {
    const proxy = await startFaultProxy(bench.redis.url);
    const b = await bench.cell("b", { ...EARLIER, url: proxy.url });
    for (const org of leased) await bench.link.call("SADD", "{weir}:leases:b", org);
    const a = await bench.cell("a", LATER);
    expect(await formatIn(a)).toBe(1);
    proxy.cutAfter("leave");
    await b.stop();
    expect(proxy.cuts()).toBe(1);
    expect(await formatIn(a)).toBe(2);
    await proxy.close();
  });

  test("a cell that meets rows of a later release admits nothing, and ends in good order", async () => {
    const { old, fresh } = await outdatedCell(bench);
    expect(old.store.healthy()).toBe(false);
    expect(old.ended()).toBeUndefined();
    expect([earlier(old).get("one"), earlier(old).get("two")]).toEqual([3, undefined]);
    await expect(old.store.act(() => earlier(old).put("late", 1))).rejects.toMatchObject({
      kind: "storage_unavailable",
    });
    // What its calls charge still goes out, and its own tables are written.
    await old.store.act(() => old.store.table("local.things").put("own", 1), { isOwed: true });
    expect(await old.lane("credit").send([["leave"]])).toEqual([[0]]);
    // Within what time: test/timed/cluster/cells/patience.test.ts.
    await old.stop();
    await put(fresh, "three");
  });

  test("a release that does not write the format of the others does not start", async () => {
    await bench.cell("a", EARLIER);
    const much = { formats: { oldest: 2, newest: 3 } };
    await expect(bench.cell("b", much)).rejects.toThrow(/WEIRFORMAT.*need format 1.*writes from 2 on/);
  });

  test("rows of a table that only a later release knows are followed, and loaded anew", async () => {
    const knows = (table: string) => {
      if (table.startsWith("new.")) throw new Error(`table ${table} has no class`);
      return isShared(table);
    };
    const [old, fresh] = [await bench.cell("old", { isShared: knows }), await bench.cell("fresh")];
    const act = (value: number) =>
      fresh.store.act(() => fresh.store.table("new.things").put(`k${value}`, value));
    await act(1);
    expect([...old.local.table("new.things").range()]).toHaveLength(1);
    await old.stop();
    await act(2);
    await fresh.store.act(() => fresh.store.table("new.things").remove("k1"));
    await bench.link.call("XTRIM", "{weir}:stream", "MAXLEN", 0);
    const back = await bench.cell("old", { isShared: knows });
    expect([...back.local.table("new.things").range()]).toEqual([{ key: "k2", value: 2 }]);
  });
});
