/**
 * Operations on an org's members: list, invite, change a role, remove. An org always has an owner; nobody grants or takes a role
 * above their own.
 */

import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { fail, mustExist } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { listed, listOf } from "../../base/operation/page.ts";
import { assertWithin, type Quotas } from "../../base/quota.ts";
import type { Trail } from "../../store/events/trail.ts";
import { DayCounts } from "../../store/tables/day-counts.ts";
import type { ExpiryPorts } from "../../store/tables/expiring-table.ts";
import { memberAdded, memberRemoved } from "../account-events.ts";
import { emailField, sameEmail } from "../fields/email.ts";
import { isMadeFor, revokedKey } from "../key.ts";
import { endPlaygroundKeys } from "../keys/playground-key.ts";
import { assertKeyMakerStays } from "../last-key-maker.ts";
import { orgPath } from "../orgs/org-operations.ts";
import { assertMayOwn } from "../orgs/ownership.ts";
import { invitedUser, type MemberRow, memberShape, memberWire, type UserRow } from "../person.ts";
import { assertMayGrantRole, assertMayRemove, personBehind } from "../role-grants.ts";
import { ROLES, type Role } from "../roles.ts";
import { assertMayActOn, assertMayChange } from "../scopes.ts";
import type { AccountTables } from "../tables.ts";
import { invitationTerms, isInvitation, isOver, mayStillBeGiven } from "./invitations.ts";
import { listedMemberShape, listedMemberWire } from "./listed-member.ts";

/** What a mail of invitation says. The secret of its link is made when the mail is sent, so that it waits nowhere. */
export interface InvitationMail {
  readonly orgId: string;
  readonly orgName: string;
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  /** E-mail of who invites; empty for a key. */
  readonly invitedBy: string;
  /** Id of the person who invites, or of the maker of the inviting key; empty for a key without a known maker. */
  readonly inviterId: string;
}

export interface MemberOperationDeps {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly trail: Trail;
  readonly quotas: Quotas;
  readonly invitationCounts: DayCounts;
  /** Port, called in the act: puts the mail. @throws WeirError 403 `plan_limit` for too many */
  readonly sendInvitation: (mail: InvitationMail) => void;
  /** Orgs that one person may own. */
  readonly maxOrgsOfPerson: number;
  /** Port: the org has a directory (SCIM), which decides about the members that it added. */
  readonly hasDirectory: (orgId: string) => boolean;
}

const memberId = z.string().describe("The member's id, `usr_…`.");
const memberPath = orgPath.extend({ user: memberId });
const role = z.enum(ROLES).describe("What the person may do in the org.");

/** [org id, day] → invitations of that day. */
export const openInvitationCounts = (ports: ExpiryPorts) =>
  new DayCounts({
    ...ports,
    rows: "account.invitation_counts",
    periods: "account.invitation_count_days",
  });

export function memberOperations(deps: MemberOperationDeps) {
  const { people } = deps.accounts;
  return {
    listMembers: operation({
      summary: "The org's members and invited people; not paged",
      method: "GET",
      path: "/v1/orgs/{org}/members",
      access: "read:org / viewer",
      group: "Organisations",
      params: orgPath,
      output: listOf(listedMemberShape),
      run(_input, { orgId }) {
        const nowMs = deps.clock.now();
        return listed(
          people.membersOf(orgId).map((row) => listedMemberWire(deps, row, userOf(deps, row), nowMs)),
        );
      },
    }),
    addMember: operation({
      summary: "Invite a person by e-mail; they are a member once they accept",
      method: "POST",
      path: "/v1/orgs/{org}/members",
      access: "write:org / admin",
      group: "Organisations",
      params: orgPath,
      body: z.strictObject({ email: emailField.describe("Who is invited"), role: role.default("member") }),
      output: memberShape,
      status: 201,
      errors: ["not_found", "role", "scope", "plan_limit", "state", "org_closed"],
      run: ({ body }, caller) => addMember(deps, caller, body.email, body.role),
    }),
    inviteAgain: operation({
      summary: "Send an invitation that was not accepted again; it can be accepted for fourteen days more",
      method: "POST",
      path: "/v1/orgs/{org}/members/{user}/invitation",
      access: "write:org / admin",
      group: "Organisations",
      params: memberPath,
      output: listedMemberShape,
      errors: ["not_found", "role", "scope", "plan_limit", "state", "org_closed"],
      run: ({ params }, caller) => inviteAgain(deps, caller, params.user),
    }),
    updateMember: operation({
      summary: "Change a member's role",
      method: "PATCH",
      path: "/v1/orgs/{org}/members/{user}",
      access: "write:org / admin",
      group: "Organisations",
      params: memberPath,
      body: z.strictObject({ role }),
      output: z.object({ org_id: field.orgId, user_id: memberId, role }),
      errors: ["not_found", "role", "scope", "last_owner", "state", "plan_limit"],
      run: ({ params, body }, caller) => updateMember(deps, caller, params.user, body.role),
    }),
    removeMember: operation({
      summary: "Remove a member, or leave. Keys that they made keep working unless they are revoked here",
      method: "DELETE",
      path: "/v1/orgs/{org}/members/{user}",
      access: "write:org / everyone",
      group: "Organisations",
      isForClosed: true,
      params: memberPath,
      query: z.object({
        revoke_keys: z
          .stringbool()
          .default(false)
          .describe(
            "`true`: keys that the person made, or keys of theirs, are revoked in the same act. Default: they keep working.",
          ),
      }),
      output: z.undefined(),
      status: 204,
      errors: ["not_found", "role", "scope", "last_owner", "state"],
      run: ({ params, query }, caller) => removeMember(deps, caller, params.user, query.revoke_keys),
    }),
  };
}

