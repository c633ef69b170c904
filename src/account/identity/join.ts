/** A membership that waited for somebody becomes that person's. */

import type { Caller } from "../../base/operation/operation.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { MemberRow, UserRow } from "../person.ts";
import type { AccountTables } from "../tables.ts";

export interface DirectoryLinks {
  /** Memberships, still of invited people, whose directory knows them by this subject of the provider. */
  waitingFor(sub: string): readonly MemberRow[];
  /** In an act: a membership is now another person's. */
  moved(orgId: string, fromId: string, toId: string): void;
}

export interface JoinDeps {
  readonly accounts: AccountTables;
  readonly trail: Trail;
  /** Port: orgs' directories. */
  readonly directories: DirectoryLinks;
}

/**
 * In an act. A person who is a member already stays one with the role that they have; an invited person without any membership
 * is not kept.
 * @param changes of the row
 * @returns the person's row, and whether they are new in the org
 */
export function join(
  { accounts, directories, trail }: JoinDeps,
  caller: Caller,
  waiting: MemberRow,
  user: UserRow,
  changes: Partial<MemberRow> = {},
): { member: MemberRow; isNew: boolean } {
  const { people } = accounts;
  const { invitation: _, ...rest } = waiting;
  const member: MemberRow = { ...rest, ...changes, userId: user.id };
  if (waiting.userId !== user.id) {
    people.removeMember(waiting);
    directories.moved(waiting.orgId, waiting.userId, user.id);
    const invited = people.user(waiting.userId);
    if (invited !== undefined && people.membershipsOf(invited.id).length === 0) people.removeUser(invited);
    const known = people.member(waiting.orgId, user.id);
    if (known !== undefined) return { member: known, isNew: false };
    people.putMember(member);
  }
  trail.audit.note(caller, {
    act: "member.join",
    target: user.id,
    after: { role: member.role, email: user.email },
    orgId: member.orgId,
  });
  return { member, isNew: true };
}
