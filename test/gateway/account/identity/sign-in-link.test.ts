/** The sign-in link of a start: who it signs in, from where, and how often. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { signInAt } from "../../../support/console.fixtures.ts";
import { FORWARDING } from "../../../support/forwarding-headers.ts";
import { type GatewayOptions, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { called, codeOf, cookiesOf, startTestProvider } from "../../../support/identity/oidc.fixtures.ts";

let gateway: TestGateway;
// Cells of tests have a public address, with which there is no link: test/cells/cluster/supervisor/sign-in-link.test.ts asks those without.
const start = (options: GatewayOptions = {}) => testGateway({ engine: false, cells: 0, ...options });
const link = (): string => {
  const url = gateway.signInLink?.();
  if (url === undefined) throw new Error("no link is offered");
  return url;
};
const meOf = async (cookie: string) =>
  JSON.parse((await called("GET", `${gateway.url}/auth/me`, { cookie })).text);

describe("on this machine alone", () => {
  beforeEach(async () => {
    gateway = await start();
  });
  afterEach(() => gateway.stop());

  test("opens a session of the first owner at the console, once", async () => {
    const url = link();
    expect(url.startsWith(`${gateway.url}/auth/link/`)).toBe(true);
    const answer = await called("POST", url);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/console?welcome=1"]);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^svc_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    expect(await meOf(cookiesOf(answer))).toMatchObject({
      user: { email: "owner@example.com", name: "Owner", status: "active" },
      orgs: [{ slug: "first", role: "owner" }],
      role: "owner",
    });
    const again = await called("POST", url);
    expect([again.status, cookiesOf(again)]).toEqual([200, ""]);
    expect(again.text).toContain("This link has ended");
    expect(again.text).toContain('href="/auth/login"');
  });

  test("a look at it uses nothing up, tells no other site of it and shows in no frame", async () => {
    const url = link();
    for (let look = 0; look < 3; look++) {
      const page = await called("GET", url);
      expect([page.status, cookiesOf(page)]).toEqual([200, ""]);
      expect(page.text).toContain('<form method="post">');
      expect(page.headers.get("referrer-policy")).toBe("no-referrer");
      expect(page.headers.get("cache-control")).toContain("no-store");
      const policy = page.headers.get("content-security-policy");
      for (const rule of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"])
        expect(policy).toContain(rule);
    }
    expect((await called("POST", url)).status).toBe(303);
    expect((await called("GET", url)).text).toContain("This link has ended");
  });

  test("of many that use it at once, one is signed in", async () => {
    const url = link();
    const answers = await Promise.all(Array.from({ length: 50 }, () => called("POST", url)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter((answer) => cookiesOf(answer) !== "")).toHaveLength(1);
  });

  test("is the person of a later ordinary sign-in, and the audit knows both", async () => {
    const byLink = await meOf(cookiesOf(await called("POST", link())));
    const { call } = await signInAt(gateway.url, { email: "owner@example.com", name: "Mira" });
    const { json } = await call("GET", "/auth/me");
    expect(json.user).toEqual({ ...byLink.user, name: "Mira" });
    const { json: audit } = await call("GET", "/v1/audit");
    const acts = (audit.data as { act: string; target: string }[]).filter(
      ({ target }) => target === json.user.id,
    );
    expect(acts.map(({ act }) => act)).toEqual(
      expect.arrayContaining(["session.link", "member.first_owner"]),
    );
  });

  test("signs the owner in that there is", async () => {
    const ada = await signInAt(gateway.url, { email: "ada@example.com", name: "Ada" });
    await signInAt(gateway.url, { email: "second@example.com", name: "Second" });
    const { user } = (await ada.call("GET", "/auth/me")).json;
    expect((await meOf(cookiesOf(await called("POST", link())))).user).toEqual(user);
    expect((await ada.call("GET", "/auth/me")).status).toBe(200);
  });

  test("ends the session that the browser had", async () => {
    const before = cookiesOf(await called("POST", link()));
    const after = cookiesOf(await called("POST", link(), { cookie: before }));
    expect(await meOf(before)).toMatchObject({ error: { type: "authentication" } });
    expect(await meOf(after)).toMatchObject({ role: "owner" });
  });

  test("signs nobody in with another token", async () => {
    const url = link();
    for (const other of ["x", "x".repeat(43), `${url.slice(-43)}x`.slice(1)]) {
      const answer = await called("POST", `${gateway.url}/auth/link/${other}`);
      expect([answer.status, cookiesOf(answer)]).toEqual([200, ""]);
    }
    expect((await called("POST", url)).status).toBe(303);
  });

  test("S14: does not exist for a request that a proxy passes on, which does not use it up", async () => {
    const url = link();
    for (const name of FORWARDING)
      for (const method of ["GET", "POST"]) {
        const answer = await called(method, url, { [name]: "1.1 proxy" });
        expect([codeOf(answer), cookiesOf(answer)], name).toEqual([[404, "not_found"], ""]);
      }
    const rebound = await called("POST", url, { host: "weir.evil.example" });
    expect(codeOf(rebound)).toEqual([404, "not_found"]);
    expect((await called("POST", url)).status).toBe(303);
  });
});

describe("is offered nowhere else:", () => {
  test.each<[string, () => Promise<GatewayOptions>]>([
    ["with a public address", async () => ({ env: { PUBLIC_URL: "http://127.0.0.1:9" } })],
    ["behind proxies that are trusted", async () => ({ settings: { trusted_proxies: ["127.0.0.1"] } })],
    ["where other machines reach it", async () => ({ env: { HOST: "0.0.0.0" } })],
  ])("%s", async (_, options) => {
    gateway = await start(await options());
    try {
      expect(gateway.signInLink?.()).toBeUndefined();
      const at = gateway.url.replace("0.0.0.0", "127.0.0.1");
      expect(codeOf(await called("POST", `${at}/auth/link/${"x".repeat(43)}`))).toEqual([404, "not_found"]);
    } finally {
      await gateway.stop();
    }
  });

  test("with an identity provider of the settings", async () => {
    const provider = await startTestProvider();
    try {
      gateway = await start({ env: provider.env });
      expect(gateway.signInLink?.()).toBeUndefined();
      await gateway.stop();
    } finally {
      await provider.stop();
    }
  });
});