const userOf = ({ accounts }: MemberOperationDeps, { userId }: MemberRow): UserRow => {
  const user = accounts.people.user(userId);
  if (user === undefined) throw fail("internal", `${userId} is a member and no person`);
  return user;
};

async function addMember(deps: MemberOperationDeps, caller: Caller, email: string, granted: Role) {
  const { accounts, clock, trail } = deps;
  const { people } = accounts;
  return await accounts.act(() => {
    const org = accounts.mustOpenOrg(caller.orgId);
    assertMayChange(caller, "live");
    assertMayGrantRole(accounts, caller, granted);
    const members = people.membersOf(org.id);
    const nowMs = clock.now();
    const known = members.find((row) => sameEmail(userOf(deps, row).email, email));
    // An invitation that cannot be accepted any more may be sent again.
    if (known !== undefined && !isOver(known, nowMs) && mayStillBeGiven(accounts, known, nowMs)) {
      throw fail("state", "This person is a member already, or invited.", { param: "/email" });
    }
    if (known === undefined) {
      assertWithin(deps.quotas, "members", members.length, "members in an organisation", "Remove one first.");
    }
    countInvitation(deps, org.id);
    // The same whether the address is known here or not: who has an account is nobody's business.
    const user = people.invitedByEmail(email) ?? invitedUser(email, nowMs);
    people.putUser(user);
    const row: MemberRow = {
      orgId: org.id,
      userId: user.id,
      role: granted,
      addedAtMs: nowMs,
      source: "invitation",
      invitation: invitationTerms(caller.actor, nowMs),
    };
    people.putMember(row);
    const wire = memberWire(row, user);
    sendTo(deps, caller, { user, role: granted, orgName: org.name });
    trail.audit.note(caller, { act: "member.add", target: user.id, after: wire });
    trail.events.emit(memberAdded, org.id, wire);
    return wire;
  });
}

function countInvitation({ invitationCounts, quotas }: MemberOperationDeps, orgId: string): void {
  const what = "invitations of an organisation a day";
  invitationCounts.add(quotas, "invitations_per_day", [orgId], what, "Ask tomorrow.");
}

interface Invited {
  readonly user: UserRow;
  readonly role: Role;
  readonly orgName: string;
}

/** Call in the act. */
function sendTo(deps: MemberOperationDeps, caller: Caller, { user, role: given, orgName }: Invited): void {
  const { accounts, sendInvitation } = deps;
  const invitedBy = accounts.people.user(caller.actor.id)?.email ?? "";
  const inviterId = personBehind(accounts, caller) ?? "";
  const { id: userId, email } = user;
  sendInvitation({ orgId: caller.orgId, orgName, userId, email, role: given, invitedBy, inviterId });
}

/** The invitation keeps its id, so that the link of the first mail works on; whoever sends it again answers for it. */
async function inviteAgain(deps: MemberOperationDeps, caller: Caller, userId: string) {
  const { accounts, clock, trail } = deps;
  return await accounts.act(() => {
    const org = accounts.mustOpenOrg(caller.orgId);
    assertMayChange(caller, "live");
    const old = memberNamed(deps, caller, userId);
    const user = userOf(deps, old);
    assertMayGrantRole(accounts, caller, old.role);
    if (!isInvitation(old, user)) throw fail("state", "No invitation waits for this person.");
    countInvitation(deps, org.id);
    const nowMs = clock.now();
    const row: MemberRow = { ...old, invitation: invitationTerms(caller.actor, nowMs) };
    accounts.people.putMember(row);
    sendTo(deps, caller, { user, role: old.role, orgName: org.name });
    trail.audit.note(caller, { act: "member.invite_again", target: userId });
    return listedMemberWire(deps, row, user, nowMs);
  });
}

const memberNamed = ({ accounts }: MemberOperationDeps, { orgId }: Caller, userId: string): MemberRow =>
  mustExist(accounts.people.member(orgId, userId), "member");

