/**
 * A data folder of the release before this one keeps its spend: there a key's row was the newest day on which it was charged
 * and what it spent on that day and in its month.
 */
import { afterAll, describe, expect, test } from "vitest";
import type { BudgetScope } from "../../../../src/credits/budgets/budget.ts";
import { type LocalBudgets, openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";

const folder = tempStore();
afterAll(() => folder.dispose());

let scopes = 0;
/** A key with 1,000 a day, its project with 5,000 a month, and the row that the earlier release left. */
async function scopeWith(row: readonly [string, number, number], timeZone = "UTC"): Promise<BudgetScope> {
  scopes += 1;
  const scope = { keyId: `key_${scopes}`, projectId: `prj_${scopes}`, orgId: `org_${scopes}`, timeZone };
  await folder.store.act(() => {
    folder.store.table("wall_clock").remove("spans");
    folder.store.table("spend").put([scope.projectId, scope.keyId], row);
  });
  const keyDaily = { limitMicroUsd: 1_000, hard: true };
  return { ...scope, keyDaily, projectMonthly: { limitMicroUsd: 5_000, hard: true } };
}
const open = (clock: ManualClock): LocalBudgets => openBudgets({ store: folder.store, clock });
const admits = (budgets: LocalBudgets, scope: BudgetScope, microUsd: number): boolean => {
  const hold = budgets.hold(scope, microUsd);
  if (hold.admitted) budgets.release(hold);
  return hold.admitted;
};
async function charge(budgets: LocalBudgets, scope: BudgetScope, microUsd: number): Promise<void> {
  const hold = budgets.hold(scope, microUsd);
  if (!hold.admitted) throw new Error(`refused by ${hold.budget}`);
  await folder.store.act(budgets.charging(hold, microUsd));
}

describe("O6: spend of the earlier release", () => {
  test.each([
    ["UTC", "2026-03-14T00:10:00Z"],
    ["UTC", "2026-03-14T23:50:00Z"],
    ["Asia/Kolkata", "2026-03-13T18:40:00Z"],
    ["America/Los_Angeles", "2026-03-15T06:50:00Z"],
    ["Pacific/Kiritimati", "2026-03-13T10:10:00Z"],
  ])("O6: of today is in force until midnight, of this month until its end (%s, %s)", async (zone, now) => {
    const scope = await scopeWith(["2026-03-14", 900, 4_000], zone);
    const clock = new ManualClock(now);
    for (const budgets of [open(clock), open(clock)]) {
      expect(budgets.spendOfKey(scope)).toEqual({ todayMicroUsd: 900, monthMicroUsd: 4_000 });
      expect(budgets.spendOfProject(scope)).toEqual({ todayMicroUsd: 900, monthMicroUsd: 4_000 });
      expect([admits(budgets, scope, 101), admits(budgets, scope, 100)]).toEqual([false, true]);
    }
    await charge(open(clock), scope, 60);
    expect(open(clock).spendOfKey(scope)).toEqual({ todayMicroUsd: 960, monthMicroUsd: 4_060 });
    clock.advance(24 * 3_600_000);
    const next = open(clock);
    expect(next.spendOfKey(scope)).toEqual({ todayMicroUsd: 0, monthMicroUsd: 4_060 });
    expect([admits(next, scope, 941), admits(next, scope, 940)]).toEqual([false, true]);
    clock.advance(20 * 24 * 3_600_000);
    expect(open(clock).spendOfKey(scope)).toEqual({ todayMicroUsd: 0, monthMicroUsd: 0 });
  });

  test.each([
    ["an earlier day of this month counts in the month", "2026-03-02", 0, 4_000],
    ["an earlier month is over", "2026-02-28", 0, 0],
    ["the first day of the month", "2026-03-01", 0, 4_000],
    ["a day to come, of a clock that was set back, counts as of now", "2026-03-16", 900, 4_000],
    ["a month to come counts as of now", "2027-01-01", 900, 4_000],
  ])("O6: of %s", async (_, day, todayMicroUsd, monthMicroUsd) => {
    const scope = await scopeWith([day, 900, day.endsWith("-01") ? 900 : 4_000]);
    const expected = {
      todayMicroUsd,
      monthMicroUsd: day.endsWith("-01") ? Math.min(monthMicroUsd, 900) : monthMicroUsd,
    };
    const clock = new ManualClock("2026-03-14T10:00:00Z");
    const budgets = open(clock);
    expect(budgets.spendOfKey(scope)).toEqual(expected);
    expect(budgets.spendOfProject(scope)).toEqual(expected);
    clock.advance(24 * 3_600_000);
    expect(budgets.spendOfKey(scope)).toEqual({ ...expected, todayMicroUsd: 0 });
  });

  test("O6: is still of its day when the clock proves to have been ahead at the upgrade", async () => {
    const scope = await scopeWith(["2026-03-14", 900, 4_000]);
    const clock = new ManualClock("2026-03-17T10:00:00Z");
    const budgets = open(clock);
    expect(budgets.spendOfKey(scope)).toEqual({ todayMicroUsd: 0, monthMicroUsd: 4_000 });
    await charge(budgets, scope, 50);
    clock.set("2026-03-14T10:00:01Z");
    expect(budgets.spendOfKey(scope)).toEqual({ todayMicroUsd: 950, monthMicroUsd: 4_050 });
    expect(admits(budgets, scope, 51)).toBe(false);
  });
});
