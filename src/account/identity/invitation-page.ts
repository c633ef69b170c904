/**
 * The page of an invitation. What others wrote (the org's name, addresses) is escaped text; the page runs its own script and no
 * other, and sends to its own origin only.
 */
import { Html, html } from "../../base/html.ts";
import { pageHeaders, pageOf } from "./page.ts";

/** What the person sees. */
export type InvitationView =
  | {
      readonly is: "open";
      readonly orgId: string;
      readonly orgName: string;
      readonly role: string;
      /** E-mail address; empty where it is not known. */
      readonly invitedBy: string;
    }
  | { readonly is: "joined"; readonly orgId: string; readonly orgName: string }
  | { readonly is: "over"; readonly orgName: string }
  /** None for this person; `unverified`: the identity provider does not vouch for their address. */
  | { readonly is: "none" | "unverified" };

export interface InvitationPage {
  readonly view: InvitationView;
  /** E-mail address of who is signed in. */
  readonly email: string;
  /** Token of the session. */
  readonly csrf: string;
  /** Where another account signs in. */
  readonly switchTo: string;
}

/** Sends what the buttons say, with the token that no other site knows. Addresses are relative: a proxy may add a path. */
const SCRIPT = `
const main = document.querySelector("main");
const said = document.querySelector("output");
async function send(path, method, body) {
  const answer = await fetch(path, {
    method, credentials: "same-origin",
    headers: { "x-svc-csrf": main.dataset.csrf, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (answer.ok) return true;
  said.textContent = (await answer.json().catch(() => ({}))).error?.message ?? "This did not work. Try again.";
  return false;
}
const here = location.pathname.replace(/\\/+$/, "");
for (const button of document.querySelectorAll("button")) button.addEventListener("click", async () => {
  const { act } = button.dataset;
  button.disabled = true;
  const done = act === "use"
    ? await send("../active-org", "PUT", { org: main.dataset.org })
    : await send(here + "/" + act, "POST");
  button.disabled = false;
  if (!done) return;
  if (act === "accept") location.reload();
  else {
    for (const other of document.querySelectorAll("button")) other.remove();
    said.textContent = act === "use" ? "Done." : "You have declined. You may close this page.";
  }
});
`;
export const PAGE_HEADERS = pageHeaders({ script: SCRIPT, connect: true });

/** For a browser in which nobody is signed in; it does not say whether there is an invitation. @param login its address */
export const signInPage = (login: string): string =>
  pageOf(
    "An invitation",
    html`<main><h1>An invitation</h1>
<p>Sign in with the e-mail address to which it was sent.</p><p><a href="${login}">Sign in</a></p></main>`,
  );

/** For whoever is signed in. */
export function invitationPage({ view, email, csrf, switchTo }: InvitationPage): string {
  const { title, body } = contentOf(view);
  const orgId = "orgId" in view ? view.orgId : "";
  return pageOf(
    title,
    html`<main data-csrf="${csrf}" data-org="${orgId}"><h1>${title}</h1>
${body}
<output></output><noscript><p>This page needs JavaScript.</p></noscript>
<p><small>You are signed in as <bdi>${email || "somebody without an e-mail address"}</bdi>.
<a href="${switchTo}">Use another account</a></small></p></main>
<script>${new Html(SCRIPT)}</script>`,
  );
}

function contentOf(view: InvitationView): { title: string; body: Html } {
  switch (view.is) {
    case "open":
      return {
        title: "You are invited",
        body: html`<p>${view.invitedBy === "" ? "You are invited" : html`<bdi>${view.invitedBy}</bdi> invites you`}
to the organisation <bdi>${view.orgName}</bdi>, with the role <bdi>${view.role}</bdi>.</p>
<p>If you accept, its people see your name and e-mail address. You can leave at any time.</p>
<p><button data-act="accept">Accept</button><button data-act="decline">Decline</button></p>`,
      };
    case "joined":
      return {
        title: "You are a member",
        body: html`<p>You belong to the organisation <bdi>${view.orgName}</bdi>.</p>
<p><button data-act="use">Use it in this session</button></p>`,
      };
    case "over":
      return {
        title: "This invitation has ended",
        body: html`<p>Ask the organisation <bdi>${view.orgName}</bdi> to invite you again.</p>`,
      };
    case "none":
      return {
        title: "No invitation",
        body: html`<p>There is no such invitation to your e-mail address. It may have been taken back, or sent to another address.</p>`,
      };
    case "unverified":
      return {
        title: "No invitation",
        body: html`<p>Your identity provider does not vouch for your e-mail address, so no invitation can be shown to you.</p>`,
      };
  }
}
