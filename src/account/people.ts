/**
 * Tables of people and memberships, and the indexes that must match their rows. Methods that write must be called in an act.
 */

import { firstOf, sliced } from "../base/lists.ts";
import type { Store } from "../store/store.ts";
import { PAST_IDS } from "../store/tables/key-order.ts";
import { StoreTables } from "../store/tables/store-tables.ts";
import { emailNormalForm } from "./fields/email.ts";
import type { MemberRow, UserRow } from "./person.ts";
import type { Role } from "./roles.ts";

/** People with one address: a provider gives it to somebody else in time. */
const MOST_NAMESAKES = 100;

export type AdministratorRole = Extract<Role, "owner" | "admin">;

const isAdministrator = ({ role }: MemberRow): boolean => role === "owner" || role === "admin";
const keyOf = ({ orgId, role, userId }: MemberRow): [string, string, string] => [orgId, role, userId];
const ROWS_AN_ACT = 500;

export class People extends StoreTables {
  readonly #users = this.store.table<UserRow>("account.users");
  /** [iss, sub] → user id. */
  readonly #bySubject = this.store.table<string>("account.user_by_subject");
  /** E-mail → id of an invited user. A person who has signed in is not in here: addresses do not identify people. */
  readonly #invited = this.store.table<string>("account.invited_users");
  /** [e-mail, user id] of all people, for whoever knows the org: an address alone says who nobody is. */
  readonly #byEmail = this.store.table<true>("account.users_by_email");
  /** [org id, user id]. */
  readonly #members = this.store.table<MemberRow>("account.members");
  /** [org id, role, user id] of owners and admins: an org may have thousands of other members. */
  readonly #administrators = this.store.table<true>("account.administrators");
  /** [user id, org id]. */
  readonly #orgsOf = this.store.table<true>("account.orgs_of_users");

  /**
   * Call before anything else where the folder may be of a release that had no list of owners and admins: makes it, once. If it is
   * interrupted, the next start does it again.
   */
  async listAdministrators(store: Pick<Store, "table" | "act">): Promise<void> {
    const listed = store.table<true>("account.administrators_listed");
    if (listed.get("all") !== undefined) return;
    const administrators = Array.from(this.#members.range(), ({ value }) => value).filter(isAdministrator);
    for (const rows of sliced(administrators, ROWS_AN_ACT)) {
      await store.act(() => {
        for (const row of rows) this.#administrators.put(keyOf(row), true);
      });
    }
    await store.act(() => listed.put("all", true));
  }

  user(id: string): UserRow | undefined {
    return this.#users.get(id);
  }

  bySubject(iss: string, sub: string): UserRow | undefined {
    const id = this.#bySubject.get([iss, sub]);
    return id === undefined ? undefined : this.#users.get(id);
  }

  invitedByEmail(email: string): UserRow | undefined {
    const id = this.#invited.get(emailNormalForm(email));
    return id === undefined ? undefined : this.#users.get(id);
  }

  /** The member of an org with this address: an invited one, or one whose provider vouches for it. Reads few rows. */
  memberByEmail(orgId: string, email: string): MemberRow | undefined {
    const normal = emailNormalForm(email);
    const range = { start: [normal], end: [normal, PAST_IDS], limit: MOST_NAMESAKES };
    for (const { key } of this.#byEmail.range(range)) {
      const user = this.#users.get((key as [string, string])[1]);
      const member = user && this.member(orgId, user.id);
      if (member !== undefined && (user?.status === "invited" || user?.isEmailVerified)) return member;
    }
    return undefined;
  }

  /** Adds or replaces a user. */
  putUser(row: UserRow): void {
    const before = this.#users.get(row.id);
    if (before !== undefined) this.#unlist(before);
    this.#users.put(row.id, row);
    if (row.sub !== "") this.#bySubject.put([row.iss, row.sub], row.id);
    const email = emailNormalForm(row.email);
    if (row.status === "invited") this.#invited.put(email, row.id);
    if (email !== "") this.#byEmail.put([email, row.id], true);
  }

  removeUser(row: UserRow): void {
    this.#unlist(row);
    this.#users.remove(row.id);
  }

  #unlist(row: UserRow): void {
    if (row.sub !== "") this.#bySubject.remove([row.iss, row.sub]);
    const email = emailNormalForm(row.email);
    if (row.status === "invited") this.#invited.remove(email);
    if (email !== "") this.#byEmail.remove([email, row.id]);
  }

  member(orgId: string, userId: string): MemberRow | undefined {
    return this.#members.get([orgId, userId]);
  }

  /** In the order in which their users were made. */
  membersOf(orgId: string): MemberRow[] {
    return Array.from(this.#members.range({ start: [orgId], end: [orgId, PAST_IDS] }), ({ value }) => value);
  }

  /** At most `most` of them, in that order, strictly after `after`. */
  membersAfter(orgId: string, after: string, most: number): MemberRow[] {
    const range = { start: [orgId, after], end: [orgId, PAST_IDS], limit: most + 1 };
    return Array.from(this.#members.range(range), ({ value }) => value)
      .filter(({ userId }) => userId !== after)
      .slice(0, most);
  }

  /** In the order in which their users were made. Read lazily; it takes no longer where the org has many other members. */
  *withRole(orgId: string, role: AdministratorRole): Generator<MemberRow, undefined> {
    for (const { key } of this.#administrators.range({
      start: [orgId, role],
      end: [orgId, role, PAST_IDS],
    })) {
      const row = this.member(orgId, (key as [string, string, string])[2]);
      if (row !== undefined) yield row;
    }
  }

  hasOwner(orgId: string): boolean {
    return firstOf(this.withRole(orgId, "owner")) !== undefined;
  }

  /** Oldest membership first. */
  membershipsOf(userId: string): MemberRow[] {
    const orgs = Array.from(
      this.#orgsOf.range({ start: [userId], end: [userId, PAST_IDS] }),
      ({ key }) => (key as [string, string])[1],
    );
    return orgs
      .map((orgId) => this.member(orgId, userId))
      .filter((row) => row !== undefined)
      .sort((a, b) => a.addedAtMs - b.addedAtMs);
  }

  /** Adds or replaces a membership. */
  putMember(row: MemberRow): void {
    const before = this.member(row.orgId, row.userId);
    if (before !== undefined && before.role !== row.role) this.#administrators.remove(keyOf(before));
    if (isAdministrator(row)) this.#administrators.put(keyOf(row), true);
    this.#members.put([row.orgId, row.userId], row);
    this.#orgsOf.put([row.userId, row.orgId], true);
  }

  removeMember({ orgId, userId }: Pick<MemberRow, "orgId" | "userId">): void {
    const row = this.member(orgId, userId);
    if (row !== undefined && isAdministrator(row)) this.#administrators.remove(keyOf(row));
    this.#members.remove([orgId, userId]);
    this.#orgsOf.remove([userId, orgId]);
  }
}
