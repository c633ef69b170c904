/**
 * The pages of the built-in identity provider: legible at any width, operable by keyboard, and without scripts.
 */
import { hash } from "node:crypto";
import { Html, html } from "../../src/base/html.ts";
import { EMAIL_MAX_LENGTH, NAME_MAX_LENGTH, type Person } from "./people.ts";

/** What the form holds before somebody types, or after an answer that was refused. */
export interface FormValues {
  readonly email: string;
  readonly name: string;
  readonly secondFactor: boolean;
}

export interface SignInPage {
  /** Where the forms are sent. */
  readonly action: string;
  readonly people: readonly Person[];
  /** Put first and focused. */
  readonly preselected: Person | undefined;
  readonly form: FormValues;
  /** Why the last answer was refused. */
  readonly problem?: string;
}

/** What a fresh installation offers. */
const FIRST_PERSON: FormValues = { email: "owner@localhost.test", name: "Local owner", secondFactor: false };
const NOBODY: FormValues = { email: "", name: "", secondFactor: false };

/** @param hint the application's `login_hint`, an e-mail address that is not in the list */
export const emptyForm = (people: readonly Person[], hint = ""): FormValues => {
  if (hint !== "") return { ...NOBODY, email: hint };
  return people.length === 0 ? FIRST_PERSON : NOBODY;
};

const STYLE = `
:root { color-scheme: light dark; --ground: #fff; --text: #1b1f24; --line: #6b7480; --strong: #0b57d0; --on: #fff; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #16191d; --text: #e8eaed; --line: #8b949e; --strong: #a8c7fa; --on: #062e6f; --bad: #f2b8b5; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 28rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 0.5rem; }
h2 { font-size: 1.15rem; margin: 1.75rem 0 0.5rem; }
label { display: block; margin: 0.75rem 0 0.25rem; font-weight: 600; }
label.box { display: flex; gap: 0.6rem; align-items: center; font-weight: 400; }
input { font: inherit; color: inherit; accent-color: var(--strong); }
input[type=email], input[type=text] { width: 100%; padding: 0.55rem 0.7rem; background: var(--ground); border: 1px solid var(--line); border-radius: 0.4rem; }
input[type=checkbox] { width: 1.25rem; height: 1.25rem; flex: none; margin: 0; }
button { font: inherit; width: 100%; margin-top: 0.6rem; padding: 0.6rem 0.8rem; text-align: left; overflow-wrap: anywhere; cursor: pointer; background: var(--ground); color: inherit; border: 1px solid var(--line); border-radius: 0.4rem; }
button.main { background: var(--strong); border-color: var(--strong); color: var(--on); font-weight: 600; text-align: center; }
button b, button small { display: block; }
button small { font-size: 0.9rem; }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; }
.problem { border-left: 4px solid var(--bad); padding: 0.4rem 0.8rem; }
code { overflow-wrap: anywhere; }
`;

/** For the Content-Security-Policy: no other style applies. */
export const STYLE_SOURCE = `'sha256-${hash("sha256", STYLE, "base64")}'`;

/** A whole page in this style. */
export const page = (title: string, content: Html): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html`${title}`.text}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${html`${title}`.text}</h1>
${content.text}
</main>
</body>
</html>
`;

const NOTE = html`<p>This is the built-in identity provider for local use; setting <code>OIDC_ISSUER</code> replaces it with yours.</p>`;

export function signInPage({ action, people, preselected, form, problem }: SignInPage): string {
  const others = people.filter((person) => person !== preselected);
  const listed = preselected === undefined ? others : [preselected, ...others];
  const list = html`<h2>Choose a person</h2>
<form method="post" action="${action}">
${listed.map((person) => personButton(person, person === preselected))}
</form>
<h2>Add a person</h2>
<p>An address that is in the list changes name and second factor of its person.</p>`;
  return page(
    "Sign in",
    html`${NOTE}
${problem === undefined ? undefined : html`<p class="problem" role="alert" id="problem">${problem}</p>`}
${people.length === 0 ? undefined : list}
${personForm(action, form, people.length === 0 ? "Sign in" : "Add and sign in")}`,
  );
}

const personButton = ({ sub, email, name, secondFactor }: Person, isPreselected: boolean): Html =>
  html`<button name="sub" value="${sub}"${isPreselected ? html` class="main" autofocus` : undefined}><b><bdi>${name}</bdi></b><small>${email}${secondFactor ? ", with a second factor" : ""}</small></button>
`;

const personForm = (action: string, { email, name, secondFactor }: FormValues, button: string): Html =>
  html`<form method="post" action="${action}">
<label for="email">E-mail address</label>
<input type="email" id="email" name="email" value="${email}" maxlength="${String(EMAIL_MAX_LENGTH)}" required autocomplete="off">
<label for="name">Name</label>
<input type="text" id="name" name="name" value="${name}" maxlength="${String(NAME_MAX_LENGTH)}" required autocomplete="off">
<label class="box"><input type="checkbox" name="second_factor" value="yes"${secondFactor ? html` checked` : undefined}>Signed in with a second factor</label>
<button class="main">${button}</button>
</form>`;

/** @param form markup of `oidc-provider`: a form with the id `op.logoutForm` that lacks its button */
export const signOutPage = (form: string): string =>
  page(
    "Sign out",
    html`${NOTE}
${new Html(form)}
<button class="main" form="op.logoutForm" name="logout" value="yes" autofocus>Sign out</button>`,
  );

export const signedOutPage = (): string =>
  page("Signed out", html`${NOTE}<p>You are signed out. You can close this page.</p>`);

export const startPage = (): string =>
  page(
    "Identity provider",
    html`${NOTE}<p>Sign in from the application; it brings you here when it needs to.</p>`,
  );

/** @param reason in words for the person at the browser */
export const errorPage = (reason: string): string =>
  page("This did not work", html`<p class="problem" role="alert">${reason}</p>${NOTE}`);
