/** Sign-in where something is wrong: a provider that is away or lies, a browser that is somebody else's, hostile addresses. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import {
  begin,
  called,
  codeOf,
  cookiesOf,
  finish,
  oidcRig,
  personOf,
  signInBy,
  startTestProvider,
} from "../../../support/identity/oidc.fixtures.ts";

const rig = oidcRig();
const { me } = rig;

describe("the way back", () => {
  test("ends where the browser asked for, or at home", async () => {
    const asked = await signInBy(rig.gateway.url, { return_to: "/docs?q=1#keys" });
    expect([asked.answer.status, asked.answer.headers.get("location")]).toEqual([303, "/docs?q=1#keys"]);
    expect((await signInBy(rig.gateway.url)).answer.headers.get("location")).toBe("/auth/me");
  });

  test("is the console for a browser that asked for no place", async () => {
    const begun = await begin(rig.gateway.url, {}, { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    expect((await finish(rig.gateway.url, begun)).headers.get("location")).toBe("/console");
  });

  test.each([
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "///evil.example",
    "http:evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "evil.example",
    "",
    "?x",
    "#x",
    "/\t/evil.example",
    "/\n/evil.example",
    "\t//evil.example",
    " //evil.example",
    "/ /evil.example",
    "/x\r\nset-cookie: a=b",
    "/\u0000",
    "/ä",
    "/\u2028/evil.example",
    "https:/evil.example",
    "//localhost@evil.example",
    `/${"x".repeat(1000)}`,
  ])("never leads elsewhere: %j", async (returnTo) => {
    const { answer } = await signInBy(rig.gateway.url, { return_to: returnTo });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/auth/me"]);
    expect(answer.headers.getSetCookie().map((line) => line.split("=")[0])).toEqual([
      "svc_session",
      "svc_login",
    ]);
  });

  test("of what a browser reads as a path here stays here", async () => {
    for (const path of ["/.//evil.example", "/..//evil.example", "/%5cevil.example", "/@evil.example"]) {
      const { answer } = await signInBy(rig.gateway.url, { return_to: path });
      const location = new URL(answer.headers.get("location") ?? "", rig.gateway.url);
      expect(location.origin).toBe(rig.gateway.url);
    }
  });

  test("is refused in a browser that did not begin the sign-in, and opens no session", async () => {
    const [mine, other] = [await begin(rig.gateway.url), await begin(rig.gateway.url)];
    for (const cookie of ["", other.cookie, "svc_login=x", `svc_login=${"x".repeat(9000)}`]) {
      const answer = await finish(rig.gateway.url, { ...mine, cookie });
      expect([codeOf(answer), cookiesOf(answer)]).toEqual([[400, "invalid_value"], ""]);
    }
    expect((await finish(rig.gateway.url, mine)).status).toBe(303);
  });

  test("works once", async () => {
    const begun = await begin(rig.gateway.url);
    expect((await finish(rig.gateway.url, begun)).status).toBe(303);
    const again = await finish(rig.gateway.url, begun);
    expect([codeOf(again), cookiesOf(again)]).toEqual([[400, "invalid_value"], ""]);
  });

  test("is refused with another state, without one, with two, and with a cookie that was changed", async () => {
    const begun = await begin(rig.gateway.url);
    const state = new URLSearchParams(begun.callback.split("?")[1]).get("state") ?? "";
    const tampered = [
      { ...begun, callback: begun.callback.replace(state, `${state}x`) },
      { ...begun, callback: begun.callback.replace(/&?state=[^&]*/, "") },
      { ...begun, callback: `${begun.callback}&state=${state}` },
      { ...begun, callback: "/auth/callback" },
      { ...begun, cookie: `${begun.cookie.slice(0, -8)}AAAAAAAA` },
      { ...begun, cookie: begun.cookie.replace(/\./g, "..") },
    ];
    for (const attempt of tampered) {
      const answer = await finish(rig.gateway.url, attempt);
      expect([codeOf(answer), cookiesOf(answer)]).toEqual([[400, "invalid_value"], ""]);
    }
    expect((await finish(rig.gateway.url, begun)).status).toBe(303);
  });

  test("with the provider's refusal says so, and repeats no markup of it", async () => {
    const { cookie, callback } = await begin(rig.gateway.url);
    const state = new URLSearchParams(callback.split("?")[1]).get("state") ?? "";
    const query = new URLSearchParams({ state, error: "access_denied", error_description: "<b>no</b>" });
    const answer = await finish(rig.gateway.url, {
      cookie,
      callback: `/auth/callback?${query}`,
    } as never);
    expect([codeOf(answer), answer.text.includes("<b>")]).toEqual([[400, "invalid_value"], false]);
  });

  test("sets a session that the browser did not bring, and ends the one that it brought", async () => {
    const planted = `svc_session=${"A".repeat(43)}`;
    const one = await begin(rig.gateway.url);
    const first = cookiesOf(await finish(rig.gateway.url, { ...one, cookie: `${one.cookie}; ${planted}` }));
    expect(first).not.toBe(planted);
    const two = await begin(rig.gateway.url);
    const second = cookiesOf(await finish(rig.gateway.url, { ...two, cookie: `${two.cookie}; ${first}` }));
    expect(second).not.toBe(first);
    expect([(await me(first)).status, (await me(second)).status]).toEqual([401, 200]);
    expect((await me(planted)).status).toBe(401);
  });
});

