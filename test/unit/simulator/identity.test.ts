/**
 * Signing in at the built-in identity provider, over real sockets, with `openid-client` as the application.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { IdentityProvider } from "../../../simulator/identity/identity-provider.ts";
import { ACR } from "../../../simulator/identity/openid-provider.ts";
import {
  type Application,
  Browser,
  beginSignIn,
  signIn,
  startApplication,
  startProviderFor,
} from "../../support/simulator/identity.fixtures.ts";

const ADA = { email: "ada@example.test", name: "Ada" };
const BEN = { email: "ben@example.test", name: "Ben" };

let application: Application;
let provider: IdentityProvider;
let wallMs: number;
const problems: string[] = [];

beforeEach(async () => {
  wallMs = Date.now();
  problems.length = 0;
  application = await startApplication();
  const clock = { now: () => wallMs, monotonic: () => wallMs };
  provider = await startProviderFor(application, { clock, report: (problem) => problems.push(problem) });
});
afterEach(async () => {
  await provider.close();
  await application.close();
  expect(problems).toEqual([]);
});

const begin = (parameters: Readonly<Record<string, string>> = {}) =>
  beginSignIn(provider.issuer, application, parameters);

describe("the first sign-in", () => {
  test("takes one click: the form of a fresh installation is filled in", async () => {
    const browser = new Browser();
    const begun = await begin();
    const page = await browser.visit(begun.url);
    expect(page.html).toContain('value="owner@localhost.test"');
    expect(page.html).not.toContain("Choose a person");
    expect(provider.people()).toEqual([]);
    const tokens = await begun.finish(await browser.submit(page));
    expect(tokens.claims()).toMatchObject({ email: "owner@localhost.test", name: "Local owner" });
  });

  test("gives an ID token with who signed in and how, by code, PKCE, state and nonce", async () => {
    const { claims } = await signIn(provider.issuer, application, ADA);
    expect(claims).toMatchObject({
      iss: provider.issuer,
      aud: "weir",
      email: ADA.email,
      email_verified: true,
      name: ADA.name,
      amr: ["pwd"],
      acr: ACR.oneFactor,
    });
    expect(claims.sub).toBe(provider.people()[0]?.sub);
    expect(claims.sub).not.toContain("ada");
    expect(claims.sid).toEqual(expect.any(String));
  });

  test("works where the browser knows the provider as localhost", async () => {
    const browser = new Browser();
    const begun = await begin();
    const url = new URL(begun.url);
    url.hostname = "localhost";
    const tokens = await begun.finish(await browser.submit(await browser.visit(url), ADA));
    expect(tokens.claims()).toMatchObject({ iss: provider.issuer, email: ADA.email });
  });

  test("gives a code that can be used once", async () => {
    const browser = new Browser();
    const begun = await begin();
    const back = await browser.submit(await browser.visit(begun.url));
    await begun.finish(back);
    await expect(begun.finish(back)).rejects.toMatchObject({ error: "invalid_grant" });
  });

  test("is refused without PKCE", async () => {
    const { url } = await begin();
    url.searchParams.delete("code_challenge");
    url.searchParams.delete("code_challenge_method");
    const page = await new Browser().visit(url);
    expect(page.url.origin).toBe(application.origin);
    expect(page.url.searchParams.get("error")).toBe("invalid_request");
  });

  test("is refused towards an address that the application did not register", async () => {
    const page = await new Browser().visit((await begin({ redirect_uri: "http://127.0.0.1:1/stolen" })).url);
    expect(page.status).toBe(400);
    expect(page.html).toContain("This did not work");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  });
});

describe("people", () => {
  test("are in the list after they were added, and sign in by their button as the same person", async () => {
    const first = await signIn(provider.issuer, application, ADA);
    await signIn(provider.issuer, application, BEN);
    const page = await new Browser().visit((await begin()).url);
    expect(page.html).toContain(`value="${first.claims.sub}"`);
    expect(page.html.match(/<button name="sub"/g)).toHaveLength(2);
    const again = await signIn(provider.issuer, application, { sub: first.claims.sub });
    expect(again.claims).toMatchObject({ sub: first.claims.sub, email: ADA.email });
    expect(provider.people()).toHaveLength(2);
  });

  test("who sign in with a second factor have it in amr and acr, then and later", async () => {
    const { claims } = await signIn(provider.issuer, application, { ...ADA, second_factor: "yes" });
    expect(claims).toMatchObject({ amr: ["pwd", "otp"], acr: ACR.twoFactors });
    const again = await signIn(provider.issuer, application, { sub: claims.sub });
    expect(again.claims).toMatchObject({ amr: ["pwd", "otp"], acr: ACR.twoFactors });
  });

  test("are known by their e-mail address: to add one again changes name and second factor", async () => {
    const { claims } = await signIn(provider.issuer, application, ADA);
    const changed = { email: "ADA@example.test", name: "Ada L.", second_factor: "yes" };
    const again = await signIn(provider.issuer, application, changed);
    expect(again.claims).toMatchObject({
      sub: claims.sub,
      email: ADA.email,
      name: "Ada L.",
      amr: ["pwd", "otp"],
    });
    expect(provider.people()).toHaveLength(1);
  });

  test.each([
    ["an e-mail address that is none", { email: "ada", name: "Ada" }, "This is not an e-mail address."],
    [
      "an e-mail address that is too long",
      { email: `${"a".repeat(250)}@b.test`, name: "Ada" },
      "254 characters",
    ],
    ["no name", { email: "ada@example.test", name: "  " }, "The name is empty."],
    ["a name that is too long", { email: "ada@example.test", name: "a".repeat(201) }, "200 characters"],
    ["a name with a line break", { email: "ada@example.test", name: "a\nb" }, "control characters"],
  ])("are not added with %s", async (_, fields, problem) => {
    const browser = new Browser();
    const page = await browser.submit(await browser.visit((await begin()).url), fields);
    expect(page.status).toBe(400);
    expect(page.html).toContain('role="alert"');
    expect(page.html).toContain(problem);
    expect(provider.people()).toEqual([]);
    // The page that refused takes a better answer.
    const back = await browser.submit(page, ADA);
    expect(back.url.searchParams.get("code")).toEqual(expect.any(String));
  });
});

describe("a session", () => {
  test("answers prompt=none and an ordinary request without a page", async () => {
    const { claims, browser } = await signIn(provider.issuer, application, ADA);
    for (const parameters of [{ prompt: "none" }, {}]) {
      const begun = await begin(parameters);
      const tokens = await begun.finish(await browser.visit(begun.url));
      expect(tokens.claims()?.sub).toBe(claims.sub);
    }
  });

  test("is asked for by prompt=none: without one, the answer is login_required", async () => {
    const begun = await begin({ prompt: "none" });
    const page = await new Browser().visit(begun.url);
    expect(page.url.searchParams.get("error")).toBe("login_required");
    await expect(begun.finish(page)).rejects.toMatchObject({ error: "login_required" });
  });

  test("ends after twelve hours", async () => {
    const { browser } = await signIn(provider.issuer, application, ADA);
    const { url } = await begin({ prompt: "none" });
    wallMs += 11 * 3_600_000;
    expect((await browser.visit(url)).url.searchParams.has("code")).toBe(true);
    wallMs += 13 * 3_600_000;
    expect((await browser.visit(url)).url.searchParams.get("error")).toBe("login_required");
  });

  test("does not keep prompt=login from asking", async () => {
    const { browser } = await signIn(provider.issuer, application, ADA);
    const page = await browser.visit((await begin({ prompt: "login" })).url);
    expect(page.html).toContain("<h1>Sign in</h1>");
  });

  test("is another one after another person was chosen, and the application hears that the first ended", async () => {
    const ada = await signIn(provider.issuer, application, ADA);
    const ben = await signIn(provider.issuer, application, BEN, ada.browser);
    expect(ben.claims.sub).not.toBe(ada.claims.sub);
    expect(ben.claims.sid).not.toBe(ada.claims.sid);
    expect(application.received.map(({ path }) => path)).toEqual(["/backchannel-logout"]);
    const begun = await begin({ prompt: "none" });
    const tokens = await begun.finish(await ada.browser.visit(begun.url));
    expect(tokens.claims()?.sub).toBe(ben.claims.sub);
  });
});

describe("login_hint", () => {
  test("puts the person first and focuses the button", async () => {
    await signIn(provider.issuer, application, ADA);
    const { claims } = await signIn(provider.issuer, application, BEN);
    const page = await new Browser().visit((await begin({ login_hint: "BEN@example.test" })).url);
    const [first] = page.html.match(/<button name="sub"[^>]*>/) ?? [];
    expect(first).toBe(`<button name="sub" value="${claims.sub}" class="main" autofocus>`);
  });

  test("of nobody fills in the form and adds nobody", async () => {
    const page = await new Browser().visit((await begin({ login_hint: "new@example.test" })).url);
    expect(page.html).toContain('value="new@example.test"');
    expect(provider.people()).toEqual([]);
  });
});
