/** How news of a balance becomes a job, the sweep that finds what was lost, and clocks that were ahead. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withoutFuture } from "../../../../src/billing/auto-topups/auto-topup.ts";
import { autoTopupSweeper } from "../../../../src/billing/auto-topups/watch.ts";
import { AutoTopupWorld, DAY, HOUR } from "../auto-topup.fixtures.ts";
import { someOrg } from "../fixtures.ts";

let world: AutoTopupWorld;
beforeEach(async () => {
  world = await new AutoTopupWorld().start();
});
afterEach(() => world.dispose());

/** With 20 dollars of credit, topped up below 5. */
async function started(country: "US" | "IN", amountMinor: number): Promise<string> {
  const orgId = await world.org(someOrg(country));
  await world.mandate(orgId);
  await world.grant(orgId, 20_000_000);
  await world.put(orgId, amountMinor);
  await world.quiet();
  return orgId;
}
const statuses = (orgId: string) => world.topups(orgId).map(({ status }) => status);

test("an org is topped up also after debits under a clock that was a year ahead", async () => {
  const orgId = await started("US", 1_000);
  const trueMs = world.time.now();
  world.time.set(trueMs + 365 * DAY);
  world.gateway.confirmWith(orgId, "soft");
  await world.spend(orgId, 16_000_000);
  await world.quiet();
  expect(statuses(orgId)).toEqual(["failed"]);
  world.time.set(trueMs);
  await world.pass(26 * HOUR, HOUR);
  expect(statuses(orgId).sort()).toEqual(["failed", "paid"]);
});

test("a debit that was announced under a clock that was a year ahead is announced again, a day before it", async () => {
  const orgId = await started("IN", 100_000);
  const trueMs = world.time.now();
  world.time.set(trueMs + 365 * DAY);
  await world.spend(orgId, 16_000_000);
  await world.quiet();
  world.time.set(trueMs);
  await world.pass(2 * HOUR);
  const dues = world.eventData(orgId, "auto_topup.notified").map(({ due_at }) => Date.parse(`${due_at}`));
  expect(dues).toHaveLength(2);
  const dueMs = Math.min(...dues);
  expect(dueMs).toBeGreaterThanOrEqual(trueMs + 24 * HOUR);
  await world.pass(dueMs - world.time.now() - HOUR);
  expect(statuses(orgId)).toEqual([]);
  await world.pass(2 * HOUR);
  expect(statuses(orgId)).toEqual(["paid"]);
});

test("times that are past, and waits that may be, are left as they are", async () => {
  const orgId = await started("IN", 100_000);
  await world.spend(orgId, 16_000_000);
  await world.quiet();
  const row = world.now.autoTopups.of(orgId);
  expect(row.debit?.phase).toBe("announced");
  expect(withoutFuture(row, world.time.now())).toBe(row);
  expect(withoutFuture({ ...row, notBeforeMs: world.time.now() + DAY }, world.time.now()).debit).toBe(
    row.debit,
  );
});

test("settings that change while the org's job ends are seen all the same", async () => {
  const orgId = await started("US", 1_000);
  await world.put(orgId, 1_000, 25_000_000);
  world.now.jobs.drop = () => false;
  await world.now.store.act(() => {
    world.now.autoTopups.put({ ...world.now.autoTopups.of(orgId), thresholdMicroUsd: 25_000_000 });
  });
  await world.quiet();
  expect(statuses(orgId)).toEqual(["paid"]);
});

test("the sweep reads orgs with automatic top-ups alone, in slices, and keeps none of their accounts", async () => {
  const { autoTopups, book, store, jobs } = world.now;
  const row = { ...autoTopups.of("none"), thresholdMicroUsd: 5_000_000, amountMinor: 1_000 };
  await store.act(() => {
    for (let i = 0; i < 500; i++) autoTopups.put({ ...row, orgId: `org_${i}`, enabled: i < 220 });
  });
  await world.quiet();
  const slices: number[] = [];
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; turns++) await nextTurn();
  })();
  const loaded: string[] = [];
  const sweeper = autoTopupSweeper({
    ...world.now,
    autoTopups: Object.assign(Object.create(autoTopups), {
      of: (orgId: string) => autoTopups.of(orgId),
      liveSlice(most: number, after: string) {
        const found = autoTopups.liveSlice(most, after);
        slices.push(found.length, turns);
        return found;
      },
    }),
    book: {
      fresh: () => undefined,
      balanceOnce(orgId) {
        loaded.push(orgId);
        return book.balanceOnce(orgId);
      },
    },
    jobs,
  });
  const ended = await sweeper.run({}, { signal: new AbortController().signal } as never);
  isOver = true;
  await counting;
  const sizes = slices.filter((_, i) => i % 2 === 0);
  const at = slices.filter((_, i) => i % 2 === 1);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(220);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(50);
  expect(new Set(at).size).toBe(at.length);
  // None has a mandate, so no balance is read.
  expect(loaded).toEqual([]);
  expect(ended?.againAtMs).toBeGreaterThan(world.time.now());
});
