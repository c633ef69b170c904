/**
 * Invitations: memberships that wait under the address that was invited, until a person whose address it is accepts or declines.
 * A sign-in alone changes none of them. They have no table of their own: an invitation is the member row of an invited person.
 */

import { hash } from "node:crypto";
import { contentId } from "../../base/ids.ts";
import type { Actor } from "../../base/operation/operation.ts";
import { DAY_MS } from "../../base/time.ts";
import { keyStatus } from "../key.ts";
import type { MemberRow, UserRow } from "../person.ts";
import { grantingRole } from "../role-grants.ts";
import { mayAs, mayGrantRole } from "../roles.ts";
import type { AccountTables } from "../tables.ts";

export const INVITATION_DAYS = 14;

/** What a new invitation's row says beside the role: who answers for it, and its end. */
export const invitationTerms = (by: Actor, nowMs: number): NonNullable<MemberRow["invitation"]> => ({
  by: { kind: by.kind, id: by.id },
  endsAtMs: nowMs + INVITATION_DAYS * DAY_MS,
});

/** Another one for each time that somebody is invited; no secret, for only the invited person's session acts on it. */
export const invitationId = ({ orgId, userId, addedAtMs }: MemberRow): string =>
  contentId("ivt", hash("sha256", JSON.stringify([orgId, userId, addedAtMs]), "buffer"));

/** @param user of the row */
export const isInvitation = ({ source }: MemberRow, user: UserRow | undefined): boolean =>
  source === "invitation" && user?.status === "invited";

/** Rows of 0.1.0 have no end. */
export const isOver = ({ invitation }: MemberRow, nowMs: number): boolean =>
  invitation !== undefined && nowMs >= invitation.endsAtMs;

/**
 * What waits for a person, oldest first, also what is over. The provider must vouch for the address: else anybody who claims it could
 * take what was meant for its owner.
 */
export function invitationsFor(accounts: AccountTables, person: UserRow): MemberRow[] {
  const { people } = accounts;
  if (person.email === "" || !person.isEmailVerified) return [];
  const invited = people.invitedByEmail(person.email);
  if (invited === undefined) return [];
  return people
    .membershipsOf(invited.id)
    .filter(
      (row) => isInvitation(row, invited) && (accounts.org(row.orgId)?.status ?? "closed") !== "closed",
    );
}

/**
 * Whether whoever answers for an invitation could still give its role: what somebody gave shortly before they lost their own
 * role must not come into force after it, nor what a key gave that got out and was revoked. A key's own end takes nothing back.
 */
export function mayStillBeGiven(
  accounts: AccountTables,
  { invitation, orgId, role }: MemberRow,
  nowMs: number,
): boolean {
  if (invitation === undefined) return true;
  const { by } = invitation;
  const key = by.kind === "key" ? accounts.key(by.id) : undefined;
  const own = grantingRole(accounts, { actor: by, orgId, scopes: new Set(key?.scopes) });
  if (own === undefined || !mayGrantRole(own, role)) return false;
  if (by.kind !== "key") return mayAs(own, "admin");
  return key?.scopes.includes("write:org") === true && keyStatus(key, nowMs) !== "revoked";
}
