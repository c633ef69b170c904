/** Credit that a cell holds idle, and does not give back because it is away, or that another gave back a moment ago. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../../../src/base/clock.ts";
import { Charges, type ChargesStore } from "../../../../../src/cluster/cells/leases/charges.ts";
import type { ActCredit } from "../../../../../src/cluster/cells/replica/act-credit.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { until } from "../../../../support/wait.ts";
import { type Bench, openBench } from "../fixtures.ts";
import { HeardLedger, holdOf, openCreditCell, post } from "./credit-fixtures.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)(`idle credit${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  const ledger = new HeardLedger();
  beforeAll(async () => {
    bench = await openBench();
  });
  afterAll(() => bench.close());

  test("an act that takes all that nobody holds takes what a dead cell has not leased, and blocks no other act", async () => {
    const [cell, dead] = [await openCreditCell(bench, "b", ledger), await bench.cell("dead")];
    await post(cell, "org", 1000);
    await dead.lane("credit").send([["credit", 0, 0, "", ["org", 0, 0, 0, 100, -1], []]]);
    await dead.stop();
    // As the expiry of a plan's credit does.
    const expiring = cell.store.act(
      () => {
        const credit = cell.store.creditInAct() as ActCredit;
        const { balanceMicroUsd, heldMicroUsd } = credit.of("org");
        credit.post("org", heldMicroUsd - balanceMicroUsd, false);
        return balanceMicroUsd - heldMicroUsd;
      },
      { isOwed: true },
    );
    const others = Array.from({ length: 20 }, (_, n) =>
      cell.store.act(() => cell.store.table("things").put("n", n)),
    );
    await Promise.all(others);
    expect(await expiring).toBe(900);
    await cell.stop();
  });

  test("a cell without calls of an org is told what it has, and leases and holds nothing for that", async () => {
    const cell = await openCreditCell(bench, "asker", ledger);
    await post(cell, "org_told", 1000);
    expect(cell.purse.available("org_told")).toBe(0);
    const told = cell.purse.askAvailable("org_told");
    expect(told).toBeInstanceOf(Promise);
    expect(await told).toBe(1000);
    expect([cell.purse.open().holds, cell.purse.leased().microUsd]).toEqual([0, 0]);
    // Known from then on.
    expect(cell.purse.askAvailable("org_told")).toBe(1000);
    expect(await cell.purse.askAvailable("org_without_credit")).toBe(0);
    await cell.stop();
  });

  test("a call that ends without a charge frees the last credit at once for other cells", async () => {
    // Its clock stands still: nothing is told again because time has passed.
    const clock = { now: () => systemClock.now(), monotonic: () => 5 };
    const [holder, other] = [
      await openCreditCell(bench, "holder", ledger, { clock }),
      await openCreditCell(bench, "other", ledger),
    ];
    await post(other, "org_tight", 100);
    const hold = await holdOf(holder, "org_tight", 100);
    expect(await other.purse.hold("org_tight", 100)).toBeUndefined();
    holder.purse.release(hold);
    await until(
      "the other cell can hold credit",
      () => other.purse.hold("org_tight", 100),
      (seen) => seen !== undefined,
    );
  });

  test("a charge goes to Redis once a power failure does not lose it, nor the answer before it", async () => {
    const cell = await bench.cell("power");
    let synced = 0;
    const store: ChargesStore = {
      act: (act, options) => cell.store.act(act, options),
      log: (name) => cell.store.log(name),
      ifDropped: (undo, a, b, c, d) => cell.store.ifDropped(undo, a, b, c, d),
      async synced() {
        synced++;
      },
    };
    const charges = new Charges(store, cell.entered.life, {
      onNumbered: () => new Promise(() => {}),
      onUncharged() {},
    });
    const add = (n: number) =>
      cell.store.act(() =>
        charges.add({ orgId: "org_power", requestId: `req_${n}`, atMs: n, amountMicroUsd: 1 }),
      );
    await add(1);
    expect(charges.batchAfter(0)).toBeUndefined();
    await charges.secure();
    await add(2);
    expect(charges.batchAfter(0)).toMatchObject({ after: 0, last: 1 });
    await charges.keep(0, 1, ["org_power", 1, 100]);
    await charges.secure();
    expect(charges.batchAfter(1)).toMatchObject({ after: 1, last: 2 });
    await charges.keep(1, 2, ["org_power", 2, 99]);
    await add(3);
    expect([charges.batchAfter(2), synced]).toEqual([undefined, 2]);
  });
});
