/** A lease, between an exchange and its answer. */
import { expect, test } from "vitest";
import { OrgLease } from "../../../src/cells/credit/org-lease.ts";

const answer = (leaseMicroUsd: number) => ({
  ...{ leaseMicroUsd, freeMicroUsd: 0, availableMicroUsd: leaseMicroUsd, outcome: 0 },
});

test("credit that is on its way back is not spent, whatever the answer will be", () => {
  const org = new OrgLease("org", 0);
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
  const org = new OrgLease("org", 0);
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
