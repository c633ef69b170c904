/**
 * From what an identity provider says to a person and a session. A person is (`iss`, `sub`); the e-mail address only finds the
 * invitations that are waiting for it, and only where the provider vouches for it.
 */
import type { FirstOwner } from "../account/first-owner.ts";
import type { Invitations } from "../account/invitations.ts";
import { invitedUser, type MemberRow, type UserRow } from "../account/person.ts";
import type { AccountTables } from "../account/tables.ts";
import type { Clock } from "../clock.ts";
import { fail } from "../errors.ts";
import type { Trail } from "../events/trail.ts";
import { newId } from "../ids.ts";
import type { Caller, Origin } from "../operation.ts";
import type { Claims } from "./relying-party.ts";
import type { Sessions } from "./sessions.ts";

const HOUR_MS = 3_600_000;
/** Of a person without an org. */
const USUAL_HOURS = 12;

export interface SignInDeps {
  readonly accounts: AccountTables;
  readonly sessions: Sessions;
  readonly invitations: Invitations;
  readonly firstOwner: FirstOwner;
  readonly trail: Trail;
  readonly clock: Clock;
  /** The provider's addresses are trusted although it does not say that it verified them. */
  readonly trustsEmail: boolean;
  /** Port: orgs' directories. */
  readonly directories: DirectoryLinks;
}

export interface DirectoryLinks {
  /** Memberships, still of invited people, whose directory knows them by this subject of the provider. */
  waitingFor(sub: string): readonly MemberRow[];
  /** In an act: a membership is now another person's. */
  moved(orgId: string, fromId: string, toId: string): void;
}

export interface SignIn {
  readonly claims: Claims;
  /** Secret of an invitation's link; empty without one. */
  readonly invitation: string;
  /** What was sent to prove who installed the gateway; empty for nothing. */
  readonly firstOwner: string;
  readonly requestId: string;
  readonly origin: Origin;
  /** Token of the session that the browser had: it ends. */
  readonly before: string;
}

export interface SignedIn {
  readonly token: string;
  readonly maxAgeMs: number;
}

/** One act. @throws WeirError `role` for a person whom the operator has disabled */
export async function signIn(deps: SignInDeps, given: SignIn): Promise<SignedIn> {
  const { accounts, sessions, clock } = deps;
  return await accounts.act(() => {
    const nowMs = clock.now();
    const user = personFor(deps, given, nowMs);
    if (user.status === "disabled") throw fail("role", "The operator has disabled this person.");
    const caller = actingAs(user, given);
    takeInvitations(deps, caller, user, given.invitation);
    deps.firstOwner.claim(caller, user, given.firstOwner);
    const before = sessions.find(given.before);
    if (before !== undefined) sessions.end(before);
    const maxAgeMs = longestSession(deps, user.id);
    const { claims, origin } = given;
    const token = sessions.add({
      id: newId("ses", nowMs),
      userId: user.id,
      ...{ iss: claims.iss, sid: claims.sid, amr: claims.amr, acr: claims.acr, idToken: claims.idToken },
      activeOrgId: "",
      ipPrefix: origin.ipPrefix,
      userAgent: origin.userAgent.slice(0, 200),
      createdAtMs: nowMs,
      endsAtMs: nowMs + maxAgeMs,
    });
    return { token, maxAgeMs };
  });
}

/** The person of these claims, with what the provider says now; a new one where there is none. */
function personFor(deps: SignInDeps, given: SignIn, nowMs: number): UserRow {
  const { accounts, invitations, trustsEmail } = deps;
  const { people } = accounts;
  const { iss, sub, email, name } = given.claims;
  const isEmailVerified = given.claims.isEmailVerified || trustsEmail;
  const known = people.bySubject(iss, sub);
  const said = { iss, sub, email, isEmailVerified };
  if (known !== undefined) {
    const row: UserRow = { ...known, ...said, email: email || known.email, name: name || known.name };
    people.putUser(row);
    return row;
  }
  // An invited person keeps the id that the invitation gave them.
  const byLink = invitations.userOf(given.invitation);
  const byEmail = isEmailVerified ? people.invitedByEmail(email) : undefined;
  const invited = byLink ?? byEmail ?? knownToDirectory(deps, sub);
  const row: UserRow = { ...(invited ?? invitedUser(email, nowMs)), ...said, name, status: "active" };
  people.putUser(row);
  return row;
}

/** An invited person all of whose memberships are of directories that know this subject: nobody else's invitation is taken. */
function knownToDirectory({ accounts, directories }: SignInDeps, sub: string): UserRow | undefined {
  const { people } = accounts;
  const waiting = directories.waitingFor(sub);
  const isWaiting = ({ orgId, userId }: MemberRow) =>
    waiting.some((member) => member.orgId === orgId && member.userId === userId);
  const found = waiting.find(({ userId }) => people.membershipsOf(userId).every(isWaiting));
  return found && people.user(found.userId);
}

/** Memberships that wait for the person: of the link that they opened, of their verified address, and of directories. */
function takeInvitations(deps: SignInDeps, caller: Caller, user: UserRow, invitation: string): void {
  const { people } = deps.accounts;
  const waiting = [
    deps.invitations.userOf(invitation),
    user.isEmailVerified ? people.invitedByEmail(user.email) : undefined,
  ];
  for (const invited of waiting) {
    if (invited === undefined || invited.id === user.id) continue;
    for (const member of people.membershipsOf(invited.id)) move(deps, caller, member, user);
    people.removeUser(invited);
  }
  for (const member of deps.directories.waitingFor(user.sub)) {
    if (member.userId === user.id) continue;
    move(deps, caller, member, user);
    const invited = people.user(member.userId);
    if (invited !== undefined && people.membershipsOf(invited.id).length === 0) people.removeUser(invited);
  }
  deps.invitations.use(invitation);
}

function move(deps: SignInDeps, caller: Caller, member: MemberRow, user: UserRow): void {
  const { accounts, directories, trail } = deps;
  const { people } = accounts;
  people.removeMember(member);
  directories.moved(member.orgId, member.userId, user.id);
  if (people.member(member.orgId, user.id) !== undefined) return;
  people.putMember({ ...member, userId: user.id });
  trail.audit.note(caller, {
    act: "member.join",
    target: user.id,
    after: { role: member.role, email: user.email },
    orgId: member.orgId,
  });
}

function longestSession({ accounts }: SignInDeps, userId: string): number {
  const hours = accounts.people
    .membershipsOf(userId)
    .map(({ orgId }) => accounts.org(orgId)?.security.sessionHours ?? USUAL_HOURS);
  return Math.max(...(hours.length === 0 ? [USUAL_HOURS] : hours)) * HOUR_MS;
}

const actingAs = ({ id }: UserRow, { requestId, origin }: SignIn): Caller => ({
  requestId,
  actor: { kind: "person", id },
  origin,
  orgId: "",
  projectId: "",
  environment: "live",
  scopes: new Set(),
});
