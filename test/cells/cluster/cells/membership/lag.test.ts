/** A cell that hears of changes and does not get them admits nothing. */
import { expect, test } from "vitest";
import { Lag } from "../../../../../src/cluster/cells/membership/lag.ts";
import { connectRedis, SOCKETS } from "../../../../../src/cluster/cells/redis/redis.ts";
import { startFaultProxy } from "../../../../support/cells/fault-proxy.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import { openBench } from "../fixtures.ts";

test("lateness is said once for each time that the cell stays behind", () => {
  let [nowMs, applied, said] = [0, 5, 0];
  const lag = new Lag({ clock: { monotonic: () => nowMs }, applied: () => applied, onLate: () => said++ });
  const heard = (version: number, atMs: number) => {
    nowMs = atMs;
    lag.heard(version);
    return said;
  };
  expect([heard(5, 0), heard(7, 5000), heard(9, 7000), heard(11, 7001), heard(11, 20_000)]).toEqual([
    0, 0, 0, 1, 1,
  ]);
  applied = 8;
  // It follows: what it lacked first has come.
  expect([heard(12, 20_001), heard(13, 22_001)]).toEqual([1, 1]);
  applied = 12;
  expect([heard(20, 24_000), heard(30, 25_999)]).toEqual([1, 1]);
  // A failover: versions that were heard of will not come.
  expect([heard(12, 26_000), heard(13, 27_000), heard(13, 29_000), heard(13, 29_001)]).toEqual([1, 1, 1, 2]);
});

test.skipIf(missingRedis() !== undefined)(
  "a cell whose connection for changes is dead is not in touch until it has them",
  async () => {
    const bench = await openBench();
    const proxy = await startFaultProxy(bench.redis.url);
    let connections = 0;
    // The second one is for changes.
    const connect: typeof connectRedis = (options) =>
      connectRedis({ ...options, url: ++connections === 2 ? proxy.url : bench.redis.url });
    const [a, b] = [await bench.cell("a"), await bench.cell("b", { client: { ...SOCKETS, connect } })];
    const put = (n: number) => a.store.act(() => a.store.table("things").put("n", n));
    await put(1);
    // A process that stood still has to catch up.
    await until("the cell is in touch", () => b.standing().isInTouch);
    proxy.dropReplies(true);
    await put(2);
    await until("the cell is out of touch", () => b.standing().isInTouch, equals(false));
    expect(b.standing()).toMatchObject({ lag: 1 });
    expect(b.store.table("things").get("n")).toBe(1);
    proxy.dropReplies(false);
    await until("the cell is in touch again", () => b.standing().isInTouch);
    expect(b.store.table("things").get("n")).toBe(2);
    await bench.close();
    await proxy.close();
  },
);
