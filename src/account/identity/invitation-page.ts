/**
 * The pages of invitations: of one, and of all that wait for a person. What others wrote (names of orgs, addresses) is escaped text; a page
 * runs its own script and no other, and sends to its own origin only.
 */
import { Html, html, pageText } from "../../base/html.ts";
import { ROLE_WORDS } from "../role-words.ts";
import type { Role } from "../roles.ts";
import { pageHeaders } from "./page.ts";

/** An invitation that can be accepted. */
export interface OpenInvitation {
  readonly id: string;
  readonly orgId: string;
  readonly orgSlug: string;
  readonly orgName: string;
  readonly role: Role;
  /** E-mail address; empty where it is not known. */
  readonly invitedBy: string;
  /** Milliseconds; undefined: without end. */
  readonly endsAtMs: number | undefined;
}

/** What the person sees. */
export type InvitationView =
  | (OpenInvitation & { readonly is: "open" })
  | (Pick<OpenInvitation, "id" | "orgId" | "orgSlug" | "orgName" | "role"> & { readonly is: "joined" })
  /** `isLate`: its time is over; otherwise whoever gave the role could not give it any more. */
  | { readonly is: "over"; readonly isLate: boolean; readonly orgName: string }
  /** None for this person; `unverified`: the identity provider does not vouch for their address. */
  | { readonly is: "none" | "unverified" };

/** Who reads a page. */
export interface Reader {
  /** E-mail address; empty where there is none. */
  readonly email: string;
  /** Token of the session. */
  readonly csrf: string;
  /** Where another account signs in. */
  readonly switchTo: string;
}

/** Sends what the buttons say, with the token that no other site knows. A proxy may add a path before the addresses. */
const SCRIPT = `
const main = document.querySelector("main");
const root = location.pathname.replace(/\\/auth\\/invitations.*$/, "");
for (const one of document.querySelectorAll("[data-id]")) {
  const said = one.querySelector("output");
  const buttons = [...one.querySelectorAll("button")];
  async function send(path, method, body) {
    const answer = await fetch(root + path, {
      method, credentials: "same-origin",
      headers: { "x-svc-csrf": main.dataset.csrf, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(() => undefined);
    if (answer?.ok) return true;
    said.dataset.tone = "bad";
    said.textContent = (await answer?.json().catch(() => ({})))?.error?.message ?? "This did not work. Try again.";
    return false;
  }
  for (const button of buttons) button.addEventListener("click", async () => {
    const { act } = button.dataset;
    const { id, org, slug } = one.dataset;
    for (const each of buttons) each.disabled = true;
    const done = act === "open"
      ? await send("/auth/active-org", "PUT", { org })
      : await send("/auth/invitations/" + encodeURIComponent(id) + "/" + act, "POST");
    for (const each of buttons) each.disabled = false;
    if (!done) return;
    delete said.dataset.tone;
    if (act === "open") return location.assign(root + "/console/" + encodeURIComponent(slug));
    said.textContent = act === "accept" ? "You are a member." : "You have declined.";
    for (const each of one.querySelectorAll("[data-offer]")) each.hidden = true;
    for (const each of buttons) each.hidden = act !== "accept" || each.dataset.act !== "open";
    buttons.find((each) => !each.hidden)?.focus();
  });
}
`;
export const PAGE_HEADERS = pageHeaders({ script: SCRIPT, connect: true });

/** For a browser in which no one is signed in; it does not say whether there is an invitation. @param login its address */
export const signInPage = (login: string): string =>
  page(
    "Invitations",
    html`<main><h1>Invitations</h1>
<p>Sign in with the e-mail address to which they were sent.</p><p><a class="main" href="${login}">Sign in</a></p></main>`,
  );

/** The page of one invitation. @param reader the person who is signed in */
export function invitationPage(view: InvitationView, reader: Reader): string {
  const { title, body } = contentOf(view);
  return page(
    title,
    html`${mainOf(reader, html`<h1>${title}</h1>${body}`)}
<ul class="links"><li><a href="/auth/invitations">All invitations</a></li><li><a href="/console">Console</a></li></ul>`,
  );
}

