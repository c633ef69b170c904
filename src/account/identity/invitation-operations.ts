/**
 * What an invited person does with an invitation: list, read the page of one, accept, decline. Only a session whose person has the
 * invited address, vouched for by the identity provider, sees it. An org that is joined so changes nothing of the session:
 * neither how long it lasts nor which org it is about.
 */
import { z } from "zod";
import { type Clock, isoTime } from "../../base/clock.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import { raw } from "../../base/operation/answer.ts";
import * as field from "../../base/operation/fields.ts";
import type { HttpHead } from "../../base/operation/http-head.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { listed, listOf } from "../../base/operation/page.ts";
import { wantsPage } from "../../base/operation/wants-page.ts";
import { memberJoined, memberRemoved } from "../account-events.ts";
import type { OrgRow } from "../org.ts";
import { assertMayOwn } from "../orgs/ownership.ts";
import { invitationId, invitationsFor, isOver, mayStillBeGiven } from "../people/invitations.ts";
import { type MemberRow, memberWire, type UserRow } from "../person.ts";
import { ROLES } from "../roles.ts";
import type { AccountTables } from "../tables.ts";
import type { ConsoleCookies } from "./cookies.ts";
import {
  type InvitationView,
  invitationPage,
  invitationsPage,
  type OpenInvitation,
  PAGE_HEADERS,
  type Reader,
  signInPage,
} from "./invitation-page.ts";
import { type JoinDeps, join } from "./join.ts";
import { checkSecurity, signedIn } from "./person-access.ts";
import type { Sessions } from "./sessions.ts";

export interface InvitationOperationDeps extends JoinDeps {
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly cookies: ConsoleCookies;
  /** Orgs that one person may own. */
  readonly maxOrgsOfPerson: number;
}

const HTML_TYPE = "text/html";
const LIST_PATH = "/auth/invitations";

const byId = z.object({ id: z.string().max(100).describe("The invitation's id, `ivt_…`") });

const invitationShape = z.object({
  id: z.string().describe("The invitation's id, `ivt_…`"),
  org_id: field.orgId,
  org_slug: z.string().describe("The org's slug"),
  org_name: z.string().describe("The org's name, as its people wrote it"),
  role: z.enum(ROLES).describe("What the person will be in the org"),
  email: z.string().describe("The address that was invited"),
  invited_by: z.string().describe("E-mail address of who invited; empty where a key did, or nobody knows"),
  created_at: field.createdAt,
  expires_at: z.string().nullable().describe("Until when it can be accepted; null: without end"),
});

const joinedShape = z.object({
  org_id: field.orgId,
  user_id: z.string().describe("The person's id, `usr_…`"),
  role: z.enum(ROLES).describe("What the person is in the org now"),
});

export function invitationOperations(deps: InvitationOperationDeps) {
  const current = (head: HttpHead) => signedIn(deps, head.cookie(deps.cookies.sessionName) ?? "");
  return {
    listInvitations: operation({
      summary:
        "Invitations that wait for the signed-in person's verified address; not paged. A page for browsers",
      method: "GET",
      path: LIST_PATH,
      access: "no key / signed in",
      group: "Sign-in",
      output: listOf(invitationShape),
      otherTypes: [HTML_TYPE],
      run(_input, _caller, head) {
        if (wantsPage(head.header("accept"))) return listPage(deps, head);
        const { user } = current(head);
        return listed(openFor(deps, user).map((row) => invitationWire(deps, row)));
      },
    }),
    acceptInvitation: operation({
      summary: "Become a member of the org that invites; accepting again changes nothing",
      method: "POST",
      path: "/auth/invitations/{id}/accept",
      access: "no key / signed in",
      group: "Sign-in",
      params: byId,
      output: joinedShape,
      errors: [
        "not_found",
        "state",
        "plan_limit",
        "org_closed",
        "org_suspended",
        "ip_not_allowed",
        "two_factor_required",
      ],
      run: ({ params }, caller, head) => accept(deps, caller, params.id, head),
    }),
    declineInvitation: operation({
      summary: "Refuse an invitation: it is gone, and the org sees that",
      method: "POST",
      path: "/auth/invitations/{id}/decline",
      access: "no key / signed in",
      group: "Sign-in",
      params: byId,
      output: z.undefined(),
      status: 204,
      errors: ["not_found"],
      run: ({ params }, caller, head) => decline(deps, caller, params.id, current(head).user),
    }),
    invitationPage: operation({
      summary: "The page where an invited person accepts or declines; others are asked to sign in",
      method: "GET",
      path: "/auth/invitations/{id}",
      access: "public",
      group: "Sign-in",
      isChange: true,
      params: byId,
      output: z.string(),
      otherTypes: [HTML_TYPE],
      run: ({ params }, _caller, head) => pageFor(deps, params.id, head),
    }),
  };
}

