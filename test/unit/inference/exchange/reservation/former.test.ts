/** A call that a killed process of this folder left unfinished is charged without a hold, and counts in its budgets. */
import { afterAll, expect, test } from "vitest";
import { openBudgets } from "../../../../../src/credits/budgets/budgets.ts";
import { chargingFormer } from "../../../../../src/inference/exchange/reservation/holds.ts";
import { ManualClock, openCredits, tempStore } from "../../../../support/credits/fixtures.ts";

const folder = tempStore();
afterAll(() => folder.dispose());

const clock = new ManualClock("2026-03-01T10:00:00Z");
const scope = {
  keyId: "key_1",
  projectId: "prj_1",
  orgId: "org_1",
  timeZone: "UTC",
  keyDaily: { limitMicroUsd: 1000, hard: true },
};
const LEFT = { scope, life: "", charge: { requestId: "R", amountMicroUsd: 1200, atMs: clock.now() } };

test("a gateway alone charges it below zero, and above the budget", async () => {
  const { store } = folder;
  const credits = openCredits({ store, clock });
  const budgets = openBudgets({ store, clock });
  const deps = { purse: credits.purse, budgets };
  await credits.post("org_1", { kind: "topup", amountMicroUsd: 1000, refType: "topup", refId: "t" });
  const dropped = chargingFormer(deps, LEFT);
  await expect(
    store.act(() => {
      dropped.charge();
      throw new Error("dropped");
    }),
  ).rejects.toThrow("dropped");
  dropped.giveUp();
  expect(credits.balance("org_1")).toMatchObject({ balanceMicroUsd: 1000, heldMicroUsd: 0 });
  await store.act(chargingFormer(deps, LEFT).charge, { isOwed: true });
  const free = { ...LEFT, charge: { ...LEFT.charge, amountMicroUsd: 0 } };
  await store.act(chargingFormer(deps, free).charge, { isOwed: true });
  expect(credits.balance("org_1")).toMatchObject({ balanceMicroUsd: -200, heldMicroUsd: 0 });
  expect(budgets.spendOfKey(scope)).toEqual({ todayMicroUsd: 1200, monthMicroUsd: 1200 });
  expect([credits.open().holds, budgets.openHolds()]).toEqual([0, 0]);
  expect(credits.entries("org_1", { limit: 10 })).toMatchObject([
    { kind: "settle", amountMicroUsd: -1200, balanceMicroUsd: -200 },
    { kind: "topup" },
  ]);
});
