/**
 * Roles of people in an org: which access levels each opens, which roles it may grant, and which scopes its holder has.
 * Which route asks for which level stands with its operation.
 */
import { LEAST, type Least, SCOPES, type Scope } from "../base/operation/access.ts";
import { orderedScopes } from "./scopes.ts";

export const ROLES = ["owner", "admin", "billing", "member", "viewer"] as const;
export type Role = (typeof ROLES)[number];

const OPENS: Readonly<Record<Role, readonly Least[]>> = {
  owner: LEAST,
  admin: ["admin", "member", "billing", "viewer", "everyone"],
  member: ["member", "viewer", "everyone"],
  billing: ["billing", "everyone"],
  viewer: ["viewer", "everyone"],
};

/** Whether a person with a role may use a route that asks for a level. */
export const mayAs = (role: Role, least: Least): boolean => OPENS[role].includes(least);

/**
 * Whether a person may give another a role, by add or by change: nobody gives one that opens what their own does not, so
 * only an owner makes owners. That the route itself asks for `admin` is a second condition.
 */
export const mayGrantRole = (actor: Role, role: Role): boolean =>
  OPENS[role].every((least) => mayAs(actor, least));

const SCOPES_OF: Readonly<Record<Role, readonly Scope[]>> = {
  owner: SCOPES,
  admin: SCOPES,
  member: [
    "inference",
    "read:usage",
    "read:catalog",
    "read:keys",
    "write:keys",
    "read:org",
    "read:billing",
    "read:policies",
    "write:policies",
  ],
  billing: ["read:billing", "write:billing", "read:org"],
  viewer: ["read:usage", "read:catalog", "read:billing", "read:keys", "read:org", "read:policies"],
};

/** The scopes that a person with a role holds, in the order of `SCOPES`. */
export const scopesOf = (role: Role): readonly Scope[] => orderedScopes(SCOPES_OF[role]);
