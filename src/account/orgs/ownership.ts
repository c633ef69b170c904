/**
 * How many orgs a person owns, and makes. Whoever becomes an owner, by whatever way (a new org, a transfer, a change of role, an
 * invitation), is counted against the same bound, in the act that makes them one.
 */

import { fail } from "../../base/errors.ts";
import type { Quotas } from "../../base/quota.ts";
import { DayCounts } from "../../store/tables/day-counts.ts";
import type { ExpiryPorts } from "../../store/tables/expiring-table.ts";
import type { People } from "../people.ts";

/** Closed orgs count until they are erased: their owner can still hand them over. */
export const ownsTooMany = (people: People, userId: string, most: number): boolean =>
  people.membershipsOf(userId).filter(({ role }) => role === "owner").length >= most;

/** Call in the act that makes the person an owner, before it does. @throws WeirError 403 `plan_limit` */
export function assertMayOwn(people: People, userId: string, most: number): void {
  if (!ownsTooMany(people, userId, most)) return;
  const message = `A person may own ${most} organisations. They must hand one over first, or have it erased; an operator can raise max_orgs_per_person.`;
  throw fail("plan_limit", message, { details: { quota: "max_orgs_per_person", limit: most } });
}

/** [user id, day] → orgs that the person made, whatever became of them. */
export const openOrgsMade = (ports: ExpiryPorts) =>
  new DayCounts({ ...ports, rows: "account.orgs_made", periods: "account.orgs_made_days" });

/** In the act that makes an org. @throws WeirError 403 `plan_limit` */
export function countOrgMade(
  { orgsMade, quotas }: { readonly orgsMade: DayCounts; readonly quotas: Quotas },
  userId: string,
): void {
  const what =
    "organisations made by a person in a day (UTC), those that were handed over or closed included";
  orgsMade.add(quotas, "orgs_made_per_day", [userId], what, "Wait until tomorrow.");
}
