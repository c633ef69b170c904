/** A lease, between an exchange and its answer. */
import { expect, test } from "vitest";
import { SharedClock } from "../../../../../src/cluster/cells/clock/shared-clock.ts";
import type { Lease } from "../../../../../src/cluster/cells/leases/lease.ts";
import { OrgLease } from "../../../../../src/cluster/cells/leases/lease.ts";
import { ScopeLease } from "../../../../../src/cluster/cells/leases/scope-lease.ts";
import { keyScope } from "../../../../../src/cluster/cells/leases/scopes.ts";
import { STALE_MS } from "../../../../../src/cluster/cells/settings.ts";
import type { BudgetScope } from "../../../../../src/credits/budgets/budget.ts";
import { openPeriods } from "../../../../../src/credits/budgets/periods.ts";

const answer = (leaseMicroUsd: number) => ({
  leaseMicroUsd,
  freeMicroUsd: 0,
  balanceMicroUsd: leaseMicroUsd,
  availableMicroUsd: leaseMicroUsd,
  outcome: 0,
});

test("credit that is on its way back is not spent, whatever the answer will be", () => {
  const org = new OrgLease("org", 0, STALE_MS);
  org.ask(0, 0);
  org.answered(answer(100), 0);
  org.take(30, 0);
  expect(org.fits(70)).toBe(true);
  org.want(0);
  expect(org.ask(0, 0)).toEqual({ heldMicroUsd: 30, targetMicroUsd: 30, need: -1 });
  expect(org.fits(1)).toBe(false);
  org.answered(answer(30), 0);
  expect(org.fits(1)).toBe(false);
});

test("a charge takes from the lease what its hold took, before and after Redis knows of it", () => {
  const org = new OrgLease("org", 0, STALE_MS);
  org.ask(0, 0);
  org.answered(answer(100), 0);
  org.take(60, 0);
  org.free(60);
  org.charge(50);
  expect([org.fits(50), org.fits(51)]).toEqual([true, false]);
  expect(org.ask(50, 0).heldMicroUsd).toBe(0);
  expect(org.fits(51)).toBe(false);
  org.answered(answer(0), 50);
  expect([org.usedMicroUsd, org.fits(1)]).toEqual([0, false]);
});

/** A call that waits, and what became of it. */
function waiting(lease: Lease, microUsd: number): { isTaken: boolean | undefined } {
  const call: { isTaken: boolean | undefined } = { isTaken: undefined };
  const resolve = (isTaken: boolean) => {
    call.isTaken = isTaken;
  };
  const take = () => lease.take(microUsd, 0);
  lease.waiters.push({ microUsd, deadlineMs: 1000, resolve, reject: () => {}, take });
  return call;
}

test("an answer refuses only calls that Redis was asked for", () => {
  const org = new OrgLease("org", 0, STALE_MS);
  const first = waiting(org, 50);
  org.ask(0, 0);
  const second = waiting(org, 50);
  // Whoever comes later may find more.
  org.answered(
    { leaseMicroUsd: 0, freeMicroUsd: 0, balanceMicroUsd: 10, availableMicroUsd: 10, outcome: 1 },
    0,
  );
  expect([first.isTaken, second.isTaken]).toEqual([false, undefined]);
  org.ask(0, 0);
  org.answered(
    { leaseMicroUsd: 50, freeMicroUsd: 0, balanceMicroUsd: 50, availableMicroUsd: 50, outcome: 0 },
    0,
  );
  expect(second.isTaken).toBe(true);
});

test.each([
  ["raised", 10, 1000],
  ["lowered", 1000, 10],
])("an answer of a budget that was %s since it was asked for decides nothing", (_, before, after) => {
  const scope = (limitMicroUsd: number): BudgetScope => ({
    keyId: "key",
    projectId: "prj",
    orgId: "org",
    timeZone: "UTC",
    keyDaily: { limitMicroUsd, hard: true },
  });
  const period = openPeriods()("UTC", Date.UTC(2026, 0, 5));
  const time = new SharedClock({ now: () => 0, monotonic: () => 0 });
  const lease = new ScopeLease(keyScope("key"), time, STALE_MS);
  lease.scope = scope(before);
  waiting(lease, 20);
  lease.part(undefined, 0, period);
  lease.scope = scope(after);
  const call = waiting(lease, 20);
  const told = before < after ? [0, 0, 0, 1] : [1000, 0, 1000, 0];
  lease.told([...told, 0, 0, period.day], 0);
  expect([call.isTaken, lease.waiters.length]).toEqual([undefined, 2]);
  lease.part(undefined, 0, period);
  lease.told([...(before < after ? [40, 0, 1000, 0] : [0, 0, 0, 1]), 0, 0, period.day], 0);
  expect(call.isTaken).toBe(before < after);
});