describe("what the provider says", () => {
  const invite = (email: string) =>
    rig.gateway.call("POST", "/v1/orgs/first/members", { body: { email, role: "viewer" } });

  test("shows an invitation only where it verified the address", async () => {
    expect((await invite("vera@example.com")).status).toBe(201);
    const invitations = async () => {
      const { cookie } = await signInBy(rig.gateway.url);
      return JSON.parse((await called("GET", `${rig.gateway.url}/auth/invitations`, { cookie })).text).data;
    };
    rig.provider.claims = personOf("vera", false);
    expect(await invitations()).toEqual([]);
    rig.provider.claims = personOf("vera", true);
    expect(await invitations()).toMatchObject([{ org_slug: "first", role: "viewer" }]);
  });

  test("is refused where it names somebody in more characters than there may be", async () => {
    rig.provider.claims = personOf("s".repeat(256));
    expect(codeOf((await signInBy(rig.gateway.url)).answer)).toEqual([400, "invalid_value"]);
  });

  test("may be of any length elsewhere", async () => {
    const long = "n".repeat(5000);
    rig.provider.claims = { ...personOf("long"), name: long, sid: long, acr: long, amr: [long, 7, null] };
    const { answer, cookie } = await signInBy(rig.gateway.url);
    expect([answer.status, (await me(cookie)).json.user.name.length]).toEqual([303, 1000]);
  });

  test.each([
    ["another audience", { aud: "somebody else" }],
    ["another issuer", { iss: "https://evil.example" }],
    ["another nonce", { nonce: "x" }],
    ["no subject", { sub: undefined }],
    ["an end in the past", { exp: 1 }],
  ])("is refused with %s", async (_, wrong) => {
    rig.provider.claims = { ...personOf("ada"), ...wrong };
    const { answer, cookie } = await signInBy(rig.gateway.url);
    expect([codeOf(answer), cookie]).toEqual([[400, "invalid_value"], ""]);
  });
});

