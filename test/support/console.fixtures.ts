/**
 * People for tests: they sign in at the gateway as a browser does, through the built-in identity provider, and make calls with
 * the session that they got.
 */

import type { Answer } from "./gateway.ts";
import { httpCall } from "./http-client.ts";
import { Browser } from "./simulator/identity.fixtures.ts";

export interface Identity {
  readonly email: string;
  readonly name?: string;
  readonly secondFactor?: boolean;
}

export interface SignedInPerson {
  readonly browser: Browser;
  readonly id: string;
  readonly csrf: string;
  /** The session at the gateway, as a `Cookie` header. */
  readonly cookie: string;
  /**
   * Any route, with the session and its CSRF token.
   * @param options `org` is the header `svc-org`; `csrf` another token, empty for none
   */
  call(
    method: string,
    path: string,
    options?: { body?: unknown; org?: string; csrf?: string; headers?: Record<string, string> },
  ): Promise<Answer>;
}

/** @param query of `/auth/login`, such as `first_owner` */
export async function signInAt(
  url: string,
  { email, name = "A Person", secondFactor = false }: Identity,
  query: Readonly<Record<string, string>> = {},
  browser = new Browser(),
): Promise<SignedInPerson> {
  const login = `${url}/auth/login?${new URLSearchParams({ prompt: "login", return_to: "/auth/me", ...query })}`;
  const away = await browser.visit(login);
  const form = await browser.visit(away.url);
  const fields = { email, name, ...(secondFactor && { second_factor: "yes" }) };
  const back = await browser.submit(form, fields);
  const home = await browser.visit(back.url);
  if (home.status !== 200) throw new Error(`the sign-in ended at ${home.url}: ${home.status} ${home.html}`);
  const cookie = browser.cookiesFor("/");
  const { user, csrf_token: csrf } = (await request(`${url}/auth/me`, "GET", undefined, { cookie })).json;
  return {
    browser,
    csrf,
    cookie,
    id: user.id,
    async call(method, path, { body, org, csrf: token = csrf, headers = {} } = {}) {
      return await request(`${url}${path}`, method, body, {
        cookie,
        ...(token !== "" && { "x-svc-csrf": token }),
        ...(org !== undefined && { "svc-org": org }),
        ...headers,
      });
    },
  };
}

/** Somebody who was invited: signs in, accepts all invitations, and chooses the org of the last one. */
export async function joinAt(url: string, identity: Identity): Promise<SignedInPerson> {
  const person = await signInAt(url, identity);
  const { data } = (await person.call("GET", "/auth/invitations")).json;
  if (data.length === 0) throw new Error(`${identity.email} is not invited`);
  for (const { id, org_id: org } of data) {
    const done = await person.call("POST", `/auth/invitations/${id}/accept`);
    if (done.status !== 200) throw new Error(`${identity.email} could not join: ${done.text}`);
    await person.call("PUT", "/auth/active-org", { body: { org } });
  }
  return person;
}

async function request(
  url: string,
  method: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Answer> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  const answer = await httpCall(method, url, { headers: { ...type, ...headers }, ...sent });
  if (answer === undefined) throw new Error(`${method} ${url} was not answered`);
  const isJson = answer.headers.get("content-type")?.includes("json") === true;
  return { ...answer, json: isJson ? JSON.parse(answer.text) : undefined };
}
