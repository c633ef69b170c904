/**
 * What a person with a session may do now: in which org they act, and what that org's security settings and their role allow.
 * Read for every request, so that a change takes effect with the next one.
 */

import type { Clock } from "../../base/clock.ts";
import { fail, mustExist } from "../../base/errors.ts";
import { cidrAllows } from "../../base/network/cidr-list.ts";
import { keyless } from "../../base/operation/keyless.ts";
import type { Caller, PersonRequest } from "../../base/operation/operation.ts";
import { HOUR_MS } from "../../base/time.ts";
import type { OrgRow, SecuritySettings } from "../org.ts";
import type { Lock } from "../org-wire.ts";
import { isOwnOrg, type MemberRow, type UserRow } from "../person.ts";
import { mayAs, scopesOf } from "../roles.ts";
import type { AccountTables } from "../tables.ts";
import { hasSecondFactor, type SessionRow } from "./session.ts";
import type { LiveSession, Sessions } from "./sessions.ts";

export interface PersonAccessDeps {
  readonly accounts: AccountTables;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly isOperator: (user: UserRow) => boolean;
}

/** @throws WeirError 401, 403; 404 for an org that the person does not belong to */
export function personOf(deps: PersonAccessDeps, request: PersonRequest): Caller {
  const { session, user } = signedIn(deps, request.token);
  if (!request.isSafe && !deps.sessions.isCsrf(session, request.csrf)) {
    throw fail("csrf", "Send the header x-svc-csrf with the csrf_token of GET /auth/me.");
  }
  const { needs } = request;
  if (needs === "operator") {
    if (!deps.isOperator(user)) throw fail("role", "This is open to operators only.");
    return callerOf(request, user, "operator");
  }
  if (needs === "signed in")
    return callerOf(request, user, "person", activeMembership(deps, session, user.id));
  const member = membershipFor(deps, request, session, user.id);
  const org = deps.accounts.org(member.orgId) as OrgRow;
  checkSecurity(deps, org, session, request.address);
  if (!mayAs(member.role, needs)) {
    throw fail("role", `Your role here is ${member.role}; this needs ${needs}.`, {
      details: { role: needs },
    });
  }
  checkStatus(org, request);
  return callerOf(request, user, "person", member);
}

/** @throws WeirError `session_expired` */
export function signedIn(
  { accounts, sessions }: Pick<PersonAccessDeps, "accounts" | "sessions">,
  token: string,
): { session: LiveSession; user: UserRow } {
  const session = sessions.find(token);
  const user = session && accounts.people.user(session.row.userId);
  if (session === undefined || user?.status !== "active") {
    throw fail("session_expired", "The session has ended. Sign in again at /auth/login.", {
      isUnknown: session === undefined,
    });
  }
  return { session, user };
}

/**
 * The org that the person chose for the session, else the oldest of their own. An org that invited them is one of these only if they
 * choose it: undefined if they have none.
 */
export function activeMembership(
  { accounts }: Pick<PersonAccessDeps, "accounts">,
  { row }: LiveSession,
  userId: string,
): MemberRow | undefined {
  const { people } = accounts;
  return people.member(row.activeOrgId, userId) ?? people.membershipsOf(userId).find(isOwnOrg);
}

function membershipFor(
  deps: PersonAccessDeps,
  request: PersonRequest,
  session: LiveSession,
  userId: string,
): MemberRow {
  const { accounts } = deps;
  if (request.org === "") {
    const active = activeMembership(deps, session, userId);
    if (active !== undefined) return active;
    throw fail(
      "not_found",
      accounts.people.membershipsOf(userId).length === 0
        ? "You belong to no organisation. Create one with POST /v1/orgs."
        : "Say which organisation: send the header svc-org, or choose one with PUT /auth/active-org.",
    );
  }
  const org = accounts.orgByIdOrSlug(request.org);
  return mustExist(org && accounts.people.member(org.id, userId), "organisation");
}

/**
 * Why an org's settings refuse a session, in the order in which its requests are refused; empty: they do not.
 * @param address of the client, as text
 */
export function locksOf(
  { sessionHours, consoleIpAllow, require2fa }: SecuritySettings,
  session: Pick<SessionRow, "createdAtMs" | "amr" | "acr">,
  address: string,
  nowMs: number,
): Lock[] {
  return [
    ...(nowMs >= session.createdAtMs + sessionHours * HOUR_MS ? (["session_expired"] as const) : []),
    ...(cidrAllows(consoleIpAllow, address) ? [] : (["ip_not_allowed"] as const)),
    ...(require2fa && !hasSecondFactor(session) ? (["two_factor_required"] as const) : []),
  ];
}

/** @throws WeirError 401 or 403, where the org's settings do not let the session in */
export function checkSecurity(
  { clock }: Pick<PersonAccessDeps, "clock">,
  { security }: OrgRow,
  { row }: LiveSession,
  address: string,
): void {
  const [lock] = locksOf(security, row, address, clock.now());
  if (lock === undefined) return;
  const { sessionHours } = security;
  const message = {
    session_expired: `Sessions of this organisation end after ${sessionHours} hours. Sign in again.`,
    ip_not_allowed: "The organisation does not allow console sessions from this address.",
    two_factor_required: "The organisation asks for a second factor. Sign in again with one.",
  }[lock];
  throw fail(
    lock,
    message,
    lock === "two_factor_required" ? { details: { missing: ["amr"], amr: row.amr, acr: row.acr } } : {},
  );
}

function checkStatus({ status }: OrgRow, { isSafe, isForClosed }: PersonRequest): void {
  if (status === "closed" && !isSafe && !isForClosed) throw fail("org_closed", "The organisation is closed.");
  if (status === "suspended" && !isSafe) {
    throw fail("org_suspended", "The operator has suspended the organisation; it can only be read.");
  }
}

function callerOf(
  { requestId, origin }: PersonRequest,
  { id }: UserRow,
  kind: "person" | "operator",
  member?: MemberRow,
): Caller {
  const scopes = new Set(member === undefined ? [] : scopesOf(member.role));
  return keyless({ requestId, actor: { kind, id }, origin, orgId: member?.orgId ?? "", scopes });
}