/** The page of all invitations that wait for the reader. @param isVerified whether the identity provider vouches for the reader's address */
export function invitationsPage(
  open: readonly OpenInvitation[],
  { isVerified, ...reader }: Reader & { readonly isVerified: boolean },
): string {
  const none = isVerified
    ? html`<p>No invitation waits for you. Ask an owner or an admin of the organisation to invite this address.</p>`
    : UNVERIFIED;
  const list = open.map(
    (one) => html`<section ${placeOf(one)}><h2>${one.orgName}</h2>${offerOf(one)}</section>`,
  );
  return page(
    "Invitations",
    html`${mainOf(reader, html`<h1>Invitations</h1>${open.length === 0 ? none : list}`)}
<ul class="links"><li><a href="/console">Console</a></li></ul>`,
  );
}

const page = (title: string, body: Html): string => pageText({ title: `${title} · Weir`, body, links: [] });

const mainOf = ({ email, csrf, switchTo }: Reader, body: Html): Html =>
  html`<main data-csrf="${csrf}">${body}
<noscript><p>This page needs JavaScript.</p></noscript>
<p class="quiet">You are signed in as <bdi>${email || "somebody without an e-mail address"}</bdi>.
<a href="${switchTo}">Use another account</a></p></main>
<script>${new Html(SCRIPT)}</script>`;

const placeOf = ({ id, orgId, orgSlug }: Pick<OpenInvitation, "id" | "orgId" | "orgSlug">): Html =>
  html`data-id="${id}" data-org="${orgId}" data-slug="${orgSlug}"`;

const roleOf = (role: Role): Html => html`<bdi>${role}</bdi>: ${ROLE_WORDS[role]}`;

/** A day, in words that are the same for readers everywhere. */
const dayOf = (atMs: number): string =>
  new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(atMs);

/** The offer of an invitation, and its buttons. The button to the console appears once the person is a member. */
const offerOf = ({ invitedBy, orgName, orgSlug, role, endsAtMs }: OpenInvitation): Html =>
  html`<p>${invitedBy === "" ? "You are invited" : html`<bdi>${invitedBy}</bdi> invites you`}
to the organisation <bdi>${orgName}</bdi>, with the role <bdi>${role}</bdi>.</p>
<dl><dt>Your role</dt><dd>${roleOf(role)}</dd><dt>Short name</dt><dd><code>${orgSlug}</code></dd>${
    endsAtMs === undefined ? undefined : html`<dt>Open until</dt><dd>${dayOf(endsAtMs)}</dd>`
  }</dl>
<p class="quiet" data-offer>If you accept, its people see your name and e-mail address. You can leave at any time. If you do not know who invites you, decline.</p>
<p class="acts"><button class="main" data-act="accept">Accept</button><button data-act="decline">Decline</button><button class="main" data-act="open" hidden>Open the console</button></p>
<output></output>`;

const UNVERIFIED = html`<p>Your identity provider does not vouch for your e-mail address, so no invitation can be shown to you.</p>`;

function contentOf(view: InvitationView): { title: string; body: Html } {
  switch (view.is) {
    case "open":
      return { title: "You are invited", body: html`<section ${placeOf(view)}>${offerOf(view)}</section>` };
    case "joined":
      return {
        title: "You are a member",
        body: html`<section ${placeOf(view)}><p>You belong to the organisation <bdi>${view.orgName}</bdi>.</p>
<dl><dt>Your role</dt><dd>${roleOf(view.role)}</dd></dl>
<p class="acts"><button class="main" data-act="open">Open the console</button></p><output></output></section>`,
      };
    case "over":
      return {
        title: "This invitation has ended",
        body: html`<p>${
          view.isLate
            ? "Its time is over."
            : "Whoever invited you can no longer give the role that it was for."
        } Ask the organisation <bdi>${view.orgName}</bdi> to send it again.</p>`,
      };
    case "none":
      return {
        title: "No invitation",
        body: html`<p>There is no such invitation to your e-mail address. It may have been taken back or declined, or sent to another address: then sign in with that one.</p>`,
      };
    case "unverified":
      return { title: "No invitation", body: UNVERIFIED };
  }
}
