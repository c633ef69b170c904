/** What the room of accounts removes of an org that is erased: people, keys' names, projects' names, tickets, credentials. */
import type { ErasureStep } from "./erasure.ts";
import { revokedKey } from "./key.ts";
import type { MemberRow, UserRow } from "./person.ts";
import type { AccountTables } from "./tables.ts";
import type { Tickets } from "./tickets.ts";

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
    { name: "keys", erase: (orgId, most) => eraseKeys(deps, orgId, most) },
    { name: "projects", erase: (orgId, most) => eraseProjects(accounts, orgId, most) },
    { name: "tickets", erase: (orgId, most) => eraseTickets(tickets, orgId, most) },
    { name: "members", erase: (orgId, most) => eraseMembers(deps, orgId, most) },
  ];
}

function eraseProviderKeys(accounts: AccountTables, orgId: string, most: number): boolean {
  const rows = accounts.providerKeysOf(orgId);
  for (const { id } of rows.slice(0, most)) accounts.removeProviderKey(orgId, id);
  return rows.length > most;
}

/** The rows stay, because records name them; each is revoked for good. */
function eraseKeys({ accounts, now }: AccountErasureDeps, orgId: string, most: number): boolean {
  let left = most;
  for (const row of accounts.keysByAge(orgId)) {
    if (row.isRevoked && row.name === "") continue;
    if (left-- === 0) return true;
    accounts.replaceKey({ ...revokedKey(row, row.revokedAtMs ?? now()), name: "" });
  }
  return false;
}

function eraseProjects(accounts: AccountTables, orgId: string, most: number): boolean {
  const ids = new Set([
    ...accounts.projectsOf(orgId).map(({ id }) => id),
    // Deleted projects are in no list; their keys name them.
    ...Array.from(accounts.keysByAge(orgId), ({ projectId }) => projectId),
  ]);
  const named = [...ids].flatMap((id) => accounts.project(id) ?? []).filter(({ name }) => name !== "");
  for (const row of named.slice(0, most)) accounts.eraseProject(row);
  return named.length > most;
}

/** Amounts stay; what somebody wrote goes. */
function eraseTickets(tickets: Tickets, orgId: string, most: number): boolean {
  let left = most;
  for (const row of tickets.of(orgId)) {
    if (row.subject === "" && row.createdBy === "") continue;
    if (left-- === 0) return true;
    const kept = Object.entries(row.body).filter(([, value]) => typeof value !== "string");
    tickets.put({
      ...row,
      ...{ subject: "", createdBy: "", answer: "", body: Object.fromEntries(kept) },
      status: row.status === "open" ? "closed" : row.status,
    });
  }
  return false;
}

function eraseMembers(deps: AccountErasureDeps, orgId: string, most: number): boolean {
  const { people } = deps.accounts;
  const members = people.membersOf(orgId);
  for (const member of members.slice(0, most)) eraseMember(deps, member);
  return members.length > most;
}

/** Members who are in no other org: nothing of them stays. */
export function peopleOnlyOf({ people }: AccountTables, orgId: string): UserRow[] {
  return people
    .membersOf(orgId)
    .filter(({ userId }) => people.membershipsOf(userId).length === 1)
    .flatMap(({ userId }) => people.user(userId) ?? []);
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
  ...{ id, createdAtMs, iss: "", sub: "", email: "", name: "" },
  isEmailVerified: false,
  status: "erased",
});
