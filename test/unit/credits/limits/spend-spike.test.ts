/** The alert of a day on which an org spends more than usual: once a day, and only where something is usual. */

import { afterEach, beforeEach, expect, test } from "vitest";
import { DAY_MS } from "../../../../src/base/time.ts";
import { budgetEvents } from "../../../../src/credits/budgets/budget-events.ts";
import { type LocalBudgets, openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";
import { type TestTrail, trailOn } from "../../../support/trail.fixtures.ts";

const SCOPE = { keyId: "key_1", projectId: "prj_1", orgId: "org_1", timeZone: "Asia/Kolkata" };

let disk: ReturnType<typeof tempStore>;
let clock: ManualClock;
let trail: TestTrail;
let told: ReturnType<typeof budgetEvents>;
let budgets: LocalBudgets;
let failures: unknown[];

function open() {
  const { store } = disk;
  trail = trailOn(store, clock);
  told = budgetEvents({ store, clock, events: trail.events, onFailure: (error) => failures.push(error) });
  budgets = openBudgets({ store, clock, putExceeded: told.put, putSpike: told.putSpike });
}
const close = () => [told, trail].forEach((room) => void room.close());
beforeEach(() => {
  disk = tempStore();
  failures = [];
  // Eight in the evening, local.
  clock = new ManualClock("2026-02-27T14:30:00Z");
  open();
});
afterEach(async () => {
  close();
  await disk.dispose();
});

async function spend(microUsd: number, alertPct: number | null = 50): Promise<void> {
  const hold = budgets.hold({ ...SCOPE, spikeAlertPct: alertPct ?? undefined }, microUsd);
  if (hold.admitted) await disk.store.act(budgets.charging(hold, microUsd));
}
/** One day each; 0 is a day without a call. */
async function days(...amounts: number[]) {
  for (const microUsd of amounts) {
    if (microUsd > 0) await spend(microUsd);
    clock.advance(DAY_MS);
  }
}
const spikes = () => trail.eventsOf("org_1").map(({ type, data }) => ({ type, ...(data as object) }));

test("it is told when the day exceeds the mean of the days with spend, over the end of a month too, and once", async () => {
  await days(80, 0, 100, 0, 120);
  await spend(150);
  expect(spikes()).toEqual([]);
  await spend(1);
  await spend(500);
  expect(spikes()).toEqual([
    { type: "spend.spike", day: "2026-03-04", spent_micro: 151, usual_micro: 100, spike_alert_pct: 50 },
  ]);
  clock.advance(DAY_MS);
  // Yesterday's 651 is usual now: 237.75 a day.
  await spend(356);
  expect(spikes()).toHaveLength(1);
  await spend(2);
  expect(spikes()).toHaveLength(2);
});

test("with fewer than three days of spend among the last seven nothing is usual", async () => {
  await days(100, 100, 0, 0, 0, 0, 0, 100);
  await spend(10_000);
  expect(spikes()).toEqual([]);
});

test("days before the last seven do not count", async () => {
  await days(9_000, 9_000, 9_000, 100, 100, 100, 0, 0, 0, 0);
  await spend(151);
  expect(spikes()).toMatchObject([{ usual_micro: 100 }]);
});

test("without the setting nothing is told; set in the midst of the day it is told with the next call", async () => {
  await days(100, 100, 100);
  await spend(500, null);
  expect(spikes()).toEqual([]);
  await spend(1);
  expect(spikes()).toMatchObject([{ spent_micro: 501 }]);
});

test("a restart does not tell of the same day again", async () => {
  await days(100, 100, 100);
  await spend(500);
  close();
  await disk.reopen();
  open();
  await spend(500);
  expect(spikes()).toHaveLength(1);
});

test("T35: a charge that is rolled back tells nothing; run again it does", async () => {
  await days(100, 100, 100);
  const hold = budgets.hold({ ...SCOPE, spikeAlertPct: 50 }, 500);
  if (!hold.admitted) throw new Error("refused");
  const charge = budgets.charging(hold, 500);
  const dropped = disk.store.act(() => {
    charge();
    throw new Error("dropped");
  });
  await expect(dropped).rejects.toThrow("dropped");
  expect(spikes()).toEqual([]);
  await disk.store.act(() => charge());
  expect(spikes()).toHaveLength(1);
});

test("a listener that throws is reported, and the charge counts", async () => {
  trail.events.listen(() => {
    throw new Error("the listener is broken");
  });
  await days(100, 100, 100);
  await spend(500);
  expect(failures).toContainEqual(new Error("the listener is broken"));
  expect(budgets.spendOfOrg(SCOPE).todayMicroUsd).toBe(500);
});
