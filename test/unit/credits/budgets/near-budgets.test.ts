/** Keys and projects of which half of the budget is used: noted once a period, whatever crashes, and found without a walk over all. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Budget, BudgetScope } from "../../../../src/credits/budgets/budget.ts";
import { type LocalBudgets, openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import {
  type NearBudget,
  type NearBudgets,
  openNearBudgets,
} from "../../../../src/credits/budgets/near-budgets.ts";
import type { Store } from "../../../../src/store/store.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";
import { until } from "../../../support/wait.ts";

let disk: ReturnType<typeof tempStore>;
let clock: ManualClock;
let budgets: LocalBudgets;
let near: NearBudgets;
let noted: NearBudget[];
let failures: unknown[];

function open() {
  const { store } = disk;
  noted = [];
  failures = [];
  near = openNearBudgets({ store, clock, onFailure: (error) => failures.push(error) });
  budgets = openBudgets({
    store,
    clock,
    noteNear(one) {
      noted.push(one);
      near.note(one);
    },
  });
}
beforeEach(() => {
  disk = tempStore();
  clock = new ManualClock("2026-03-10T10:00:00Z");
  open();
});
afterEach(async () => {
  near.close();
  await disk.dispose();
});

const budget = (limitMicroUsd: number, hard = true): Budget => ({ limitMicroUsd, hard });
const scopeOf = (keyId: string, more: Partial<BudgetScope> = {}): BudgetScope => ({
  keyId,
  projectId: "prj_1",
  orgId: "org_1",
  timeZone: "Asia/Kolkata",
  ...more,
});
async function spend(scope: BudgetScope, microUsd: number): Promise<void> {
  const hold = budgets.hold(scope, microUsd);
  if (!hold.admitted) throw new Error(`refused by ${hold.budget}`);
  await disk.store.act(budgets.charging(hold, microUsd));
}
const keys = (day = "2026-03-10", most = 10) => near.of("org_1", "key", day, most);
const stored = (count: number) =>
  until(
    "notes are stored",
    () => keys().length,
    (found) => found >= count,
  );

test("a key is noted with the charge by which half is used, hard or soft, and once a day", async () => {
  for (const [keyId, hard] of [
    ["key_1", true],
    ["key_2", false],
  ] as const) {
    const scope = scopeOf(keyId, { keyDaily: budget(100, hard) });
    await spend(scope, 49);
    expect(noted.filter(({ id }) => id === keyId)).toEqual([]);
    await spend(scope, 1);
    await spend(scope, 20);
  }
  await stored(2);
  expect(noted.map(({ id }) => id)).toEqual(["key_1", "key_2"]);
  expect(keys()).toEqual(["key_2", "key_1"]);
  expect([keys("2026-03-11"), near.of("org_2", "key", "2026-03-10", 9), keys("2026-03-10", 1)]).toEqual([
    [],
    [],
    ["key_2"],
  ]);
  clock.set("2026-03-10T18:30:00Z");
  await spend(scopeOf("key_1", { keyDaily: budget(100) }), 50);
  expect(noted.at(-1)).toMatchObject({ id: "key_1", period: "2026-03-11" });
});

test("what has no budget is never noted, and a project goes by its month", async () => {
  await spend(scopeOf("key_1", { keyDaily: budget(0) }), 1000);
  expect(noted).toEqual([]);
  const scope = scopeOf("key_1", { projectMonthly: budget(3000) });
  await spend(scope, 500);
  clock.advance(86_400_000);
  await spend(scope, 500);
  const found = () => near.of("org_1", "project", "2026-03", 9);
  await until("the project is stored", found, (ids) => ids.length > 0);
  expect([found(), noted.length]).toEqual([["prj_1"], 1]);
});

test("a budget that was lowered below what is spent is noted when it refuses", async () => {
  await spend(scopeOf("key_1", { keyDaily: budget(1000) }), 100);
  expect(noted).toEqual([]);
  expect(budgets.hold(scopeOf("key_1", { keyDaily: budget(50) }), 10)).toMatchObject({ admitted: false });
  await stored(1);
  expect(keys()).toEqual(["key_1"]);
});

test("keys of a lineage are one, and a restart forgets nothing", async () => {
  const [first, second] = ["key_1", "key_2"].map((keyId) =>
    scopeOf(keyId, { lineageId: "key_1", keyDaily: budget(100) }),
  ) as [BudgetScope, BudgetScope];
  await spend(first, 60);
  await stored(1);
  near.close();
  await disk.reopen();
  open();
  expect(keys()).toEqual(["key_1"]);
  await spend(second, 10);
  expect(noted).toHaveLength(1);
  await spend(scopeOf("key_3", { keyDaily: budget(1) }), 1);
  await stored(2);
  expect(keys()).toEqual(["key_3", "key_1"]);
});

test("a note that cannot be stored costs no later one", async () => {
  const { store } = disk;
  const act: Store["act"] = (act, how) =>
    failures.length === 0 ? Promise.reject(new Error("no disk")) : store.act(act, how);
  const table = store.table.bind(store);
  const onClose = store.onClose.bind(store);
  const failing = { act, table, onClose } as unknown as Store;
  const onFailure = (error: unknown) => failures.push(error);
  const broken = openNearBudgets({ store: failing, clock, onFailure });
  const one = { orgId: "org_1", of: "key", id: "key_1", ownerId: "key_1", period: "2026-03-10" } as const;
  broken.note(one);
  await until(
    "it has failed",
    () => failures,
    (found) => found.length === 1,
  );
  broken.note({ ...one, id: "key_2", ownerId: "key_2" });
  await stored(1);
  expect(keys()).toEqual(["key_2"]);
  broken.close();
});
