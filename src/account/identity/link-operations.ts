/**
 * What opens the sign-in link of a start: a page, and the button on it. A GET changes nothing, so that a preview or a prefetch of the
 * link does not use it up. Its token is the proof: no other site knows it, so no other site can send the form.
 */
import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { html, pageText } from "../../base/html.ts";
import { raw, redirect } from "../../base/operation/answer.ts";
import type { HttpHead } from "../../base/operation/http-head.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { BUILT_IN, type LocalPerson } from "./built-in.ts";
import type { ConsoleCookies } from "./cookies.ts";
import { pageHeaders } from "./page.ts";
import type { Claims } from "./relying-party.ts";
import { type SignInDeps, signIn } from "./sign-in.ts";

/** Where a browser goes after a sign-in. */
export const CONSOLE = "/console";
/** Where the link leads: the console opens on a first call to try. */
const FIRST_CALL = `${CONSOLE}?welcome=1`;

/**
 * Links are offered: only this machine reaches the gateway, directly, and its own identity provider is in use. The process whose terminal
 * shows the link is asked: this process, or the supervisor of all cells.
 */
export interface OfferedLink {
  /** Whether the token opens a session now; it stays open. */
  isLinkOpen(token: string): Promise<boolean>;
  /** Uses the link up: of any number of callers at once one gets true. */
  takeLink(token: string): Promise<boolean>;
  /** Who becomes the first owner where there is none: the first of the built-in provider's list. */
  firstPerson(): Promise<LocalPerson>;
}

export interface LinkOperationDeps extends SignInDeps {
  readonly cookies: ConsoleCookies;
  /** Undefined: no link is offered. */
  readonly offered: OfferedLink | undefined;
}

const HTML_TYPE = "text/html";
const HEADERS = pageHeaders({ form: true });
const params = z.object({ token: z.string().max(100).describe("The secret of the link, from the terminal") });

export const linkOperations = (deps: LinkOperationDeps) => ({
  getSignInLink: operation({
    summary: "The page of the sign-in link that a start shows on its terminal; on this machine only",
    method: "GET",
    path: "/auth/link/{token}",
    access: "public",
    group: "Sign-in",
    params,
    output: z.undefined(),
    otherTypes: [HTML_TYPE],
    errors: ["not_found"],
    run: async ({ params: { token } }, _caller, head) =>
      (await offeredTo(deps, head).isLinkOpen(token)) ? OPEN_PAGE : ENDED_PAGE,
  }),
  useSignInLink: operation({
    summary: "Sign in by that link, once, as the owner of the first org; sends the browser to the console",
    method: "POST",
    path: "/auth/link/{token}",
    access: "public",
    group: "Sign-in",
    params,
    output: z.undefined(),
    otherTypes: [HTML_TYPE],
    otherStatuses: { 303: "The session is open; 200 is a page that says that the link has ended" },
    errors: ["not_found", "role"],
    run: ({ params: { token } }, caller, head) => useLink(deps, token, caller, head),
  }),
});

async function useLink(deps: LinkOperationDeps, token: string, caller: Caller, head: HttpHead) {
  const offered = offeredTo(deps, head);
  // Before anything else: of two that come at once, the second finds no link. One that fails from here on is used up, too.
  if (!(await offered.takeLink(token))) return ENDED_PAGE;
  const claims = await ownerClaims(deps, () => offered.firstPerson());
  if (claims === undefined) return ENDED_PAGE;
  const { cookies } = deps;
  const { token: session, maxAgeMs } = await signIn(deps, {
    claims,
    firstOwner: "",
    requestId: caller.requestId,
    origin: caller.origin,
    before: head.cookie(cookies.sessionName) ?? "",
    isByLink: true,
  });
  const set = [cookies.session(session, maxAgeMs)];
  return redirect(FIRST_CALL, { headers: { "referrer-policy": "no-referrer" }, cookies: set });
}

/** @throws WeirError `not_found` where no link is offered, or the request comes from elsewhere */
function offeredTo({ offered }: LinkOperationDeps, head: HttpHead): OfferedLink {
  if (offered === undefined || head.isFromThisMachine !== true)
    throw fail(
      "not_found",
      "Sign-in links work on the machine of a gateway that only this machine reaches, without a proxy between. Sign in at /auth/login.",
    );
  return offered;
}

/**
 * What the identity provider would say of the owner of the first org; of the first on its list where the org has none. Undefined: its
 * owners have not signed in yet, or may not.
 */
async function ownerClaims(
  { accounts }: LinkOperationDeps,
  firstPerson: () => Promise<LocalPerson>,
): Promise<Claims | undefined> {
  const org = accounts.oldestOrg();
  if (org === undefined || !accounts.people.hasOwner(org.id))
    return claimsOf({ iss: BUILT_IN, isEmailVerified: true, ...(await firstPerson()) });
  const [owner] = Array.from(accounts.people.withRole(org.id, "owner"), ({ userId }) =>
    accounts.people.user(userId),
  ).filter((user) => user?.status === "active");
  return owner && claimsOf(owner);
}

/** A link proves no factor, and there is no session at the provider. */
const claimsOf = ({
  iss,
  sub,
  email,
  name,
  isEmailVerified,
}: Pick<Claims, "iss" | "sub" | "email" | "name" | "isEmailVerified">): Claims => ({
  iss,
  sub,
  email,
  name,
  isEmailVerified,
  amr: [],
  acr: "",
  sid: "",
  idToken: "",
});

const shown = (title: string, body: ReturnType<typeof html>) => {
  const page = pageText({
    title: `${title} · Weir`,
    body: html`<main><h1>${title}</h1>${body}</main>`,
  });
  return raw(`${HTML_TYPE}; charset=utf-8`, page, { headers: HEADERS });
};

const OPEN_PAGE = shown(
  "Sign in to Weir",
  html`
<p>The button signs this browser in as the owner of this installation. The link works once.</p>
<form method="post"><button class="main">Sign in</button></form>`,
);
const ENDED_PAGE = shown(
  "This link has ended",
  html`
<p>A sign-in link works once, within ten minutes of the start of the gateway.</p>
<p><a class="main" href="/auth/login">Sign in</a></p>
<p class="quiet">Or start the gateway again for a new link.</p>`,
);
