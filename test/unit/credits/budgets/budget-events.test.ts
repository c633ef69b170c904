/** The event of a budget that is used up: once a period, and never at the cost of the charge that used it up. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BudgetExceeded } from "../../../../src/credits/budgets/budget.ts";
import { budgetEvents } from "../../../../src/credits/budgets/budget-events.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";
import { type TestTrail, trailOn } from "../../../support/trail.fixtures.ts";

let disk: ReturnType<typeof tempStore>;
let clock: ManualClock;
let trail: TestTrail;
let failures: unknown[];
let told: ReturnType<typeof budgetEvents>;
beforeEach(() => {
  disk = tempStore();
  clock = new ManualClock("2026-09-09T12:00:00.000Z");
  trail = trailOn(disk.store, clock);
  failures = [];
  told = budgetEvents({
    store: disk.store,
    clock,
    events: trail.events,
    onFailure: (error) => failures.push(error),
  });
});
afterEach(async () => {
  told.close();
  trail.close();
  await disk.dispose();
});

const exceeded: BudgetExceeded = {
  budget: "key_daily",
  keyId: "key_1",
  projectId: "prj_1",
  orgId: "org_1",
  hard: false,
  limitMicroUsd: 10,
  spentMicroUsd: 12,
  resetsAtMs: Date.parse("2026-09-10T00:00:00.000Z"),
};
const put = (event = exceeded) => disk.store.act(() => told.put(event));

test("is put once in each period of each budget", async () => {
  await put();
  await put();
  await put({ ...exceeded, keyId: "key_2" });
  await put({ ...exceeded, resetsAtMs: Date.parse("2026-09-11T00:00:00.000Z") });
  expect(trail.eventsOf("org_1")).toHaveLength(3);
});

test("a listener that throws is reported, and what else the act put is committed", async () => {
  trail.events.listen(() => {
    throw new Error("the listener is broken");
  });
  const ledger = disk.store.table<number>("test.ledger");
  await disk.store.act(() => {
    ledger.put("charge", 12);
    told.put(exceeded);
  });
  expect(ledger.get("charge")).toBe(12);
  expect(failures).toContainEqual(new Error("the listener is broken"));
});
