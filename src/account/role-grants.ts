/**
 * As which role a caller gives and takes roles. A key does so for the person behind it, as far as that person may at that
 * moment: a key must not keep the power of somebody who has lost it.
 */

import { fail } from "../base/errors.ts";
import type { Least } from "../base/operation/access.ts";
import type { Caller } from "../base/operation/operation.ts";
import { mayAs, mayGrantRole, type Role } from "./roles.ts";
import { administers } from "./scopes.ts";
import type { AccountTables } from "./tables.ts";

/**
 * Who answers for what a caller makes: the person, or the one behind the key; undefined where nobody is known, as for the keys
 * of the first start and of `weir keys create`.
 */
export function personBehind(accounts: AccountTables, { actor }: Pick<Caller, "actor">): string | undefined {
  if (actor.kind === "person") return actor.id;
  if (actor.kind !== "key") return undefined;
  const { personId, createdBy = "" } = accounts.key(actor.id) ?? {};
  return personId ?? accounts.people.user(createdBy)?.id;
}

/**
 * Call in the act.
 * @returns undefined for whoever is no member (any more), and gives no role at all
 */
export function grantingRole(
  accounts: AccountTables,
  caller: Pick<Caller, "actor" | "orgId" | "scopes">,
): Role | undefined {
  const { actor, orgId, scopes } = caller;
  if (actor.kind !== "person" && actor.kind !== "key") return undefined;
  const personId = personBehind(accounts, caller);
  if (personId === undefined) return administers(scopes) ? "admin" : "member";
  const { people } = accounts;
  if (people.user(personId)?.status !== "active") return undefined;
  const role = people.member(orgId, personId)?.role;
  // Who owns an org is decided in console sessions only.
  return actor.kind === "key" && role === "owner" ? "admin" : role;
}

/** Giving a role and taking it need the same. @throws WeirError `role` */
export function assertMayGrantRole(accounts: AccountTables, caller: Caller, role: Role): void {
  const own = grantingRole(accounts, caller);
  if (own !== undefined && mayGrantRole(own, role)) return;
  const details = { details: { role } };
  if (caller.actor.kind !== "key")
    throw fail("role", `You cannot give or take the role ${role}: it is above your own.`, details);
  throw fail(
    "role",
    own === undefined
      ? "Whoever made this key is not in the organisation any more, so it gives and takes no roles."
      : `This key gives and takes roles as ${own} does; ${role} is above that.`,
    details,
  );
}

/**
 * A person must be an admin to remove others, a key has the scope of the route. Both take the role only if they may give it.
 * @throws WeirError `role`
 */
export function assertMayRemove(accounts: AccountTables, caller: Caller, role: Role): void {
  const own = grantingRole(accounts, caller);
  if (caller.actor.kind !== "key" && (own === undefined || !mayAs(own, "admin"))) {
    throw fail("role", "Only an admin removes others.", { details: { role: "admin" } });
  }
  assertMayGrantRole(accounts, caller, role);
}

/**
 * For a route that asks a person for more than every holder of its scope is: a key that a person made opens it only while that
 * person may. Keys of which nobody knows who made them have the scope, and that suffices.
 * @throws WeirError `role`
 */
export function assertMakerMay(accounts: AccountTables, caller: Caller, least: Least): void {
  if (caller.actor.kind !== "key" || personBehind(accounts, caller) === undefined) return;
  const own = grantingRole(accounts, caller);
  if (own !== undefined && mayAs(own, least)) return;
  throw fail("role", `Whoever made this key cannot do this themselves; it needs ${least}.`, {
    details: { role: least },
  });
}
