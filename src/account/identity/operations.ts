/** Sign-in, sign-out, and the sessions of a person. service.md, "Account" and "Authentication"; decisions.md, section 2. */
import { z } from "zod";
import { fail, mustExist } from "../../base/errors.ts";
import { answer, redirect } from "../../base/operation/answer.ts";
import type { HttpHead } from "../../base/operation/http-head.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { listed, listOf } from "../../base/operation/page.ts";
import { listedOrgShape, listedOrgWire } from "../org-wire.ts";
import { type UserRow, userShape, userWire } from "../person.ts";
import { ROLES } from "../roles.ts";
import { knownAddress, localPath, ownAddress } from "./addresses.ts";
import { type InvitationOperationDeps, invitationOperations } from "./invitation-operations.ts";
import { CONSOLE } from "./link-operations.ts";
import type { LoginStates } from "./login-state.ts";
import { activeMembership, locksOf, signedIn } from "./person-access.ts";
import type { RelyingParty } from "./relying-party.ts";
import { sessionShape, sessionWire } from "./session.ts";
import { type SignInDeps, signIn } from "./sign-in.ts";

export interface IdentityOperationDeps extends SignInDeps, InvitationOperationDeps {
  readonly provider: RelyingParty;
  readonly states: LoginStates;
  /** Without a slash at the end; undefined: the address that the browser used, if that is this machine's. */
  readonly publicUrl: string | undefined;
  readonly isOperator: (user: UserRow) => boolean;
}

/** Where a program goes that asked for no place: what it reads there says who signed in. */
const HOME_OF_PROGRAMS = "/auth/me";
/** Addresses of a sign-in hold secrets; that no answer is kept, `edge` says of each. */
const NO_REFERRER = { "referrer-policy": "no-referrer" };

const loginQuery = z.object({
  return_to: z
    .string()
    .optional()
    .describe(
      "A path of this gateway; anything else is ignored. Without it browsers go to `/console`, programs to `/auth/me`",
    ),
  first_owner: z.string().max(100).default("").describe("The secret in `first-owner` of the data folder"),
  login_hint: z.string().max(254).optional().describe("Address for the identity provider's page to propose."),
  prompt: z
    .enum(["login", "none", "select_account"])
    .optional()
    .describe(
      "Passed on to the identity provider. `login`: ask again who it is; `select_account`: let the person choose; `none`: ask nothing, or fail.",
    ),
});

/** Providers add parameters of their own. */
const callbackQuery = z.looseObject({
  state: z.string().optional().describe("What `/auth/login` sent along, by which the sign-in is known."),
  code: z.string().optional().describe("What the gateway exchanges for the person's identity, once."),
  error: z
    .string()
    .optional()
    .describe("Why the identity provider refuses, as an error code of OAuth 2.0; absent when it does not."),
});

const activeOrg = z
  .string()
  .describe("Id of the org that this session's requests are about, unless `svc-org` names another.");
const activeRole = z.enum(ROLES).describe("What the person may do in the active org.");

const meShape = z.object({
  user: userShape.describe("Who is signed in."),
  orgs: z
    .array(listedOrgShape)
    .describe("The person's orgs, oldest membership first; in short where the session does not open one."),
  active_org: activeOrg.nullable(),
  role: activeRole.nullable(),
  is_operator: z
    .boolean()
    .describe("Whether the routes of the operator are open to the person: the settings name them."),
  csrf_token: z.string().describe("For the header `x-svc-csrf` of requests that change something"),
  session: sessionShape.describe("The session that asks."),
});

export function identityOperations(deps: IdentityOperationDeps) {
  return { ...signInOperations(deps), ...sessionOperations(deps), ...invitationOperations(deps) };
}

function signInOperations(deps: IdentityOperationDeps) {
  return {
    beginLogin: operation({
      summary: "Sign in: sends the browser to the identity provider",
      method: "GET",
      path: "/auth/login",
      access: "public",
      group: "Sign-in",
      isChange: true,
      query: loginQuery,
      output: z.undefined(),
      status: 303,
      errors: ["identity_unavailable"],
      run: ({ query }, _caller, head) => beginLogin(deps, query, head),
    }),
    finishLogin: operation({
      summary: "The way back from the identity provider: opens the session",
      method: "GET",
      path: "/auth/callback",
      access: "public",
      group: "Sign-in",
      isChange: true,
      query: callbackQuery,
      output: z.undefined(),
      status: 303,
      errors: ["identity_unavailable", "role"],
      run: ({ query }, caller, head) => finishLogin(deps, query, caller, head),
    }),
    logout: operation({
      summary: "Sign out here; `logout_url` ends the session at the identity provider",
      method: "POST",
      path: "/auth/logout",
      access: "public",
      group: "Sign-in",
      output: z.object({
        logout_url: z
          .string()
          .describe(
            "Send the browser there: it ends the session at the identity provider and comes back to `/auth/login`.",
          ),
      }),
      errors: ["csrf"],
      run: (_input, _caller, head) => logout(deps, head),
    }),
  };
}

async function beginLogin(deps: IdentityOperationDeps, query: z.output<typeof loginQuery>, head: HttpHead) {
  const { provider, states, cookies } = deps;
  const redirectUri = `${ownAddress(deps.publicUrl, head.header("host"))}/auth/callback`;
  const hints = {
    ...(query.login_hint !== undefined && { login_hint: query.login_hint }),
    ...(query.prompt !== undefined && { prompt: query.prompt }),
  };
  const { url, attempt } = await provider.begin(redirectUri, hints);
  const sealed = await states.seal({
    ...attempt,
    redirectUri,
    firstOwner: query.first_owner,
    returnTo: localPath(query.return_to, homeOf(head)),
  });
  return redirect(url, { headers: NO_REFERRER, cookies: [cookies.login(sealed, states.maxAgeMs)] });
}

