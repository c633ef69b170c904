/** Redis comes back without what it had confirmed: nobody is granted what another cell has spent. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Clock, systemClock } from "../../../../../src/base/clock.ts";
import type { Operation } from "../../../../../src/cluster/cells/exchange/exchange.ts";
import { lackIn } from "../../../../../src/cluster/cells/leases/recovery.ts";
import { retire } from "../../../../../src/cluster/cells/membership/registry.ts";
import type { ActCredit } from "../../../../../src/cluster/cells/replica/act-credit.ts";
import { startFaultProxy } from "../../../../support/cells/fault-proxy.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import { restoreRedis, saveRedis } from "../redis-copy.ts";
import {
  type CreditBench,
  type CreditCell,
  charge,
  holdOf,
  openCreditBench,
  post,
} from "./credit-fixtures.ts";

const missing = missingRedis();
const ORG = "org";
const PAID = 100;
const LACKING = "Redis has this cell's charges up to row 0, but had confirmed them to 1";

describe.skipIf(missing !== undefined)(`an older Redis${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: CreditBench;
  const open = (name: string) => bench.open(name);
  beforeEach(async () => {
    bench = await openCreditBench({ idleMs: 200, waitMs: 500 });
  });
  afterEach(async () => await bench.close());

  const waitedFor = async () =>
    ((await bench.link.call("SMEMBERS", "{weir}:restating")) as Buffer[]).map(String);
  const isBack = async (cell: CreditCell) => {
    await cell.caughtUp();
    await bench.link.ready(5000);
  };

  /** A cell that has spent all of it, another one, and what Redis had before. */
  async function spent() {
    const [cell, other] = [await open("spent"), await open("other")];
    await post(other, ORG, PAID);
    const copy = saveRedis(bench.redis);
    await charge(cell, await holdOf(cell, ORG, PAID), PAID);
    // It forgets the org: no lease says any more that something was spent.
    await bench.settled(ORG);
    await until("no purse is kept", () => cell.purse.lane.size, equals(0));
    return { cell, other, copy };
  }

  async function end(cell: CreditCell): Promise<void> {
    await cell.purse.close().catch(() => {});
    for (const opened of bench.opened()) if (opened.name === cell.name) await opened.stop();
  }

  test("ends the cell whose confirmed charges it lacks, and no lease grows before Redis has them again", async () => {
    const { cell, other, copy } = await spent();
    const newest = saveRedis(bench.redis);
    await restoreRedis(bench.redis, copy);
    await isBack(other);
    await until("the cell has ended for what Redis lacks", () => cell.ended()?.message, equals(LACKING));
    expect(await waitedFor()).toEqual(["spent"]);
    expect(await bench.creditOf(ORG)).toMatchObject({ b: PAID, n: 1 });
    await expect(other.purse.hold(ORG, PAID)).rejects.toMatchObject({ kind: "storage_unavailable" });
    await end(cell);
    await expect(open("spent")).rejects.toThrow(LACKING);
    await end(cell);
    expect(await waitedFor()).toEqual(["spent"]);
    await restoreRedis(bench.redis, newest);
    await isBack(other);
    const again = await open("spent");
    expect(await waitedFor()).toEqual([]);
    expect(await other.purse.hold(ORG, 1)).toBeUndefined();
    expect(bench.ledger.of(ORG).map(({ seq }) => seq)).toEqual([2]);
    for (const opened of [again, other]) await opened.stop();
  });

  test("lets leases grow again once that cell is retired: what it had charged is lost", async () => {
    const { cell, other, copy } = await spent();
    await restoreRedis(bench.redis, copy);
    await isBack(other);
    await until("the cell has ended for what Redis lacks", () => cell.ended()?.message, equals(LACKING));
    await end(cell);
    expect(await retire(bench.link, bench.id, "spent", 0)).toBe(true);
    expect(await waitedFor()).toEqual([]);
    other.purse.release(await holdOf(other, ORG, PAID));
    await other.stop();
  });

  test("pays nothing back of what a cell may hold that is not heard of, and holds no other act up", async () => {
    let aheadMs = 0;
    const clock: Clock = {
      now: () => systemClock.now() + aheadMs,
      monotonic: () => systemClock.monotonic() + aheadMs,
    };
    const proxy = await startFaultProxy(bench.redis.url);
    const other = await bench.open("other", { waitMs: 1000, clock });
    const cell = await bench.open("holding", { waitMs: 1000, url: proxy.url });
    await post(other, ORG, PAID);
    const copy = saveRedis(bench.redis);
    const hold = await holdOf(cell, ORG, PAID);
    proxy.refuse(true);
    await restoreRedis(bench.redis, copy);
    await isBack(other);
    expect(await waitedFor()).toEqual(["holding"]);
    let isAnswered = false;
    const refund = post(other, ORG, -PAID).finally(() => {
      isAnswered = true;
    });
    const refused = expect(refund).rejects.toMatchObject({ kind: "storage_unavailable", status: 503 });
    const owed = other.store.act(() => (other.store.creditInAct() as ActCredit).post(ORG, -PAID / 2, false), {
      isOwed: true,
    });
    await other.store.act(() => other.store.table("things").put("beside", 1));
    expect(await post(other, ORG, 10)).toMatchObject({ outcome: "posted", balance: PAID + 10 });
    expect(await post(other, ORG, -20, true)).toMatchObject({ outcome: "posted", balance: PAID - 10 });
    expect(isAnswered).toBe(false);
    aheadMs += 5000;
    await refused;
    expect(await bench.creditOf(ORG)).toMatchObject({ b: PAID - 10, n: 3 });
    proxy.refuse(false);
    await charge(cell, hold, PAID / 4);
    await owed;
    expect(await bench.creditOf(ORG)).toMatchObject({ b: PAID / 4 - 10, n: 5 });
    for (const opened of [cell, other]) await opened.stop();
    await proxy.close();
  });

  test("is found out by a cell that opens its last part, too", async () => {
    const cell = await bench.cell("opening", { hasParts: true });
    const operations = (): Operation[] => [["credit_restate", 1, []]];
    cell.restates({ operations, lacking: ([restated]) => lackIn(restated), isSettled: () => true });
    await expect(cell.opened()).rejects.toThrow(LACKING);
    expect(cell.ended()?.message).toBe(LACKING);
    expect(await waitedFor()).toEqual(["opening"]);
    // It takes its leave only as what it is.
    await cell.stop();
    expect(await waitedFor()).toEqual(["opening"]);
  });
});
