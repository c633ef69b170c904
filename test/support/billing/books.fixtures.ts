/** What a bookkeeper checks of an org with a subscription. */
import { expect } from "vitest";
import { audit } from "../credits/fixtures.ts";
import { PLANS, type TestPlans } from "./plans.fixtures.ts";

/** What must hold at any time. */
export function expectBooks(rig: TestPlans, orgId: string): void {
  const ledger = rig.ledger(orgId);
  expect(audit(ledger)).toBe(rig.balance(orgId));
  expect(rig.balance(orgId)).toBeGreaterThanOrEqual(0);
  const { grants, paidMicroUsd } = rig.rooms.lots.of(orgId);
  expect(grants.reduce((sum, lot) => sum + lot.leftMicroUsd, paidMicroUsd)).toBe(rig.balance(orgId));
  // By subscription and month: what was taken is at most the dearest plan's price, and so with the included credit.
  const sums = new Map<string, { fee: number; included: number; whole: number }>();
  for (const entry of ledger) {
    if (entry.kind === "settle" || entry.kind === "topup" || entry.kind === "expiry") continue;
    const [id, month, change] = entry.refId.split("/");
    const sum = sums.get(`${id}/${month}`) ?? { fee: 0, included: 0, whole: 0 };
    if (entry.kind === "subscription") sum.fee -= entry.amountMicroUsd;
    if (entry.kind === "subscription" && change === "0") sum.whole++;
    if (entry.kind === "grant") sum.included += entry.amountMicroUsd;
    sums.set(`${id}/${month}`, sum);
  }
  for (const { fee, included, whole } of sums.values()) {
    expect(whole).toBe(1);
    expect(fee).toBeLessThanOrEqual(500_000_000);
    expect(included).toBeLessThanOrEqual(30_000_000);
  }
  const statements = rig.statements(orgId);
  expect(statements.reduce((sum, { totalMinor }) => sum + totalMinor * 10_000, 0)).toBe(
    [...sums.values()].reduce((sum, { fee }) => sum + fee, 0),
  );
  const row = rig.row(orgId);
  expect(rig.rooms.accounts.org(orgId)?.planId).toBe(row?.planId ?? "local");
  if (row === undefined) return;
  // Whoever is subscribed will be renewed.
  const jobs = [...rig.rooms.jobTables.ofKind("billing.renew")].filter((job) => job.orgId === orgId);
  if (row.status !== "cancelled")
    expect(jobs.map(({ key }) => key)).toContain(`${row.id}/${row.month}/${row.missed}`);
  expect(PLANS.map(({ id }) => id)).toContain(row.planId);
}
