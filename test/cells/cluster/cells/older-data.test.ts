/** Redis comes back with older data, without replicas: a cell whose confirmed charges are not in them ends, and nothing is granted. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { missingRedis } from "../../../support/redis-server.ts";
import { equals, until } from "../../../support/wait.ts";
import {
  type CreditCell,
  charge,
  HeardLedger,
  holdOf,
  openCreditCell,
  post,
  settled,
} from "./credit/credit-fixtures.ts";
import { type Bench, openBench } from "./fixtures.ts";
import { restoreRedis, saveRedis } from "./redis-copy.ts";

const missing = missingRedis();
const PAID = 10_000;

describe.skipIf(missing !== undefined)(`older data${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let ledger: HeardLedger;
  const open = (name: string) => openCreditCell(bench, name, ledger, { idleMs: 50, waitMs: 300 });
  beforeEach(async () => {
    ledger = new HeardLedger();
    bench = await openBench();
  });
  afterEach(async () => await bench.close());

  const spend = async (cell: CreditCell, amount: number) =>
    await charge(cell, await holdOf(cell, "org", amount), amount);
  const granted = async (cell: CreditCell, amount: number) => {
    const hold = await Promise.resolve(cell.purse.hold("org", amount)).catch(() => undefined);
    if (hold !== undefined) cell.purse.release(hold);
    return hold !== undefined;
  };

  test("end a cell whose confirmed charges they lack; nobody is granted them again, and none is made twice", async () => {
    const [cell, other] = [await open("cell"), await open("other")];
    await post(other, "org", PAID);
    await spend(cell, 100);
    await settled(bench, ledger, "org");
    const older = saveRedis(bench.redis);
    await spend(cell, 6000);
    await settled(bench, ledger, "org");
    const newer = saveRedis(bench.redis);

    await restoreRedis(bench.redis, older);
    await until(
      "the cell has ended for what Redis lacks",
      () => cell.ended()?.message,
      equals("Redis has this cell's charges up to row 1, but had confirmed them to 2"),
    );
    await expect(Promise.resolve(cell.purse.hold("org", 1))).rejects.toMatchObject({ status: 503 });
    for (let tries = 0; tries < 3; tries++) expect(await granted(other, PAID - 100)).toBe(false);
    await cell.stop().catch(() => {});
    await expect(open("cell")).rejects.toThrow("up to row 1, but had confirmed them to 2");
    for (const left of bench.opened()) if (left.name === "cell") await left.stop().catch(() => {});

    await restoreRedis(bench.redis, newer);
    const again = await open("cell");
    await until("the other cell is granted the rest", () => granted(other, PAID - 6100));
    expect(await granted(again, PAID - 6100 + 1)).toBe(false);
    await spend(again, 900);
    await settled(bench, ledger, "org");
    expect(ledger.of("org").map((row) => row.amountMicroUsd)).toEqual([100, 6000, 900]);
    expect([...ledger.requests.values()]).toEqual([1, 1, 1]);
    for (const each of [again, other]) await each.stop();
  });
});
