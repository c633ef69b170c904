/**
 * What directories know of who signs in: the port of `identity`. A directory's externalId that equals the subject of the identity
 * provider joins the two, whatever the addresses say. It moves memberships of that directory's org and no others.
 */
import type { MemberRow } from "../person.ts";
import type { AccountTables } from "../tables.ts";
import type { ScimTables } from "./tables.ts";

/** As the subjects of OpenID Connect: section 2 of its core. */
const MAX_SUBJECT = 255;

export class SignInLinks {
  readonly #tables: ScimTables;
  readonly #accounts: AccountTables;

  constructor(tables: ScimTables, accounts: AccountTables) {
    this.#tables = tables;
    this.#accounts = accounts;
  }

  /** Memberships of invited people whose directory knows them by this subject. */
  waitingFor(sub: string): MemberRow[] {
    if (sub === "" || sub.length > MAX_SUBJECT) return [];
    const { people } = this.#accounts;
    return this.#tables.waitingFor(sub).flatMap(({ orgId, personId }) => {
      const member = people.member(orgId, personId);
      const isWaiting = member?.source === "directory" && people.user(personId)?.status === "invited";
      return isWaiting ? [member] : [];
    });
  }

  /** In an act: a membership is now another person's, and so is the directory's user. */
  moved(orgId: string, fromId: string, toId: string): void {
    const row = this.#tables.userByPerson(orgId, fromId);
    if (row === undefined) return;
    // Another user of the directory may stand for the person already.
    const isTaken = this.#tables.userByPerson(orgId, toId) !== undefined;
    this.#tables.putUser({ ...row, personId: isTaken ? "" : toId });
  }
}
