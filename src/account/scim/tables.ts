/**
 * Tables of directories, and the indexes that must match their rows. Methods that put or remove must be called in an act.
 * All but one are read within one org; `waitingFor` finds by the subject of a sign-in.
 */

import { isDeepStrictEqual } from "node:util";
import { sliced } from "../../base/lists.ts";
import type { Table } from "../../store/store.ts";
import { PAST_IDS } from "../../store/tables/key-order.ts";
import { StoreTables } from "../../store/tables/store-tables.ts";
import { foldCase } from "./attribute.ts";
import type { ScimGroupRow, ScimUserRow } from "./rows.ts";

/** Rows that share an externalId or a displayName; directories have one. */
const MOST_ALIKE = 100;

export interface Counts {
  readonly users: number;
  readonly groups: number;
}

type Key = (string | number)[];

export class ScimTables extends StoreTables {
  /** [org id, user id]. */
  readonly #users = this.store.table<ScimUserRow>("scim.users");
  /** [org id, userName in lower case] → user id. */
  readonly #userByName = this.store.table<string>("scim.user_by_name");
  /** [externalId, org id, user id]. */
  readonly #userByExternalId = this.store.table<true>("scim.user_by_external_id");
  /** [org id, person id] → user id. */
  readonly #userByPerson = this.store.table<string>("scim.user_by_person");
  /** [org id, group id]. */
  readonly #groups = this.store.table<ScimGroupRow>("scim.groups");
  /** [org id, displayName in lower case, group id]. */
  readonly #groupByName = this.store.table<true>("scim.group_by_name");
  /** [org id, externalId, group id]. */
  readonly #groupByExternalId = this.store.table<true>("scim.group_by_external_id");
  /** [org id, group id, user id]. */
  readonly #members = this.store.table<true>("scim.members");
  readonly #counts = this.store.table<Counts>("scim.counts");

  counts(orgId: string): Counts {
    return this.#counts.get(orgId) ?? { users: 0, groups: 0 };
  }

  user(orgId: string, id: string): ScimUserRow | undefined {
    return this.#users.get([orgId, id]);
  }

  userByName(orgId: string, userName: string): ScimUserRow | undefined {
    const id = this.#userByName.get([orgId, foldCase(userName)]);
    return id === undefined ? undefined : this.user(orgId, id);
  }

  userByPerson(orgId: string, personId: string): ScimUserRow | undefined {
    const id = this.#userByPerson.get([orgId, personId]);
    return id === undefined ? undefined : this.user(orgId, id);
  }

