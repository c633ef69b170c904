/** What the room of accounts removes of an org that is erased: people, keys' names, projects' names, tickets, credentials. */
import { nextTurn } from "../../base/clock.ts";
import { type KeyRow, revokedKey } from "../key.ts";
import { isOfPlayground, type KeyPosition } from "../key-tables.ts";
import type { MemberRow, UserRow } from "../person.ts";
import type { AccountTables } from "../tables.ts";
import type { TicketRow } from "../tickets/ticket.ts";
import type { Tickets } from "../tickets/tickets.ts";
import type { ErasureStep, Position } from "./erasure-steps.ts";

export interface AccountErasureDeps {
  readonly accounts: AccountTables;
  readonly tickets: Tickets;
  readonly now: () => number;
  /** Port: in an act, forgets the sessions of a person. */
  readonly forgetSessions: (userId: string) => void;
}

export function accountErasure(deps: AccountErasureDeps): ErasureStep[] {
  const { accounts, tickets } = deps;
  return [
    { name: "provider keys", erase: (orgId, most) => eraseProviderKeys(accounts, orgId, most) },
    {
      name: "keys",
      walk: (orgId, most, after) =>
        walked(
          accounts.keysByAge(orgId, after as KeyPosition | undefined, "any"),
          most,
          (row) => eraseKey(deps, row),
          (row) => [row.createdAtMs, row.id],
        ),
    },
    {
      name: "projects",
      // Deleted ones too, which no list of the org has: projects of all orgs are looked at.
      walk: (orgId, most, after) =>
        walked(accounts.allProjects(after as string | undefined), most, (row) => {
          if (row.orgId === orgId && row.name !== "") accounts.eraseProject(row);
        }),
    },
    {
      name: "tickets",
      walk: (orgId, most, after) =>
        walked(tickets.of(orgId, after as string | undefined), most, (row) => eraseTicket(tickets, row)),
    },
    { name: "members", erase: (orgId, most) => eraseMembers(deps, orgId, most) },
  ];
}

function eraseProviderKeys(accounts: AccountTables, orgId: string, most: number): boolean {
  const rows = accounts.providerKeysOf(orgId);
  for (const { id } of rows.slice(0, most)) accounts.removeProviderKey(orgId, id);
  return rows.length > most;
}

/**
 * Looks at the next rows of a list. @param rows strictly behind the position, read lazily
 * @returns where to go on; undefined: that was all
 */
function walked<R extends { readonly id: string }>(
  rows: Iterable<R>,
  most: number,
  look: (row: R) => void,
  positionOf: (row: R) => Position = ({ id }) => id,
): Position | undefined {
  let left = most;
  for (const row of rows) {
    look(row);
    if (--left === 0) return positionOf(row);
  }
  return undefined;
}

/** The row stays, because records name it; it is revoked for good. */
function eraseKey({ accounts, now }: AccountErasureDeps, row: KeyRow): void {
  if (row.isRevoked && row.name === "") return;
  if (isOfPlayground(row)) accounts.removePlaygroundOwner(row);
  accounts.replaceKey({ ...revokedKey(row, row.revokedAtMs ?? now()), name: "" });
}

/** Amounts stay; what somebody wrote goes. */
function eraseTicket(tickets: Tickets, row: TicketRow): void {
  if (row.subject === "" && row.createdBy === "") return;
  const kept = Object.entries(row.body).filter(([, value]) => typeof value !== "string");
  tickets.put({
    ...row,
    subject: "",
    createdBy: "",
    answer: "",
    body: Object.fromEntries(kept),
    status: row.status === "open" ? "closed" : row.status,
  });
}

function eraseMembers(deps: AccountErasureDeps, orgId: string, most: number): boolean {
  const members = deps.accounts.people.membersAfter(orgId, "", most + 1);
  for (const member of members.slice(0, most)) eraseMember(deps, member);
  return members.length > most;
}

/** Read at once, before the event loop may run again. */
const PAGE = 50;

/** Members who are in no other org: nothing of them stays. */
export async function* peopleOnlyOf({ people }: AccountTables, orgId: string): AsyncGenerator<UserRow> {
  for (let after = ""; ; await nextTurn()) {
    const page = people.membersAfter(orgId, after, PAGE);
    for (const { userId } of page) {
      const user = people.membershipsOf(userId).length === 1 ? people.user(userId) : undefined;
      if (user !== undefined) yield user;
    }
    if (page.length < PAGE) return;
    after = page.at(-1)?.userId ?? "";
  }
}

/** A person who is a member of another org keeps their row; of any other person only the id is kept. */
function eraseMember({ accounts: { people }, forgetSessions }: AccountErasureDeps, member: MemberRow): void {
  people.removeMember(member);
  const user = people.user(member.userId);
  if (user === undefined || people.membershipsOf(user.id).length > 0) return;
  forgetSessions(user.id);
  people.putUser(erasedUser(user));
}

const erasedUser = ({ id, createdAtMs }: UserRow): UserRow => ({
  id,
  createdAtMs,
  iss: "",
  sub: "",
  email: "",
  name: "",
  isEmailVerified: false,
  status: "erased",
});
