/**
 * From what an identity provider says to a person and a session. A person is (`iss`, `sub`). A sign-in accepts no invitation: the
 * person does (`invitation-operations.ts`). An org's directory decides about its members, so those that it knows join here: by
 * their subject, or by their e-mail address where the provider vouches for it.
 */

import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { keyless } from "../../base/operation/keyless.ts";
import type { Caller, Origin } from "../../base/operation/operation.ts";
import { HOUR_MS } from "../../base/time.ts";
import { ownsTooMany } from "../orgs/ownership.ts";
import type { FirstOwner } from "../people/first-owner.ts";
import { invitedUser, isOwnOrg, type MemberRow, type UserRow } from "../person.ts";
import { type JoinDeps, join } from "./join.ts";
import type { Claims } from "./relying-party.ts";
import type { Sessions } from "./sessions.ts";

/** Hours of a session, for a person without an org of their own. */
const USUAL_HOURS = 12;

export interface SignInDeps extends JoinDeps {
  readonly sessions: Sessions;
  readonly firstOwner: FirstOwner;
  readonly clock: Clock;
  /** The provider's addresses are trusted although it does not say that it verified them. */
  readonly trustsEmail: boolean;
  /** Orgs that one person may own. */
  readonly maxOrgsOfPerson: number;
}

export interface SignIn {
  readonly claims: Claims;
  /** What was sent to prove who installed the gateway; empty for nothing. */
  readonly firstOwner: string;
  readonly requestId: string;
  readonly origin: Origin;
  /** Token of the session that the browser had: it ends. */
  readonly before: string;
  /** By the link that a start showed: the audit of the first org says so. */
  readonly isByLink?: boolean;
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
    const waiting = waitingFor(deps, given);
    const user = personFor(deps, given, waiting, nowMs);
    if (user.status === "disabled") throw fail("role", "The operator has disabled this person.");
    const { claims, origin, requestId } = given;
    const caller = keyless({ requestId, actor: { kind: "person", id: user.id }, origin, orgId: "" });
    for (const member of waiting) if (mayJoin(deps, member, user)) join(deps, caller, member, user);
    deps.firstOwner.claim(caller, user, given.firstOwner);
    if (given.isByLink) noteLink(deps, caller, user);
    const before = sessions.find(given.before);
    if (before !== undefined) sessions.end(before);
    const maxAgeMs = longestSession(deps, user.id);
    const token = sessions.add({
      id: newId("ses", nowMs),
      userId: user.id,
      iss: claims.iss,
      sid: claims.sid,
      amr: claims.amr,
      acr: claims.acr,
      idToken: claims.idToken,
      // The link that a start prints leads to the first org, whichever org the person chose later.
      activeOrgId: given.isByLink ? "" : lastChosen(deps, user.id),
      ipPrefix: origin.ipPrefix,
      userAgent: origin.userAgent.slice(0, 200),
      createdAtMs: nowMs,
      endsAtMs: nowMs + maxAgeMs,
    });
    return { token, maxAgeMs };
  });
}

/** Id of the org that the person chose last among those that they are in; empty where they never chose one. */
function lastChosen({ accounts }: SignInDeps, userId: string): string {
  const chosen = accounts.people.membershipsOf(userId).filter(({ chosenAtMs }) => chosenAtMs !== undefined);
  const [last] = chosen.sort((one, other) => (other.chosenAtMs ?? 0) - (one.chosenAtMs ?? 0));
  return last?.orgId ?? "";
}

function noteLink({ accounts, trail }: SignInDeps, caller: Caller, user: UserRow): void {
  const org = accounts.oldestOrg();
  if (org === undefined) return;
  trail.audit.note(caller, {
    act: "session.link",
    target: user.id,
    after: { email: user.email },
    orgId: org.id,
  });
}

const isVerified = ({ trustsEmail }: SignInDeps, { claims }: SignIn): boolean =>
  claims.email !== "" && (claims.isEmailVerified || trustsEmail);

/** Memberships of directories that the sign-in turns into the person's, each once: by their verified address and by their subject. */
function waitingFor(deps: SignInDeps, given: SignIn): MemberRow[] {
  const { people } = deps.accounts;
  const invited = isVerified(deps, given) ? people.invitedByEmail(given.claims.email) : undefined;
  const byEmail = invited === undefined ? [] : people.membershipsOf(invited.id);
  const ofDirectories = byEmail.filter(({ source }) => source === "directory");
  const all = [...ofDirectories, ...deps.directories.waitingFor(given.claims.sub)];
  return [...new Map(all.map((member) => [`${member.orgId} ${member.userId}`, member])).values()];
}

/** The person of these claims, with what the provider says now; a new one where there is none. */
function personFor(deps: SignInDeps, given: SignIn, waiting: readonly MemberRow[], nowMs: number): UserRow {
  const { people } = deps.accounts;
  const { iss, sub, email, name } = given.claims;
  const known = people.bySubject(iss, sub);
  const isEmailVerified = isVerified(deps, given);
  if (known !== undefined) {
    // A provider that names no address this time says nothing of the one before.
    const address = email === "" ? {} : { email, isEmailVerified };
    const row: UserRow = { ...known, ...address, name: name || known.name };
    people.putUser(row);
    return row;
  }
  const base = invitedWhole(deps, waiting) ?? invitedUser(email, nowMs);
  const row: UserRow = { ...base, iss, sub, email, isEmailVerified, name, status: "active" };
  people.putUser(row);
  return row;
}

/** The invited person all of whose memberships are taken: a new person keeps the id that their directory gave them. */
function invitedWhole({ accounts }: SignInDeps, waiting: readonly MemberRow[]): UserRow | undefined {
  const { people } = accounts;
  const taken = (userId: string) => waiting.filter((member) => member.userId === userId).length;
  const whole = waiting.find(({ userId }) => people.membershipsOf(userId).length === taken(userId));
  return whole && people.user(whole.userId);
}

/** To own one org more than a person may waits: it is theirs once they own fewer, and sign in again. */
const mayJoin = ({ accounts, maxOrgsOfPerson }: SignInDeps, member: MemberRow, user: UserRow): boolean =>
  member.role !== "owner" ||
  member.userId === user.id ||
  !ownsTooMany(accounts.people, user.id, maxOrgsOfPerson);

function longestSession({ accounts }: SignInDeps, userId: string): number {
  const hours = accounts.people
    .membershipsOf(userId)
    .filter(isOwnOrg)
    .map(({ orgId }) => accounts.org(orgId)?.security.sessionHours ?? USUAL_HOURS);
  return Math.max(...(hours.length === 0 ? [USUAL_HOURS] : hours)) * HOUR_MS;
}
