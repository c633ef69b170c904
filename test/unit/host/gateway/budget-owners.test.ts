/** Whose budgets are told of an org that has more keys than are looked at: those that were noted, as they are now. */
import { expect, test } from "vitest";
import type { KeyRow } from "../../../../src/account/key.ts";
import { budgetPorts } from "../../../../src/host/gateway/budget-owners.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";

const clock = new ManualClock("2026-03-10T12:00:00Z");
const NOW = clock.now();

const row = (id: string, dailyMicroUsd: number, more: Partial<KeyRow> = {}) =>
  ({
    id,
    orgId: "org_1",
    projectId: "prj_1",
    name: id,
    budget: { dailyMicroUsd, hard: true },
    createdAtMs: 0,
    expiresAtMs: null,
    revokedAtMs: null,
    isRevoked: false,
    rotatedFrom: null,
    ...more,
  }) as KeyRow;
const revoked = { revokedAtMs: NOW - 1, isRevoked: true };

/** @param noted ids of keys of whose budget half was used */
function ownersOf(rows: readonly KeyRow[], noted: readonly string[]) {
  const keys = new Map(rows.map((one) => [one.id, one]));
  const accounts = {
    org: () => ({ id: "org_1", name: "Acme", timeZone: "UTC", createdAtMs: 0 }),
    projectsIfFew: () => [],
    keysIfFew: () => undefined,
    key: (id: string) => keys.get(id),
    lineageOf: ({ id, lineageId }: KeyRow) => lineageId ?? id,
  };
  const nearBudgets = { of: (_org: string, of: string) => (of === "key" ? noted : []) };
  const house = { ground: { clock }, money: { nearBudgets }, people: { account: { accounts } } };
  return budgetPorts(house as never).ownersOf("org_1", "2026-03-10");
}

const told = ({ owners }: ReturnType<typeof ownersOf>) =>
  owners.map(({ id, budget }) => [id, budget.limitMicroUsd]);

test("a key that was noted is told while it works", () => {
  expect(told(ownersOf([row("key_1", 100)], ["key_1"]))).toEqual([["key_1", 100]]);
  expect(told(ownersOf([row("key_1", 100, revoked)], ["key_1"]))).toEqual([]);
  expect(told(ownersOf([row("key_1", 100, { expiresAtMs: NOW })], ["key_1"]))).toEqual([]);
  expect(told(ownersOf([], ["key_gone"]))).toEqual([]);
});

test("in its place the key is told that has replaced it since, once", () => {
  const lineageId = "key_1";
  const rows = [
    row("key_1", 100, { ...revoked, replacedBy: "key_2" }),
    row("key_2", 100, { lineageId, rotatedFrom: "key_1", revokedAtMs: NOW + 1, replacedBy: "key_3" }),
    row("key_3", 300, { lineageId, rotatedFrom: "key_2" }),
  ];
  expect(told(ownersOf(rows, ["key_1", "key_2"]))).toEqual([["key_3", 300]]);
});
