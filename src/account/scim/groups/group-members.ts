/**
 * Who is in a group. Many members are added and removed in slices, each an act of its own, so that a large group holds nothing
 * up: a process that dies between two of them leaves the rest to the directory, which repeats what was not answered.
 */
import { nextTurn } from "../../../base/clock.ts";
import { sliced } from "../../../base/lists.ts";
import type { Caller } from "../../../base/operation/operation.ts";
import { scimFail, scimStatus } from "../error.ts";
import { type MembershipDeps, settleRole } from "../membership.ts";
import type { ScimGroupRow, ScimUserRow } from "../rows.ts";
import { MAX_MEMBERS } from "../schema.ts";

/** Members of one act: a millisecond or two. */
const MEMBERS_AT_ONCE = 16;
/** Rows of an index, which are short. */
const INDEX_SLICE = 250;
const MAX_GROUPS_OF_USER = 200;

export interface MemberChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** Ids of all members, in slices between which the process does other work. */
export async function* memberSlices(
  { tables }: MembershipDeps,
  orgId: string,
  groupId: string,
  most = INDEX_SLICE,
): AsyncGenerator<readonly string[]> {
  for (let last: string | undefined; ; ) {
    const slice = tables.membersAfter(orgId, groupId, most, last);
    if (slice.length > 0) yield slice;
    if (slice.length < most) return;
    last = slice.at(-1);
    await nextTurn();
  }
}

/** Ids of all members, read in slices. */
export async function allMembers(deps: MembershipDeps, orgId: string, groupId: string): Promise<string[]> {
  const all: string[] = [];
  for await (const slice of memberSlices(deps, orgId, groupId)) all.push(...slice);
  return all;
}

/** Those who are in the group, read in slices. */
export async function membersAmong(
  { tables }: MembershipDeps,
  group: { readonly orgId: string; readonly id: string },
  userIds: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const [at, userId] of userIds.entries()) {
    if (tables.isMember(group.orgId, group.id, userId)) found.push(userId);
    if (at % INDEX_SLICE === INDEX_SLICE - 1) await nextTurn();
  }
  return found;
}

/** Before the first act, so that of a request with an unknown user nothing is done. @throws ScimError `invalidValue` */
export async function assertUsers(
  { tables }: MembershipDeps,
  orgId: string,
  ids: readonly string[],
): Promise<void> {
  for (const [at, id] of ids.entries()) {
    if (tables.user(orgId, id) === undefined)
      throw scimFail("invalidValue", "A member is no user of the directory.");
    if (at % MEMBERS_AT_ONCE === MEMBERS_AT_ONCE - 1) await nextTurn();
  }
}

/** @throws ScimError 404 if the group goes meanwhile, `invalidValue` above the bounds */
export async function changeMembers(
  deps: MembershipDeps,
  caller: Caller,
  group: ScimGroupRow,
  { add, remove }: MemberChange,
): Promise<void> {
  const moves = [...remove.map((id) => [id, false] as const), ...add.map((id) => [id, true] as const)];
  for (const some of sliced(moves, MEMBERS_AT_ONCE))
    await deps.accounts.act(() => moveSome(deps, caller, group, some));
}

function moveSome(
  deps: MembershipDeps,
  caller: Caller,
  { orgId, id }: ScimGroupRow,
  moves: readonly (readonly [string, boolean])[],
): void {
  const { tables, clock } = deps;
  const group = tables.group(orgId, id);
  if (group === undefined) throw scimStatus(404, "There is no such group.");
  let { memberCount } = group;
  for (const [userId, isAdded] of moves) {
    const user = tables.user(orgId, userId);
    // Removed meanwhile, or there already.
    if (user === undefined || user.groupIds.includes(id) === isAdded) continue;
    if (isAdded) assertRoom(user, memberCount);
    if (isAdded) tables.putMember(orgId, id, userId);
    else tables.removeMember(orgId, id, userId);
    memberCount += isAdded ? 1 : -1;
    const groupIds = isAdded ? [...user.groupIds, id] : user.groupIds.filter((other) => other !== id);
    const changed = { ...user, groupIds, version: user.version + 1, changedAtMs: clock.now() };
    tables.putUser(changed);
    settleRole(deps, caller, changed);
  }
  if (memberCount !== group.memberCount) tables.putGroup({ ...group, memberCount });
}

function assertRoom({ groupIds }: ScimUserRow, memberCount: number): void {
  if (memberCount >= MAX_MEMBERS) {
    throw scimFail("invalidValue", `A group has at most ${MAX_MEMBERS} members.`);
  }
  if (groupIds.length < MAX_GROUPS_OF_USER) return;
  throw scimFail("invalidValue", `A user is in at most ${MAX_GROUPS_OF_USER} groups.`);
}
