/**
 * What a directory's users mean for the org's members. A directory adds members, sets their roles and removes them; a membership
 * that was made by hand is never its own, and what people have in other orgs it cannot reach. Call all of it in an act.
 */

import type { Clock } from "../../base/clock.ts";
import type { Caller } from "../../base/operation/operation.ts";
import type { Trail } from "../../store/events/trail.ts";
import { memberAdded, memberRemoved } from "../account-events.ts";
import { sameEmail } from "../fields/email.ts";
import { endPlaygroundKeys } from "../keys/playground-key.ts";
import { invitedUser, type MemberRow, memberWire, type UserRow } from "../person.ts";
import type { AccountTables } from "../tables.ts";
import { scimFail, scimStatus } from "./error.ts";
import { roleOfGroups } from "./roles.ts";
import { addressOf, type ScimUserRow } from "./rows.ts";
import type { ScimTables } from "./tables.ts";

export interface MembershipDeps {
  readonly accounts: AccountTables;
  readonly tables: ScimTables;
  readonly clock: Clock;
  readonly trail: Trail;
  /** Port, called in an act: ends all sessions of a person. */
  readonly endSessions: (personId: string) => void;
}

/**
 * Brings the membership in line with the user, after a change of either.
 * @returns the row with the person whom it stands for now
 * @throws ScimError 409 if the membership was made by hand and the user is not active, or if another user has the address
 */
export function settleMembership(deps: MembershipDeps, caller: Caller, row: ScimUserRow): ScimUserRow {
  if (!row.attributes.active) return withdraw(deps, caller, row);
  const known = { ...row, personId: personStill(deps, caller, row) };
  const person = personOf(deps, known);
  const other = deps.tables.userByPerson(row.orgId, person.id);
  if (other !== undefined && other.id !== row.id) {
    throw scimFail("uniqueness", "Another user of the directory has this e-mail address.");
  }
  const { people } = deps.accounts;
  if (people.user(person.id) === undefined) people.putUser(person);
  const linked = { ...known, personId: person.id };
  if (people.member(row.orgId, person.id) === undefined) add(deps, caller, linked, person);
  else settleRole(deps, caller, linked);
  return linked;
}

/** Gives a member of the directory the role of their groups. */
export function settleRole(deps: MembershipDeps, caller: Caller, row: ScimUserRow): void {
  const { orgId, personId } = row;
  const { people } = deps.accounts;
  const member = people.member(orgId, personId);
  if (member?.source !== "directory") return;
  const role = roleFor(deps, row);
  if (role === member.role) return;
  people.putMember({ ...member, role });
  endPlaygroundKeys(deps.accounts, member, role, deps.clock.now());
  const [before, after] = [{ role: member.role }, { role }];
  deps.trail.audit.note(caller, { act: "member.update", target: personId, before, after, orgId });
}

/**
 * Ends the membership that the directory made, and the person's sessions if they are in no other org.
 * @returns the row without the person, if nobody knows them any more
 * @throws ScimError 409 if the membership was made by hand: whoever reads the answer must not think that it has ended
 */
export function withdraw(deps: MembershipDeps, caller: Caller, row: ScimUserRow): ScimUserRow {
  const { people } = deps.accounts;
  const person = people.user(row.personId);
  const member = person && people.member(row.orgId, person.id);
  if (person === undefined || member === undefined) return row;
  if (member.source !== "directory") {
    throw scimStatus(
      409,
      member.role === "owner"
        ? "This person is an owner of the organisation. Hand the ownership over in the console first."
        : "This person was made a member by hand. Remove them in the console first.",
    );
  }
  return { ...row, personId: end(deps, caller, member, person) };
}

/** @returns the person's id; empty if they are gone with their last invitation */
function end(deps: MembershipDeps, caller: Caller, member: MemberRow, person: UserRow): string {
  const { accounts, trail, endSessions } = deps;
  const { people } = accounts;
  const before = memberWire(member, person);
  people.removeMember(member);
  endPlaygroundKeys(accounts, member, undefined, deps.clock.now());
  const { orgId } = member;
  trail.audit.note(caller, { act: "member.remove", target: person.id, before, orgId });
  trail.events.emit(memberRemoved, orgId, before);
  if (people.membershipsOf(person.id).length > 0) return person.id;
  endSessions(person.id);
  if (person.status !== "invited") return person.id;
  // An address that nobody has invited any more is not kept.
  people.removeUser(person);
  return "";
}

function add(deps: MembershipDeps, caller: Caller, row: ScimUserRow, person: UserRow): void {
  const { accounts, clock, trail } = deps;
  const { orgId } = row;
  const member: MemberRow = {
    orgId,
    userId: person.id,
    role: roleFor(deps, row),
    addedAtMs: clock.now(),
    source: "directory",
  };
  accounts.people.putMember(member);
  const after = memberWire(member, person);
  trail.audit.note(caller, { act: "member.add", target: person.id, after, orgId });
  trail.events.emit(memberAdded, orgId, after);
}

const roleFor = ({ tables }: MembershipDeps, row: ScimUserRow) =>
  roleOfGroups(tables.groupsOf(row).map(({ attributes }) => attributes.displayName));

/** The person of the row; empty if the row now stands for somebody else: the address of one who never signed in changed. */
function personStill(deps: MembershipDeps, caller: Caller, row: ScimUserRow): string {
  const { people } = deps.accounts;
  const person = people.user(row.personId);
  if (person === undefined || person.status === "erased") return "";
  if (person.status !== "invited" || sameEmail(person.email, addressOf(row.attributes))) return person.id;
  const member = people.member(row.orgId, person.id);
  if (member?.source === "directory") end(deps, caller, member, person);
  return "";
}

/** Whom the row stands for: as before, a member with the address, or who is invited by it; a new person if nobody is. */
function personOf({ accounts, clock }: MembershipDeps, row: ScimUserRow): UserRow {
  const { people } = accounts;
  const address = addressOf(row.attributes);
  const id = row.personId === "" ? people.memberByEmail(row.orgId, address)?.userId : row.personId;
  const known = id === undefined ? undefined : people.user(id);
  return known ?? people.invitedByEmail(address) ?? invitedUser(address, clock.now());
}
