/** Credit that falls is told of once, in the act of the entry that made it fall, and never at its cost. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { creditEvents } from "../../../../src/credits/ledger/credit-events.ts";
import { openCredits as openPurseAndBook } from "../../../../src/credits/ledger/credits.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";
import { type TestTrail, trailOn } from "../../../support/trail.fixtures.ts";

const ORG = "org_1";

let disk: ReturnType<typeof tempStore>;
let clock: ManualClock;
let trail: TestTrail;
let low: number | undefined;
let watched: number | undefined;
/** Balances that were told of as below what is watched; an act may run twice. */
let seen: Set<number>;
let failures: unknown[];
let credits: ReturnType<typeof openPurseAndBook>;
let calls = 0;

function open() {
  const { store } = disk;
  trail = trailOn(store, clock);
  const tell = creditEvents({ events: trail.events, onFailure: (error) => failures.push(error) });
  credits = openPurseAndBook({
    store,
    clock,
    bounds: { lowCredit: () => low, watchedBelow: () => watched },
    onFall(fall) {
      if (fall.isWatched) seen.add(fall.balanceMicroUsd);
      tell(fall);
    },
  });
}
beforeEach(() => {
  disk = tempStore();
  clock = new ManualClock("2026-03-01T10:00:00Z");
  low = 500;
  watched = undefined;
  seen = new Set();
  failures = [];
  open();
});
afterEach(async () => {
  trail.close();
  await disk.dispose();
});

/** A call that holds an amount and costs another; `fails`: its act is rolled back. */
async function spend(amountMicroUsd: number, { holds = 0, fails = false } = {}): Promise<void> {
  const hold = credits.purse.hold(ORG, holds);
  if (hold === undefined) throw new Error("refused");
  const act = () => {
    credits.purse.settle(hold, { requestId: `R${calls++}`, amountMicroUsd, atMs: clock.now() });
    if (fails) throw new Error("dropped");
  };
  if (!fails) return await disk.store.act(act);
  await expect(disk.store.act(act)).rejects.toThrow("dropped");
  credits.purse.release(hold);
}
const post = (kind: "grant" | "refund", amountMicroUsd: number) =>
  disk.store.act(() => {
    const refId = `${kind}_${calls++}`;
    return credits.book.post(ORG, { kind, amountMicroUsd, refType: "test", refId });
  });
/** Oldest first: type and balance. */
const told = () =>
  trail
    .eventsOf(ORG)
    .map(({ type, data }) => [type, (data as { balance_micro_usd: number }).balance_micro_usd])
    .reverse();

test("credits.low comes when the balance falls below the threshold, once until it has risen again", async () => {
  await post("grant", 1_000);
  await spend(500);
  expect(told()).toEqual([]);
  await spend(1);
  await spend(100);
  expect(told()).toEqual([["credits.low", 499]]);
  expect(trail.eventsOf(ORG)[0]?.data).toEqual({ balance_micro_usd: 499, credits_low_micro: 500 });
  // Not yet above.
  await post("grant", 50);
  await spend(10);
  expect(told()).toHaveLength(1);
  await post("grant", 500);
  await spend(500);
  expect(told()).toEqual([
    ["credits.low", 499],
    ["credits.low", 439],
  ]);
});

test("what is watched is told of at each entry below it, and not at it; the org's own threshold goes its own way", async () => {
  await post("grant", 1_000);
  await spend(600);
  expect(seen.size).toBe(0);
  watched = 390;
  credits.boundsChanged(ORG);
  await spend(10);
  await spend(1);
  await spend(1);
  expect([...seen]).toEqual([389, 388]);
  expect(told()).toEqual([["credits.low", 400]]);
  watched = undefined;
  credits.boundsChanged(ORG);
  await spend(1);
  expect(seen.size).toBe(2);
});

test("a balance that is read once is the right one, with and without its account in memory", async () => {
  await post("grant", 1_000);
  await spend(250);
  expect([credits.book.balanceOnce(ORG), credits.book.balanceOnce("org_other")]).toEqual([750, 0]);
  const reopened = openPurseAndBook({ store: disk.store, clock });
  expect(reopened.book.balanceOnce(ORG)).toBe(750);
});

test("a refund makes it fall as a call does", async () => {
  await post("grant", 1_000);
  await post("refund", -600);
  expect(told()).toEqual([["credits.low", 400]]);
});

test("what is held for calls under way does not count: it mostly comes back", async () => {
  await post("grant", 1_000);
  const large = credits.purse.hold(ORG, 900);
  if (large === undefined) throw new Error("refused");
  await spend(10);
  credits.purse.release(large);
  expect(told()).toEqual([]);
});

test("credits.negative comes when a call cost more than was there, with or without a threshold", async () => {
  await post("grant", 1_000);
  const underWay = credits.purse.hold(ORG, 50);
  if (underWay === undefined) throw new Error("refused");
  await spend(1_001, { holds: 900 });
  const charge = { requestId: "late", amountMicroUsd: 5, atMs: clock.now() };
  await disk.store.act(() => credits.purse.settle(underWay, charge));
  expect(told()).toEqual([
    ["credits.low", -1],
    ["credits.negative", -1],
  ]);
  low = undefined;
  credits.boundsChanged(ORG);
  await post("grant", 1_000);
  await spend(995);
  expect(told()).toHaveLength(3);
  expect(told()[2]).toEqual(["credits.negative", -1]);
});

test("without a threshold nothing is low; a changed one holds from the next entry on", async () => {
  low = undefined;
  credits.boundsChanged(ORG);
  await post("grant", 1_000);
  await spend(900);
  expect(told()).toEqual([]);
  low = 50;
  credits.boundsChanged(ORG);
  await spend(51);
  expect(told()).toEqual([["credits.low", 49]]);
});

test("T35: an act that is rolled back tells nothing; a restart does not tell again", async () => {
  await post("grant", 1_000);
  await spend(600, { fails: true });
  expect(told()).toEqual([]);
  await spend(600);
  trail.close();
  await disk.reopen();
  open();
  await spend(10);
  expect(told()).toEqual([["credits.low", 400]]);
});

test("a listener that throws is reported, and the call is charged", async () => {
  trail.events.listen(() => {
    throw new Error("the listener is broken");
  });
  await post("grant", 1_000);
  await spend(1_001);
  expect(failures).toContainEqual(new Error("the listener is broken"));
  expect(credits.book.balance(ORG).balanceMicroUsd).toBe(-1);
});