describe("a provider that is away", () => {
  const AWAY = [503, "identity_unavailable"];

  test("on the way back is told, and the same way back works later", async () => {
    for (const stopping of [false, true]) {
      const begun = await begin(rig.gateway.url);
      if (stopping) await rig.provider.stop();
      else rig.provider.tokenStatus = 503;
      const answer = await finish(rig.gateway.url, begun);
      if (stopping) await rig.provider.start();
      rig.provider.tokenStatus = 200;
      expect([codeOf(answer), cookiesOf(answer)]).toEqual([AWAY, ""]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect((await finish(rig.gateway.url, begun)).status).toBe(303);
    }
  });

  test("at the first sign-in is told, keys work, and the next sign-in works", async () => {
    const late = await startTestProvider();
    const own = await testGateway({ env: late.env });
    try {
      await late.stop();
      const login = () => called("GET", `${own.url}/auth/login`);
      expect(codeOf(await login())).toEqual(AWAY);
      expect((await own.call("GET", "/v1/keys")).status).toBe(200);
      const notice = () =>
        called("POST", `${own.url}/auth/backchannel-logout`, {}, "logout_token=x").then(codeOf);
      expect(await notice()).toEqual(AWAY);
      await late.start();
      expect((await login()).status).toBe(303);
      const token = await late.logoutToken({ sub: "ada" });
      const real = () =>
        called("POST", `${own.url}/auth/backchannel-logout`, {}, `logout_token=${token}`).then(codeOf);
      late.keysStatus = 503;
      expect(await real()).toEqual(AWAY);
      late.keysStatus = 200;
      expect(await real()).toEqual([200, ""]);
    } finally {
      await own.stop();
      await late.stop().catch(() => undefined);
    }
  });
});

describe("the gateway's address", () => {
  const HOSTS = [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "127.0.0.1@evil.example",
    "x y",
  ];

  test.each(HOSTS)("is not taken from a Host that is none of this machine: %s", async (host) => {
    const login = await called("GET", `${rig.gateway.url}/auth/login`, { host });
    expect([codeOf(login), cookiesOf(login)]).toEqual([[503, "identity_unavailable"], ""]);
    expect(login.headers.get("x-should-retry")).toBe("false");
  });

  test("does not keep a session open that signs out under another Host", async () => {
    const { cookie } = await signInBy(rig.gateway.url);
    const csrf = (await me(cookie)).json.csrf_token;
    const headers = { cookie, "x-svc-csrf": csrf, host: "evil.example" };
    const out = await called("POST", `${rig.gateway.url}/auth/logout`, headers);
    expect([out.status, out.headers.getSetCookie().length, out.text.includes("evil")]).toEqual([
      200,
      1,
      false,
    ]);
    expect((await me(cookie)).status).toBe(401);
  });
});

describe("a gateway on https", () => {
  const PUBLIC_URL = "https://gateway.example.com";
  let own: TestGateway;
  beforeAll(async () => {
    own = await testGateway({ env: { ...rig.provider.env, PUBLIC_URL } });
  });
  afterAll(() => own.stop());
  const firstOwner = () => readFileSync(join(own.folder, "data/first-owner"), "utf8").trim();
  const rolesIn = async (cookie: string) => {
    const { text } = await called("GET", `${own.url}/auth/me`, { cookie });
    return JSON.parse(text).orgs.map(({ role }: { role: string }) => role);
  };

  test("sets cookies that no other host can set and no http request carries", async () => {
    const begun = await begin(own.url);
    const done = await finish(own.url, begun);
    const lines = [...begun.login.headers.getSetCookie(), ...done.headers.getSetCookie()];
    expect(lines.map((line) => line.split("=")[0])).toEqual([
      "__Host-svc_login",
      "__Host-svc_session",
      "__Host-svc_login",
    ]);
    for (const line of lines) {
      for (const part of ["Path=/", "HttpOnly", "Secure", "SameSite=Lax"]) expect(line).toContain(part);
      expect(line).not.toMatch(/domain/i);
    }
    const plain = cookiesOf(done).replace("__Host-", "");
    expect((await called("GET", `${own.url}/auth/me`, { cookie: plain })).status).toBe(401);
  });

  test("comes back to its own address, whatever Host was sent", async () => {
    const { login } = await begin(own.url, {}, { host: "evil.example" });
    const away = new URL(login.headers.get("location") ?? "");
    expect(away.searchParams.get("redirect_uri")).toBe(`${PUBLIC_URL}/auth/callback`);
  });

  test("is owned by who holds the secret of the data folder, and not by who comes first", async () => {
    expect(await rolesIn((await signInBy(own.url)).cookie)).toEqual([]);
    expect(await rolesIn((await signInBy(own.url, { first_owner: "x".repeat(43) })).cookie)).toEqual([]);
    expect(statSync(join(own.folder, "data/first-owner")).mode & 0o777).toBe(0o600);
    rig.provider.claims = personOf("installer");
    const first_owner = firstOwner();
    expect(await rolesIn((await signInBy(own.url, { first_owner })).cookie)).toEqual(["owner"]);
    rig.provider.claims = personOf("late");
    expect(await rolesIn((await signInBy(own.url, { first_owner })).cookie)).toEqual([]);
  });

  test("has no sign-in without a provider of its own: the built-in one lets anyone in", async () => {
    const bare = await testGateway({ env: { PUBLIC_URL } });
    const answer = await called("GET", `${bare.url}/auth/login`);
    await bare.stop();
    expect(codeOf(answer)).toEqual([503, "identity_unavailable"]);
  });
});