/** @throws WeirError `state` for a member whom the org's directory manages */
function assertByHand({ hasDirectory }: MemberOperationDeps, { orgId, source }: MemberRow): void {
  if (source !== "directory" || !hasDirectory(orgId)) return;
  throw fail(
    "state",
    "The organisation's directory (SCIM) manages this member: change them there, or revoke its token first.",
    { details: { managed_by: "directory" } },
  );
}

/** Call in the act, before the write: of two owners who leave at once, one stays. @throws WeirError `last_owner` */
function assertOwnerStays({ accounts }: MemberOperationDeps, { orgId, userId, role }: MemberRow): void {
  if (role !== "owner") return;
  const { people } = accounts;
  for (const other of people.withRole(orgId, "owner"))
    if (other.userId !== userId && people.user(other.userId)?.status === "active") return;
  throw fail("last_owner", "An organisation needs an owner who has signed in. Make somebody else one first.");
}

async function updateMember(deps: MemberOperationDeps, caller: Caller, userId: string, role: Role) {
  const { accounts, trail } = deps;
  return await accounts.act(() => {
    const old = memberNamed(deps, caller, userId);
    assertMayChange(caller, "live");
    assertByHand(deps, old);
    assertMayGrantRole(accounts, caller, old.role);
    assertMayGrantRole(accounts, caller, role);
    if (role !== "owner") assertOwnerStays(deps, old);
    // An invited person is asked when they accept: an org does not learn from a refusal what others sent to the address.
    else if (old.role !== "owner" && userOf(deps, old).status !== "invited")
      assertMayOwn(accounts.people, userId, deps.maxOrgsOfPerson);
    if (role !== old.role) {
      accounts.people.putMember(withRole(deps, caller, old, role));
      endPlaygroundKeys(accounts, old, role, deps.clock.now());
      const [before, after] = [{ role: old.role }, { role }];
      trail.audit.note(caller, { act: "member.update", target: userId, before, after });
    }
    return { org_id: old.orgId, user_id: userId, role };
  });
}

/**
 * Whoever gives an invited person another role answers for the invitation from now on. A directory never has a say over owners: the
 * membership is no longer its own, and one that waits is an invitation.
 */
function withRole(deps: MemberOperationDeps, { actor }: Caller, old: MemberRow, role: Role): MemberRow {
  const { invitation } = old;
  if (role !== "owner" || old.source !== "directory")
    return { ...old, role, ...(invitation && { invitation: { ...invitation, by: actor } }) };
  const isWaiting = userOf(deps, old).status === "invited";
  const terms = isWaiting ? { invitation: invitationTerms(actor, deps.clock.now()) } : {};
  return { ...old, role, source: "invitation", ...terms };
}

async function removeMember(deps: MemberOperationDeps, caller: Caller, userId: string, revokesKeys: boolean) {
  const { accounts, trail } = deps;
  const { people } = accounts;
  return await accounts.act(() => {
    const row = memberNamed(deps, caller, userId);
    assertMayChange(caller, "live");
    assertByHand(deps, row);
    const isLeaving = caller.actor.kind === "person" && caller.actor.id === userId;
    // The route is open to every member, because each may leave.
    if (!isLeaving) assertMayRemove(accounts, caller, row.role);
    assertOwnerStays(deps, row);
    const wire = memberWire(row, userOf(deps, row));
    people.removeMember(row);
    const revoked = revokesKeys ? revokeKeysOf(deps, caller, row) : [];
    revoked.push(...endPlaygroundKeys(accounts, row, undefined, deps.clock.now()));
    const user = userOf(deps, row);
    // An address that nobody has invited any more is not kept.
    if (user.status === "invited" && people.membershipsOf(userId).length === 0) people.removeUser(user);
    const after = { keys_revoked: revoked };
    trail.audit.note(caller, { act: "member.remove", target: userId, before: wire, after });
    trail.events.emit(memberRemoved, row.orgId, wire);
    return undefined;
  });
}

/**
 * Keys that the person made, and those that keys of theirs made: else a key made by a key would outlive its maker.
 * @throws WeirError `role` or `scope`, where the caller could not revoke one of them: leaving without them is always possible
 */
function revokeKeysOf(
  { accounts, clock }: MemberOperationDeps,
  caller: Caller,
  { orgId, userId }: MemberRow,
): string[] {
  const nowMs = clock.now();
  const working = accounts.workingKeys(orgId, nowMs).filter((key) => isMadeFor(key, userId));
  for (const key of working) assertMayActOn(caller, key);
  const revoked = working.map((key) => revokedKey(key, nowMs));
  assertKeyMakerStays(accounts, orgId, revoked, nowMs);
  for (const key of revoked) accounts.replaceKey(key);
  return revoked.map(({ id }) => id);
}
