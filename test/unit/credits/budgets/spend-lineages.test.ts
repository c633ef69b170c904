/**
 * Keys of one lineage have one spend and one set of windows. A folder of a release that counted each key of a lineage apart is joined
 * once, before the first call.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { BudgetScope } from "../../../../src/credits/budgets/budget.ts";
import { type BudgetHold, type LocalBudgets, openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import { openLimits } from "../../../../src/credits/limits/limits.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";

const ORG = { orgId: "org_1", timeZone: "UTC" };
/** `key_1` was rotated to `key_2`, that one to `key_3`. */
const LINEAGES: Readonly<Record<string, string>> = { key_2: "key_1", key_3: "key_1", key_9: "key_8" };
const lineageOf = (keyId: string) => LINEAGES[keyId] ?? keyId;
const scope = (keyId: string, dailyMicroUsd = 1000, projectId = "prj_1"): BudgetScope => ({
  keyId,
  lineageId: lineageOf(keyId),
  projectId,
  ...ORG,
  keyDaily: { limitMicroUsd: dailyMicroUsd, hard: true },
});

let disk: ReturnType<typeof tempStore>;
let clock: ManualClock;
beforeEach(() => {
  disk = tempStore();
  clock = new ManualClock("2026-03-14T10:00:00Z");
});
afterEach(() => disk.dispose());

const open = (): LocalBudgets => openBudgets({ store: disk.store, clock, orgOf: () => ORG, lineageOf });
const spent = (budgets: LocalBudgets, of: BudgetScope) => {
  const { todayMicroUsd, monthMicroUsd } = budgets.spendOfKey(of);
  return [todayMicroUsd, monthMicroUsd];
};
const taken = (budgets: LocalBudgets, of: BudgetScope, microUsd: number): BudgetHold => {
  const hold = budgets.hold(of, microUsd);
  if (!hold.admitted) throw new Error(`refused by ${hold.budget}`);
  return hold;
};
const charge = async (budgets: LocalBudgets, hold: BudgetHold, microUsd: number) =>
  await disk.store.act(budgets.charging(hold, microUsd));
const put = async (rows: Record<string, readonly unknown[]>) =>
  await disk.store.act(() => {
    for (const [at, row] of Object.entries(rows)) disk.store.table("spend").put(at.split(" "), row);
  });
const rowsNow = () => Array.from(disk.store.table("spend").range(), ({ key }) => (key as string[]).join(" "));
const at = (iso: string) => Date.parse(iso);

describe("C9: the budget of a lineage", () => {
  test("counts what calls of the old key hold and are charged after its rotation", async () => {
    const budgets = open();
    const underWay = taken(budgets, scope("key_1"), 600);
    expect(budgets.hold(scope("key_2"), 401)).toMatchObject({ admitted: false, heldMicroUsd: 600 });
    const next = taken(budgets, scope("key_2"), 400);
    await charge(budgets, underWay, 500);
    await charge(budgets, next, 300);
    for (const key of ["key_1", "key_2", "key_3"]) expect(spent(budgets, scope(key))).toEqual([800, 800]);
    expect(budgets.hold(scope("key_3"), 201)).toMatchObject({ admitted: false, spentMicroUsd: 800 });
    // The same is on disk, and a day later the lineage has its budget anew.
    expect(spent(open(), scope("key_3"))).toEqual([800, 800]);
    clock.advance(86_400_000);
    expect(spent(open(), scope("key_3"))).toEqual([0, 800]);
  });

  test("is no other lineage's, also in the same project", async () => {
    const budgets = open();
    await charge(budgets, taken(budgets, scope("key_1"), 1000), 1000);
    expect(budgets.hold(scope("key_8"), 1000)).toMatchObject({ admitted: true });
  });
});

describe("C9: rows of earlier releases, one for each key of a lineage", () => {
  const SPAN = 1;
  test("become one: days and months add up, in every form of row, once", async () => {
    await put({
      // Of 0.1.0: the newest day, micro-USD of that day and of its month.
      "prj_1 key_1": ["2026-03-14", 100, 500],
      "prj_1 key_2": [SPAN, at("2026-03-14T08:00:00Z"), 250],
      "prj_1 key_3": [SPAN, at("2026-03-02T08:00:00Z"), 7, SPAN, at("2026-03-14T09:00:00Z"), 50],
      "prj_1 key_5": [SPAN, at("2026-03-14T09:00:00Z"), 3],
      // The first of the lineage was never charged.
      "prj_2 key_9": [SPAN, at("2026-03-14T09:00:00Z"), 60],
    });
    const budgets = open();
    for (const key of ["key_1", "key_2", "key_3"]) expect(spent(budgets, scope(key))).toEqual([400, 807]);
    expect(spent(budgets, scope("key_5"))).toEqual([3, 3]);
    expect(spent(budgets, scope("key_8", 1000, "prj_2"))).toEqual([60, 60]);
    expect(budgets.spendOfProject({ projectId: "prj_1", timeZone: "UTC" })).toEqual({
      todayMicroUsd: 403,
      monthMicroUsd: 810,
    });
    expect(budgets.hold(scope("key_3"), 601)).toMatchObject({ admitted: false, budget: "key_daily" });
    await charge(budgets, taken(budgets, scope("key_3"), 600), 600);
    expect(rowsNow()).toEqual(["prj_1 key_1", "prj_1 key_5", "prj_2 key_8"]);
    for (const again of [open(), open()]) expect(spent(again, scope("key_2"))).toEqual([1000, 1407]);
  });

  test("are joined by the next start where one was interrupted", async () => {
    await put({ "prj_1 key_2": [SPAN, at("2026-03-14T08:00:00Z"), 250] });
    expect(spent(open(), scope("key_1"))).toEqual([250, 250]);
    await disk.store.act(() => {
      disk.store.table("spend.lineages_joined").remove("keys");
      disk.store.table("spend").put(["prj_1", "key_3"], [SPAN, at("2026-03-14T09:00:00Z"), 30]);
    });
    for (const again of [open(), open()]) expect(spent(again, scope("key_1"))).toEqual([280, 280]);
  });
});

test("C9: windows and slots are a lineage's", () => {
  const limits = openLimits({ clock });
  const key = (keyId: string) => ({ keyId, lineageId: lineageOf(keyId), limits: { rpm: 2, concurrency: 2 } });
  const first = limits.admit(key("key_1"), 0);
  expect(limits.admit(key("key_2"), 0)).toMatchObject({ admitted: true });
  expect(limits.admit(key("key_3"), 0)).toMatchObject({ code: "rpm", limit: 2 });
  clock.advance(60_000);
  expect(limits.admit(key("key_3"), 0)).toMatchObject({ code: "concurrency" });
  if (first.admitted) first.release();
  expect(limits.admit(key("key_3"), 0)).toMatchObject({ admitted: true });
  expect(limits.state(key("key_1"))).toMatchObject({ requests: { remaining: 1 }, concurrencyInUse: 2 });
  expect(limits.admit(key("key_8"), 0)).toMatchObject({ admitted: true });
});
