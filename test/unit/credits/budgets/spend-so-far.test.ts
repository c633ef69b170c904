/** What was spent so far, read from the rows of a folder: the same as the gateway that wrote them says. */

import { afterEach, beforeEach, expect, test } from "vitest";
import { DAY_MS } from "../../../../src/base/time.ts";
import type { BudgetScope } from "../../../../src/credits/budgets/budget.ts";
import { type BudgetHold, type LocalBudgets, openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import { type SpendSoFar, spendSoFar } from "../../../../src/credits/budgets/spend-so-far.ts";
import { openCredits } from "../../../../src/credits/ledger/credits.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";

const ZONE = "Asia/Kolkata";
const clock = () => new ManualClock("2026-03-28T12:00:00Z");
const scope = (keyId: string, projectId = "proj_1", orgId = "org_1"): BudgetScope => ({
  keyId,
  projectId,
  orgId,
  timeZone: ZONE,
});
const orgOf = (projectId: string) =>
  projectId === "proj_gone" ? undefined : { orgId: `org_${projectId.at(-1)}`, timeZone: ZONE };

let temp: ReturnType<typeof tempStore>;
beforeEach(() => {
  temp = tempStore();
});
afterEach(() => temp.dispose());

const charge = async (budgets: LocalBudgets, of: BudgetScope, microUsd: number): Promise<void> => {
  const charging = budgets.charging(budgets.hold(of, microUsd) as BudgetHold, microUsd);
  await temp.store.act(() => charging());
};

const ported = (at: ManualClock) => ({
  store: temp.store,
  clock: at,
  boot: "boot",
  book: openCredits({ store: temp.store, clock: at }).book,
  orgOf,
});

const soFar = (at: ManualClock, lineageOf = (keyId: string) => keyId): SpendSoFar[] => [
  ...spendSoFar({
    ...ported(at),
    lineageOf,
    timeZoneOf: (orgId) => (orgId === "org_gone" ? undefined : ZONE),
  }),
];

test("keys, projects and orgs, over days and a month's end", async () => {
  const at = clock();
  const budgets = openBudgets(ported(at));
  const keys = [scope("key_a"), scope("key_b"), scope("key_c", "proj_2", "org_2")];
  for (let day = 0; day < 6; day++) {
    for (const [n, of] of keys.entries())
      if (day !== 4 || n > 0) await charge(budgets, of, 100 * (day + 1) + n);
    for (const { of, id, ...spent } of soFar(at)) {
      const found = {
        key: () => budgets.spendOfKey(keys.find(({ keyId }) => keyId === id) ?? scope("")),
        project: () => budgets.spendOfProject({ projectId: id, timeZone: ZONE }),
        org: () => budgets.spendOfOrg({ orgId: id, timeZone: ZONE }),
      }[of]();
      expect({ todayMicroUsd: spent.dayMicroUsd, monthMicroUsd: spent.monthMicroUsd }).toEqual(found);
    }
    at.advance(DAY_MS);
  }
  // 28 March to 2 April; now it is the 3rd.
  const found = soFar(at);
  expect(found.map(({ of, id, dayMicroUsd, monthMicroUsd }) => [of, id, dayMicroUsd, monthMicroUsd])).toEqual(
    [
      ["key", "key_a", 0, 600],
      ["key", "key_b", 0, 1102],
      ["project", "proj_1", 0, 1702],

      ["key", "key_c", 0, 1104],
      ["project", "proj_2", 0, 1104],

      ["org", "org_1", 0, 1702],
      ["org", "org_2", 0, 1104],
    ],
  );
  expect(new Set(found.map(({ day }) => day))).toEqual(new Set(["2026-04-03"]));
  const [org] = found.filter(({ of }) => of === "org");
  expect([...(org?.pastDays ?? [])]).toEqual([
    ["2026-03-28", 201],
    ["2026-03-29", 401],
    ["2026-03-30", 601],
    ["2026-03-31", 801],

    ["2026-04-01", 501],
    ["2026-04-02", 1201],
  ]);
  expect(org?.usualMicroUsd).toBe(Math.round(3706 / 6));
});

test("nothing of a project or an org that is gone, and nothing where nothing was spent lately", async () => {
  const at = clock();
  const budgets = openBudgets(ported(at));
  await charge(budgets, scope("key_x", "proj_gone", "org_gone"), 5);
  await charge(budgets, scope("key_a"), 7);
  expect(soFar(at).map(({ of, id }) => [of, id])).toEqual([
    ["key", "key_a"],
    ["project", "proj_1"],
    ["org", "org_1"],
  ]);
  at.advance(40 * DAY_MS);
  expect(soFar(at)).toEqual([]);
});

test("a charge that was made while the clock was ahead is of today", async () => {
  const at = clock();
  at.set("2026-05-01T12:00:00Z");
  await charge(openBudgets(ported(at)), scope("key_a"), 7);
  at.set("2026-03-28T12:00:00Z");
  const [key, project, org] = soFar(at);
  for (const found of [key, project, org])
    expect(found).toMatchObject({ day: "2026-03-28", dayMicroUsd: 7, monthMicroUsd: 7 });
});

test("C9: keys that were counted apart are one lineage", async () => {
  const at = clock();
  const budgets = openBudgets(ported(at));
  for (const [keyId, microUsd] of [
    ["key_a", 100],
    ["key_b", 20],
    ["key_c", 3],
  ] as const)
    await charge(budgets, scope(keyId), microUsd);
  const lineageOf = (keyId: string) => (keyId === "key_c" ? "key_a" : keyId);
  const found = soFar(at, lineageOf).filter(({ of }) => of !== "org");
  expect(found.map(({ id, dayMicroUsd, monthMicroUsd }) => [id, dayMicroUsd, monthMicroUsd])).toEqual([
    ["key_a", 103, 103],
    ["key_b", 20, 20],
    ["proj_1", 123, 123],
  ]);
});