/** The page that the link of an invitation opens. A reader who is not signed in gets a page that asks for that first. */
function pageFor(deps: InvitationOperationDeps, id: string, head: HttpHead) {
  return shownTo(deps, head, `${LIST_PATH}/${encodeURIComponent(id)}`, (user, reader) =>
    invitationPage(viewOf(deps, user, id), reader),
  );
}

/** The page of all that wait, which the console names to those who are in no org. */
function listPage(deps: InvitationOperationDeps, head: HttpHead) {
  return shownTo(deps, head, LIST_PATH, (user, reader) => {
    const open = openFor(deps, user).filter((row) => mayStillBeGiven(deps.accounts, row, deps.clock.now()));
    const isVerified = user.isEmailVerified;
    return invitationsPage(
      open.map((row) => offered(deps, row)),
      { ...reader, isVerified },
    );
  });
}

/** @param path of the page: a sign-in leads back to it */
function shownTo(
  { accounts, cookies, sessions }: InvitationOperationDeps,
  head: HttpHead,
  path: string,
  pageOf: (user: UserRow, reader: Reader) => string,
) {
  const session = sessions.find(head.cookie(cookies.sessionName) ?? "");
  const user = session && accounts.people.user(session.row.userId);
  const back = { return_to: path };
  const page =
    session === undefined || user?.status !== "active"
      ? signInPage(`/auth/login?${new URLSearchParams(back)}`)
      : pageOf(user, {
          email: user.email,
          csrf: sessions.csrfOf(session),
          switchTo: `/auth/login?${new URLSearchParams({ prompt: "select_account", ...back })}`,
        });
  return raw(`${HTML_TYPE}; charset=utf-8`, page, { headers: PAGE_HEADERS });
}

/** Those that have not ended. */
const openFor = ({ accounts, clock }: InvitationOperationDeps, user: UserRow): MemberRow[] =>
  invitationsFor(accounts, user).filter((row) => !isOver(row, clock.now()));

function offered(deps: InvitationOperationDeps, row: MemberRow): OpenInvitation {
  const wire = invitationWire(deps, row);
  return {
    id: wire.id,
    orgId: wire.org_id,
    orgSlug: wire.org_slug,
    orgName: wire.org_name,
    role: row.role,
    invitedBy: wire.invited_by,
    endsAtMs: row.invitation?.endsAtMs,
  };
}

function invitationWire({ accounts }: InvitationOperationDeps, row: MemberRow) {
  const { people } = accounts;
  const org = accounts.org(row.orgId);
  const { by, endsAtMs } = row.invitation ?? {};
  return {
    id: invitationId(row),
    org_id: row.orgId,
    org_slug: org?.slug ?? "",
    org_name: org?.name ?? "",
    role: row.role,
    email: people.user(row.userId)?.email ?? "",
    invited_by: by?.kind === "person" ? (people.user(by.id)?.email ?? "") : "",
    created_at: isoTime(row.addedAtMs),
    expires_at: endsAtMs === undefined ? null : isoTime(endsAtMs),
  };
}

