/**
 * Signing out at the built-in identity provider: by redirect (OpenID Connect RP-Initiated Logout 1.0) and by a token to the
 * application (Back-Channel Logout 1.0).
 */
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as client from "openid-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { IdentityProvider } from "../../../simulator/identity/identity-provider.ts";
import {
  type Application,
  Browser,
  beginSignIn,
  CLIENT_ID,
  type Page,
  signIn,
  startApplication,
  startProviderFor,
} from "../../support/simulator/identity.fixtures.ts";

const ADA = { email: "ada@example.test", name: "Ada" };

let application: Application;
let provider: IdentityProvider;
let problems: string[];

const start = (port = 0) =>
  startProviderFor(application, { port, report: (problem) => problems.push(problem) });

beforeEach(async () => {
  problems = [];
  application = await startApplication();
  provider = await start();
});
afterEach(async () => {
  await provider.close();
  await application.close();
});

const logoutUrl = (config: client.Configuration, parameters: Readonly<Record<string, string>>) =>
  client.buildEndSessionUrl(config, {
    post_logout_redirect_uri: `${application.origin}/signed-out`,
    state: "state of the logout",
    ...parameters,
  });

const expectSignedOut = ({ url }: Page) => {
  expect(url.origin + url.pathname).toBe(`${application.origin}/signed-out`);
  expect(url.searchParams.get("state")).toBe("state of the logout");
};

/** What a request that may show no page gets. */
const errorOfPromptNone = async (browser: Browser) => {
  const { url } = await beginSignIn(provider.issuer, application, { prompt: "none" });
  return (await browser.visit(url)).url.searchParams.get("error");
};

test("one button ends the session and leads back to the application", async () => {
  const { browser, config, idToken, accessToken, claims } = await signIn(provider.issuer, application, ADA);
  const userInfo = () => client.fetchUserInfo(config, accessToken, claims.sub);
  expect(await userInfo()).toMatchObject({ email: ADA.email, name: ADA.name });
  const page = await browser.visit(logoutUrl(config, { id_token_hint: idToken }));
  expect(page.html.match(/<button/g)).toHaveLength(1);
  expect(page.html).toContain("<h1>Sign out</h1>");
  expect(await errorOfPromptNone(browser)).toBeNull();
  const again = await browser.visit(logoutUrl(config, { id_token_hint: idToken }));
  expectSignedOut(await browser.submit(again, { logout: "yes" }));
  expect(await errorOfPromptNone(browser)).toBe("login_required");
  await expect(userInfo()).rejects.toThrow();
});

test("the application gets a logout token that its library verifies", async () => {
  const { browser, config, idToken, claims } = await signIn(provider.issuer, application, ADA);
  const page = await browser.visit(logoutUrl(config, { id_token_hint: idToken }));
  await browser.submit(page, { logout: "yes" });
  const [call] = application.received;
  expect(application.received).toHaveLength(1);
  expect(call).toMatchObject({
    path: "/backchannel-logout",
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
  const token = new URLSearchParams(call?.body).get("logout_token") ?? "";
  const keys = createRemoteJWKSet(new URL(`${provider.issuer}/jwks`));
  const { payload } = await jwtVerify(token, keys, {
    issuer: provider.issuer,
    audience: CLIENT_ID,
    typ: "logout+jwt",
    requiredClaims: ["iat", "jti", "exp"],
  });
  expect(payload).toMatchObject({
    sub: claims.sub,
    sid: claims.sid,
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  });
  expect(payload).not.toHaveProperty("nonce");
});

test("an application that refuses the logout token does not keep the session alive, and the failure is told", async () => {
  const { browser, config, idToken } = await signIn(provider.issuer, application, ADA);
  application.status = 500;
  const page = await browser.visit(logoutUrl(config, { id_token_hint: idToken }));
  expectSignedOut(await browser.submit(page, { logout: "yes" }));
  expect(await errorOfPromptNone(browser)).toBe("login_required");
  expect(problems).toEqual([expect.stringContaining("weir could not be told of a logout")]);
});

test("who is not signed in is led back without a page", async () => {
  const { config, idToken } = await signIn(provider.issuer, application, ADA);
  expectSignedOut(await new Browser().visit(logoutUrl(config, { id_token_hint: idToken })));
});

test("an ID token from before a restart does not hinder the logout", async () => {
  const before = await signIn(provider.issuer, application, ADA);
  await provider.close();
  provider = await start(Number(new URL(provider.issuer).port));
  const url = logoutUrl(before.config, { id_token_hint: before.idToken });
  expect(url.origin).toBe(provider.issuer);
  expectSignedOut(await before.browser.visit(url));
});

test("an address that the application did not register is not redirected to", async () => {
  const { browser, config, idToken } = await signIn(provider.issuer, application, ADA);
  const elsewhere = { id_token_hint: idToken, post_logout_redirect_uri: "http://127.0.0.1:1/" };
  const page = await browser.visit(logoutUrl(config, elsewhere));
  expect(page.status).toBe(400);
  expect(page.html).toContain("post_logout_redirect_uri not registered");
});

test("the form needs its token: another page cannot sign somebody out", async () => {
  const { browser, config, idToken } = await signIn(provider.issuer, application, ADA);
  await browser.visit(logoutUrl(config, { id_token_hint: idToken }));
  const forged = new URLSearchParams({ logout: "yes", xsrf: "guessed" });
  const page = await browser.visit(`${provider.issuer}/session/end/confirm`, forged);
  expect(page.status).toBe(400);
  expect(await errorOfPromptNone(browser)).toBeNull();
});
