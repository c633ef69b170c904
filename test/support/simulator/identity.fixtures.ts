/**
 * What signs in at the built-in identity provider: an application on a socket of its own that speaks through
 * `openid-client`, and a browser made of `fetch` and a jar of cookies.
 */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import * as client from "openid-client";
import { Agent, fetch, type Headers } from "undici";
import {
  type IdentityProvider,
  type IdentityProviderOptions,
  startIdentityProvider,
} from "../../../simulator/identity/identity-provider.ts";
import { systemClock } from "../../../src/base/clock.ts";

export const CLIENT_ID = "weir";
const CLIENT_SECRET = "a secret of the application";

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Application {
  readonly origin: string;
  readonly received: readonly ReceivedRequest[];
  /** Status of every answer; 200 unless set. */
  status: number;
  close(): Promise<void>;
}

export async function startApplication(): Promise<Application> {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    received.push({ path: request.url ?? "", headers: request.headers, body: await text(request) });
    response.writeHead(application.status, { "content-type": "text/html" });
    response.end("<!doctype html><title>The application</title><p>Back at the application.</p>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const application = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    status: 200,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return application;
}

export const startProviderFor = (
  { origin }: Application,
  options: Partial<IdentityProviderOptions> = {},
): Promise<IdentityProvider> =>
  startIdentityProvider({
    clock: systemClock,
    clients: [
      {
        id: CLIENT_ID,
        secret: CLIENT_SECRET,
        redirectUris: [`${origin}/callback`],
        postLogoutRedirectUris: [`${origin}/signed-out`],
        backchannelLogoutUri: `${origin}/backchannel-logout`,
      },
    ],
    ...options,
  });

export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
}

interface Cookie {
  readonly value: string;
  readonly path: string;
}

/** A connection for each request, so that none is left from before a restart. */
const dispatcher = new Agent({ pipelining: 0 });

/** Keeps cookies by name and path and follows redirects, but for those that leave the provider. */
export class Browser {
  readonly #cookies = new Map<string, Cookie>();

  /** Hands over the forms that a script would hand over. */
  async visit(target: URL | string, form?: URLSearchParams): Promise<Page> {
    const start = new URL(target);
    let page = await this.#request(start, form);
    for (let hops = 0; hops < 10; hops++) {
      const location = page.headers.get("location");
      if (location !== null) {
        const next = new URL(location, page.url);
        if (next.origin !== start.origin) return { ...page, url: next };
        page = await this.#request(next);
      } else if (page.html.includes("document.forms[0].submit()")) page = await this.submit(page);
      else return page;
    }
    throw new Error(`too many redirects at ${page.url}`);
  }

  /** Sends the form that has all these fields, filled in as told, or the only one there is. */
  submit(page: Page, fields: Readonly<Record<string, string>> = {}): Promise<Page> {
    const forms = [...page.html.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)];
    const form = forms.find(([, , body = ""]) =>
      Object.keys(fields).every((name) => body.includes(`name="${name}"`)),
    );
    const [, head = "", body = ""] = form ?? forms[0] ?? [];
    const action = new URL(unescapeHtml(attribute(head, "action") ?? ""), page.url);
    const filled = new URLSearchParams();
    for (const [input] of body.matchAll(/<input[^>]*>/g)) {
      const isOff = input.includes('type="checkbox"') && !input.includes(" checked");
      if (!isOff) filled.set(attribute(input, "name") ?? "", unescapeHtml(attribute(input, "value") ?? ""));
    }
    for (const [name, value] of Object.entries(fields)) filled.set(name, value);
    return this.visit(action, filled);
  }

  /** The header for a request to this path. */
  cookiesFor(pathname: string): string {
    return [...this.#cookies]
      .filter(([, { path }]) => pathname.startsWith(path))
      .map(([key, { value }]) => `${key.slice(key.indexOf(" ") + 1)}=${value}`)
      .join("; ");
  }

  async #request(url: URL, form?: URLSearchParams): Promise<Page> {
    const cookie = this.cookiesFor(url.pathname);
    const response = await fetch(url, {
      dispatcher,
      redirect: "manual",
      headers: { cookie, accept: "text/html", ...(form && { origin: url.origin }) },
      ...(form && { method: "POST", body: form }),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return { url, status: response.status, html: await response.text(), headers: response.headers };
  }

  #keep(line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const path = /; path=([^;]*)/i.exec(line)?.[1] ?? "/";
    if (/expires=Thu, 01 Jan 1970/i.test(line)) this.#cookies.delete(`${path} ${name}`);
    else this.#cookies.set(`${path} ${name}`, { value, path });
  }
}

const attribute = (tag: string, name: string): string | undefined =>
  new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1];

const unescapeHtml = (value: string): string =>
  value
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

/** The application's side of one sign-in. */
export interface SignIn {
  readonly config: client.Configuration;
  readonly url: URL;
  /** @param page where the browser came back to: checks state, nonce, signature, and the code by PKCE */
  finish(
    page: Pick<Page, "url">,
  ): Promise<client.TokenEndpointResponse & client.TokenEndpointResponseHelpers>;
}

export async function beginSignIn(
  issuer: string,
  { origin }: Application,
  parameters: Readonly<Record<string, string>> = {},
): Promise<SignIn> {
  const config = await client.discovery(new URL(issuer), CLIENT_ID, CLIENT_SECRET, undefined, {
    execute: [client.allowInsecureRequests],
  });
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const expectedState = client.randomState();
  const expectedNonce = client.randomNonce();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: `${origin}/callback`,
    scope: "openid email profile",
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
    state: expectedState,
    nonce: expectedNonce,
    ...parameters,
  });
  const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
  return { config, url, finish: (page) => client.authorizationCodeGrant(config, page.url, checks) };
}

export interface SignedIn {
  readonly claims: client.IDToken;
  readonly idToken: string;
  readonly accessToken: string;
  readonly config: client.Configuration;
  readonly browser: Browser;
}

/** Signs in with the form, or with a person's button where `fields` is a `sub`. @returns the claims of the ID token */
export async function signIn(
  issuer: string,
  application: Application,
  fields: Readonly<Record<string, string>> = {},
  browser = new Browser(),
): Promise<SignedIn> {
  const begun = await beginSignIn(issuer, application, { prompt: "login" });
  const page = await browser.visit(begun.url);
  const tokens = await begun.finish(await browser.submit(page, fields));
  const claims = tokens.claims();
  if (claims === undefined || tokens.id_token === undefined) throw new Error("no ID token came");
  const { id_token: idToken, access_token: accessToken } = tokens;
  return { claims, idToken, accessToken, config: begun.config, browser };
}