  usersByExternalId(orgId: string, externalId: string): ScimUserRow[] {
    return rowsOf(lastParts(this.#userByExternalId, [externalId, orgId], MOST_ALIKE), (id) =>
      this.user(orgId, id),
    );
  }

  /** Users of all orgs with this externalId. */
  waitingFor(externalId: string): ScimUserRow[] {
    const range = { start: [externalId], end: [externalId, PAST_IDS], limit: MOST_ALIKE };
    const keys = Array.from(
      this.#userByExternalId.range(range),
      ({ key }) => key as [string, string, string],
    );
    return rowsOf(keys, ([, orgId, id]) => this.user(orgId, id));
  }

  /** In the order in which they were made, strictly after `after`. Read lazily. */
  usersAfter(orgId: string, after = ""): Iterable<ScimUserRow> {
    return rowsAfter(this.#users, orgId, after);
  }

  putUser(row: ScimUserRow): void {
    const before = this.user(row.orgId, row.id);
    if (before === undefined) this.#count(row.orgId, { users: 1 });
    this.#users.put([row.orgId, row.id], row);
    // Most changes are of what no index knows, such as the groups.
    if (before !== undefined && isFoundAlike(before, row)) return;
    if (before !== undefined) this.#unlistUser(before);
    const { orgId, id, attributes, personId } = row;
    this.#userByName.put([orgId, foldCase(attributes.userName)], id);
    if (attributes.externalId !== undefined)
      this.#userByExternalId.put([attributes.externalId, orgId, id], true);
    if (personId !== "") this.#userByPerson.put([orgId, personId], id);
  }

  removeUser(row: ScimUserRow): void {
    this.#unlistUser(row);
    this.#users.remove([row.orgId, row.id]);
    this.#count(row.orgId, { users: -1 });
  }

  #unlistUser({ orgId, id, attributes, personId }: ScimUserRow): void {
    this.#userByName.remove([orgId, foldCase(attributes.userName)]);
    if (attributes.externalId !== undefined)
      this.#userByExternalId.remove([attributes.externalId, orgId, id]);
    if (personId !== "") this.#userByPerson.remove([orgId, personId]);
  }

  group(orgId: string, id: string): ScimGroupRow | undefined {
    return this.#groups.get([orgId, id]);
  }

  groupsByName(orgId: string, displayName: string): ScimGroupRow[] {
    const groupIds = lastParts(this.#groupByName, [orgId, foldCase(displayName)], MOST_ALIKE);
    return this.groupsOf({ orgId, groupIds });
  }

  groupsByExternalId(orgId: string, externalId: string): ScimGroupRow[] {
    const groupIds = lastParts(this.#groupByExternalId, [orgId, externalId], MOST_ALIKE);
    return this.groupsOf({ orgId, groupIds });
  }

  /** In the order in which they were made, strictly after `after`. Read lazily. */
  groupsAfter(orgId: string, after = ""): Iterable<ScimGroupRow> {
    return rowsAfter(this.#groups, orgId, after);
  }

  putGroup(row: ScimGroupRow): void {
    const before = this.group(row.orgId, row.id);
    if (before === undefined) this.#count(row.orgId, { groups: 1 });
    this.#groups.put([row.orgId, row.id], row);
    if (before !== undefined && isDeepStrictEqual(before.attributes, row.attributes)) return;
    if (before !== undefined) this.#unlistGroup(before);
    const { orgId, id, attributes } = row;
    this.#groupByName.put([orgId, foldCase(attributes.displayName), id], true);
    if (attributes.externalId !== undefined)
      this.#groupByExternalId.put([orgId, attributes.externalId, id], true);
  }

  /** Its members must be removed before. */
  removeGroup(row: ScimGroupRow): void {
    this.#unlistGroup(row);
    this.#groups.remove([row.orgId, row.id]);
    this.#count(row.orgId, { groups: -1 });
  }

  #unlistGroup({ orgId, id, attributes }: ScimGroupRow): void {
    this.#groupByName.remove([orgId, foldCase(attributes.displayName), id]);
    if (attributes.externalId !== undefined)
      this.#groupByExternalId.remove([orgId, attributes.externalId, id]);
  }

  isMember(orgId: string, groupId: string, userId: string): boolean {
    return this.#members.get([orgId, groupId, userId]) === true;
  }

  /** Ids of at most `most` users, strictly after `after`. */
  membersAfter(orgId: string, groupId: string, most: number, after = ""): string[] {
    return lastParts(this.#members, [orgId, groupId], most, after);
  }

  groupsOf({ orgId, groupIds }: Pick<ScimUserRow, "orgId" | "groupIds">): ScimGroupRow[] {
    return rowsOf(groupIds, (id) => this.group(orgId, id));
  }

  /** The user's row and the group's count are their caller's to change. */
  putMember(orgId: string, groupId: string, userId: string): void {
    this.#members.put([orgId, groupId, userId], true);
  }

  removeMember(orgId: string, groupId: string, userId: string): void {
    this.#members.remove([orgId, groupId, userId]);
  }

  /** An org's users, groups and who is in them, without their memberships in the org. @returns whether more are left */
  erase(orgId: string, most: number): boolean {
    const [users = []] = sliced(this.usersAfter(orgId), most);
    for (const row of users) {
      for (const groupId of row.groupIds) this.removeMember(orgId, groupId, row.id);
      this.removeUser(row);
    }
    if (users.length >= most) return true;
    const [groups = []] = sliced(this.groupsAfter(orgId), most - users.length);
    for (const row of groups) this.removeGroup(row);
    return users.length + groups.length >= most;
  }

  #count(orgId: string, { users = 0, groups = 0 }: Partial<Counts>): void {
    const before = this.counts(orgId);
    this.#counts.put(orgId, { users: before.users + users, groups: before.groups + groups });
  }
}

const isFoundAlike = (one: ScimUserRow, other: ScimUserRow): boolean =>
  one.personId === other.personId &&
  one.attributes.userName === other.attributes.userName &&
  one.attributes.externalId === other.attributes.externalId;

function* rowsAfter<R extends { readonly id: string }>(
  table: Table<R>,
  orgId: string,
  after: string,
): Generator<R> {
  for (const { value } of table.range({ start: [orgId, after], end: [orgId, PAST_IDS] }))
    if (value.id !== after) yield value;
}

/** The last parts of the keys of a group, in order, strictly after `after`. */
function lastParts(index: Table<true>, group: Key, most: number, after = ""): string[] {
  const range = { start: [...group, after], end: [...group, PAST_IDS], limit: most + 1 };
  const parts = Array.from(index.range(range), ({ key }) => (key as Key).at(-1) as string);
  return parts.filter((part) => part !== after).slice(0, most);
}

const rowsOf = <K, R>(keys: readonly K[], read: (key: K) => R | undefined): R[] =>
  keys.map(read).filter((row) => row !== undefined);