function viewOf(deps: InvitationOperationDeps, user: UserRow, id: string): InvitationView {
  const { accounts, clock } = deps;
  const joined = joinedBy(accounts, user, id);
  if (joined !== undefined) {
    const org = accounts.org(joined.orgId);
    const { orgId, role } = joined;
    return { is: "joined", id, orgId, role, orgSlug: org?.slug ?? "", orgName: org?.name ?? "" };
  }
  const row = invitationsFor(accounts, user).find((one) => invitationId(one) === id);
  if (row === undefined) return { is: user.isEmailVerified ? "none" : "unverified" };
  const nowMs = clock.now();
  const isLate = isOver(row, nowMs);
  const offer = offered(deps, row);
  return !isLate && mayStillBeGiven(accounts, row, nowMs)
    ? { is: "open", ...offer }
    : { is: "over", isLate, orgName: offer.orgName };
}

const joinedBy = ({ people }: AccountTables, user: UserRow, id: string): MemberRow | undefined =>
  people.membershipsOf(user.id).find(({ acceptedId }) => acceptedId === id);

/** @throws WeirError `not_found`, also for what waits for another address */
function invitationNamed(accounts: AccountTables, user: UserRow, id: string): MemberRow {
  const row = invitationsFor(accounts, user).find((one) => invitationId(one) === id);
  if (row !== undefined) return row;
  throw fail(
    "not_found",
    user.isEmailVerified
      ? "There is no such invitation to your e-mail address."
      : "There is no such invitation: your identity provider does not vouch for your e-mail address.",
  );
}

/** One act, so that of many at once one joins, and the others find that it is done. */
async function accept(deps: InvitationOperationDeps, caller: Caller, id: string, head: HttpHead) {
  const { accounts, clock, cookies, trail } = deps;
  return await accounts.act(() => {
    const { session, user } = signedIn(deps, head.cookie(cookies.sessionName) ?? "");
    const before = joinedBy(accounts, user, id);
    if (before !== undefined) return joinedWire(before);
    const nowMs = clock.now();
    const row = invitationNamed(accounts, user, id);
    const org = accounts.org(row.orgId) as OrgRow;
    if (org.status !== "active") throw notActive(org);
    if (isOver(row, nowMs) || !mayStillBeGiven(accounts, row, nowMs)) {
      throw fail("state", "The invitation is not valid any more. Ask the organisation to invite you again.");
    }
    checkSecurity(deps, org, session, head.address);
    if (row.role === "owner") assertMayOwn(accounts.people, user.id, deps.maxOrgsOfPerson);
    // The time of the invitation is its sender's choice; the time of joining is the person's.
    const { member, isNew } = join(deps, caller, row, user, { acceptedId: id, addedAtMs: nowMs });
    if (isNew) trail.events.emit(memberJoined, org.id, memberWire(member, user));
    return joinedWire(member);
  });
}

const joinedWire = ({ orgId, userId, role }: MemberRow) => ({ org_id: orgId, user_id: userId, role });

const notActive = ({ status }: OrgRow): WeirError =>
  status === "closed"
    ? fail("org_closed", "The organisation is closed.")
    : fail("org_suspended", "The operator has suspended the organisation; nobody can join it now.");

async function decline(
  { accounts, trail }: InvitationOperationDeps,
  caller: Caller,
  id: string,
  user: UserRow,
): Promise<undefined> {
  const { people } = accounts;
  await accounts.act(() => {
    const row = invitationNamed(accounts, user, id);
    const invited = people.user(row.userId) as UserRow;
    const before = memberWire(row, invited);
    people.removeMember(row);
    if (people.membershipsOf(invited.id).length === 0) people.removeUser(invited);
    trail.audit.note(caller, { act: "member.decline", target: invited.id, before, orgId: row.orgId });
    trail.events.emit(memberRemoved, row.orgId, before);
  });
  return undefined;
}
