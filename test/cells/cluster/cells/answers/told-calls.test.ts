/** What a cell told of its calls, behind a failover of Redis to a replica that had not heard the latest. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openToldCalls } from "../../../../../src/cluster/cells/answers/told-calls.ts";
import { registeredCells } from "../../../../../src/cluster/cells/membership/registry.ts";
import { equals, until } from "../../../../support/wait.ts";
import { type Bench, openBench } from "../fixtures.ts";
import { restoreRedis, saveRedis } from "../redis-copy.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

const call = (id: string) => ({ id, orgId: "o" });
const FORMER = "{weir}:calls:a:0";

test("calls that were taken back stay so, and those of former lives do not stay for ever", async () => {
  const cell = await bench.cell("a", { hasParts: true });
  const told = openToldCalls(cell);
  told.start();
  await cell.opened();
  await told.idle();
  const isTold = async (id: string) => (await cell.toldCall(id)) !== undefined;
  await bench.link.call("SADD", "{weir}:calls", "a:0");
  await bench.link.call("HSET", FORMER, "old", "{}");
  for (const id of ["runs", "over"]) told.tell(call(id));
  await told.idle();
  expect([await isTold("runs"), await isTold("over")]).toEqual([true, true]);
  const copy = saveRedis(bench.redis);
  told.takeBack(call("over"));
  told.tell(call("later"));
  await told.idle();
  expect([await isTold("over"), await isTold("later")]).toEqual([false, true]);
  await restoreRedis(bench.redis, copy);
  await until("the latest is told again", () => isTold("later").catch(() => false), equals(true));
  await told.idle();
  expect([await isTold("runs"), await isTold("over")]).toEqual([true, false]);
  expect(Number(await bench.link.call("PTTL", FORMER))).toBeGreaterThan(0);
  await cell.stop();
});

test("a failover while a cell stops leaves no call that the others take for one that is nowhere", async () => {
  const cell = await bench.cell("b", { hasParts: true });
  const told = openToldCalls(cell);
  told.start();
  await cell.opened();
  await told.idle();
  const copy = saveRedis(bench.redis);
  told.tell(call("lost"));
  await told.idle();
  await bench.redis.kill();
  // Redis is away for longer than a stop waits.
  await told.stop(0);
  await restoreRedis(bench.redis, copy);
  const other = await bench.cell("c");
  const standing = async () =>
    (await registeredCells(bench.link, bench.id)).cells.find(({ cell }) => cell === "b");
  await until("the cell is in the new term", () => cell.term() === other.term());
  await cell.stop();
  const { status, hasToldCalls } = (await standing()) ?? expect.fail("it is registered");
  expect(status).toBe("left");
  const isTold = (await other.toldCall("lost")) !== undefined;
  expect(hasToldCalls && !isTold).toBe(false);
});