/** Browsers ask for pages. */
const homeOf = (head: HttpHead): string =>
  head.header("accept").includes("text/html") ? CONSOLE : HOME_OF_PROGRAMS;

async function finishLogin(
  deps: IdentityOperationDeps,
  query: Readonly<Record<string, unknown>>,
  { requestId, origin }: Caller,
  head: HttpHead,
) {
  const { provider, states, cookies } = deps;
  const login = await states.open(head.cookie(cookies.loginName) ?? "");
  if (login === undefined) {
    throw fail(
      "invalid_value",
      "This sign-in began in another browser, or too long ago. Begin again at /auth/login.",
    );
  }
  const callback = new URL(login.redirectUri);
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) callback.searchParams.append(name, String(one));
  }
  const claims = await provider.finish(callback, login);
  const { token, maxAgeMs } = await signIn(deps, {
    claims,
    firstOwner: login.firstOwner,
    requestId,
    origin,
    before: head.cookie(cookies.sessionName) ?? "",
  });
  const set = [cookies.session(token, maxAgeMs), cookies.endLogin];
  return redirect(login.returnTo, { headers: NO_REFERRER, cookies: set });
}

/** Also without a live session: whoever clicks "sign out" twice is signed out. */
async function logout(deps: IdentityOperationDeps, head: HttpHead) {
  const { accounts, sessions, provider, cookies } = deps;
  const session = sessions.find(head.cookie(cookies.sessionName) ?? "");
  if (session !== undefined) {
    if (!sessions.isCsrf(session, head.header("x-svc-csrf"))) {
      throw fail("csrf", "Send the header x-svc-csrf with the csrf_token of GET /auth/me.");
    }
    await accounts.act(() => sessions.end(session));
  }
  // The session has ended: where the browser goes next must not fail.
  const own = knownAddress(deps.publicUrl, head.header("host"));
  const again = `${own ?? ""}/auth/login`;
  const there = own === undefined ? undefined : await provider.logoutUrl(session?.row.idToken ?? "", again);
  const logoutUrl = there ?? again;
  return answer({ logout_url: logoutUrl }, { headers: NO_REFERRER, cookies: [cookies.endSession] });
}

function sessionOperations(deps: IdentityOperationDeps) {
  const { accounts, sessions, cookies } = deps;
  const current = (head: HttpHead) => signedIn(deps, head.cookie(cookies.sessionName) ?? "");
  return {
    getMe: operation({
      summary: "Who is signed in, their orgs, and the org that requests are about",
      method: "GET",
      path: "/auth/me",
      access: "no key / signed in",
      group: "Sign-in",
      output: meShape,
      run: (_input, _caller, head) => answer(me(deps, current(head), head), { headers: NO_REFERRER }),
    }),
    setActiveOrg: operation({
      summary:
        "Choose the org that this session's requests are about, and those of the person's next sign-in",
      method: "PUT",
      path: "/auth/active-org",
      access: "no key / signed in",
      group: "Sign-in",
      body: z.strictObject({ org: z.string().min(1).max(100).describe("Id or slug") }),
      output: z.object({ active_org: activeOrg, role: activeRole }),
      errors: ["not_found"],
      async run({ body }, _caller, head) {
        const { session, user } = current(head);
        const org = accounts.orgByIdOrSlug(body.org);
        const member = mustExist(org && accounts.people.member(org.id, user.id), "organisation", "/org");
        await accounts.act(() => {
          sessions.setActiveOrg(session, member.orgId);
          const row = accounts.people.member(member.orgId, user.id);
          if (row !== undefined) accounts.people.putMember({ ...row, chosenAtMs: deps.clock.now() });
        });
        return { active_org: member.orgId, role: member.role };
      },
    }),
    listSessions: operation({
      summary: "The person's sessions, oldest first; not paged",
      method: "GET",
      path: "/auth/sessions",
      access: "no key / signed in",
      group: "Sign-in",
      output: listOf(sessionShape),
      run(_input, caller, head) {
        const { session } = current(head);
        return listed(sessions.of(caller.actor.id).map(({ row }) => sessionWire(row, session.row.id)));
      },
    }),
    endSession: operation({
      summary: "End one of the person's sessions",
      method: "DELETE",
      path: "/auth/sessions/{id}",
      access: "no key / signed in",
      group: "Sign-in",
      params: z.object({ id: z.string().describe("The session's id.") }),
      output: z.undefined(),
      status: 204,
      errors: ["not_found"],
      async run({ params }, caller) {
        await accounts.act(() => {
          const session = mustExist(
            sessions.of(caller.actor.id).find(({ row }) => row.id === params.id),
            "session",
          );
          sessions.end(session);
        });
        return undefined;
      },
    }),
  };
}

function me(
  deps: IdentityOperationDeps,
  { session, user }: ReturnType<typeof signedIn>,
  { address }: HttpHead,
) {
  const { accounts, clock, sessions } = deps;
  const nowMs = clock.now();
  const active = activeMembership(deps, session, user.id);
  const orgs = accounts.people.membershipsOf(user.id).flatMap(({ orgId, role }) => {
    const org = accounts.org(orgId);
    if (org === undefined) return [];
    const [lock] = locksOf(org.security, session.row, address, nowMs);
    return [listedOrgWire(org, role, lock)];
  });
  return {
    user: userWire(user),
    orgs,
    active_org: active?.orgId ?? null,
    role: active?.role ?? null,
    is_operator: deps.isOperator(user),
    csrf_token: sessions.csrfOf(session),
    session: sessionWire(session.row, session.row.id),
  };
}
