/** The end of sessions: by their person, and by the identity provider's notice. */
import { generateKeyPair } from "jose";
import { describe, expect, test } from "vitest";
import {
  called,
  codeOf,
  cookiesOf,
  LOGOUT_EVENT,
  oidcRig,
  personOf,
  signInBy,
} from "../../../support/identity/oidc.fixtures.ts";

const rig = oidcRig();
const { me } = rig;

describe("sessions of a person", () => {
  test("are listed, and can be ended one by one", async () => {
    rig.provider.claims = personOf("lister");
    const [one, two] = [(await signInBy(rig.gateway.url)).cookie, (await signInBy(rig.gateway.url)).cookie];
    const sessions = async () =>
      JSON.parse((await called("GET", `${rig.gateway.url}/auth/sessions`, { cookie: two })).text).data;
    const listed = await sessions();
    expect(listed.map(({ current }: { current: boolean }) => current)).toEqual([false, true]);
    expect(JSON.stringify(listed)).not.toContain(two.split("=")[1]);
    rig.provider.claims = personOf("stranger");
    const stranger = (await signInBy(rig.gateway.url)).cookie;
    const end = async (cookie: string, id: string) =>
      (
        await called("DELETE", `${rig.gateway.url}/auth/sessions/${id}`, {
          cookie,
          "x-svc-csrf": (await me(cookie)).json.csrf_token,
        })
      ).status;
    expect(await end(stranger, listed[0].id)).toBe(404);
    expect((await me(one)).status).toBe(200);
    expect(await end(two, listed[0].id)).toBe(204);
    expect([(await me(one)).status, (await me(two)).status]).toEqual([401, 200]);
    expect(await end(two, listed[0].id)).toBe(404);
    expect(await end(two, listed[1].id)).toBe(204);
    expect((await me(two)).status).toBe(401);
  });

  test("are not ended by a sign-out that another site asks for", async () => {
    const { cookie } = await signInBy(rig.gateway.url);
    const out = await called("POST", `${rig.gateway.url}/auth/logout`, { cookie });
    expect([codeOf(out), cookiesOf(out), (await me(cookie)).status]).toEqual([[403, "csrf"], "", 200]);
  });
});

describe("a notice of sign-out by the provider", () => {
  const notify = (token: string) =>
    called(
      "POST",
      `${rig.gateway.url}/auth/backchannel-logout`,
      { "content-type": "application/x-www-form-urlencoded" },
      new URLSearchParams({ logout_token: token }).toString(),
    );
  const TAKEN = [200, ""];
  const REFUSED = [400, "invalid_value"];

  test("ends all sessions of the person, or those of one session there", async () => {
    rig.provider.claims = { ...personOf("ada"), sid: "one" };
    const one = (await signInBy(rig.gateway.url)).cookie;
    rig.provider.claims = { ...personOf("ada"), sid: "two" };
    const two = (await signInBy(rig.gateway.url)).cookie;
    rig.provider.claims = personOf("bob");
    const bob = (await signInBy(rig.gateway.url)).cookie;
    const states = () => Promise.all([one, two, bob].map(async (cookie) => (await me(cookie)).status));
    const notice = await notify(await rig.provider.logoutToken({ sid: "one" }));
    expect([codeOf(notice), notice.headers.get("cache-control")]).toEqual([TAKEN, "no-store"]);
    expect(await states()).toEqual([401, 200, 200]);
    expect(codeOf(await notify(await rig.provider.logoutToken({ sub: "ada" })))).toEqual(TAKEN);
    expect(await states()).toEqual([401, 401, 200]);
  });

  test("is taken once", async () => {
    const { cookie: before } = await signInBy(rig.gateway.url);
    const token = await rig.provider.logoutToken({ sub: "ada" });
    expect(codeOf(await notify(token))).toEqual(TAKEN);
    expect((await me(before)).status).toBe(401);
    const { cookie: after } = await signInBy(rig.gateway.url);
    expect(codeOf(await notify(token))).toEqual(REFUSED);
    expect((await me(after)).status).toBe(200);
  });

  test("is taken once of 50 that come at the same time", async () => {
    const token = await rig.provider.logoutToken({ sub: "ada" });
    const answers = await Promise.all(Array.from({ length: 50 }, () => notify(token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("of somebody who is not known here is taken", async () => {
    expect(codeOf(await notify(await rig.provider.logoutToken({ sub: "nobody-here" })))).toEqual(TAKEN);
  });

  test.each([
    ["no event", { events: undefined }],
    ["another event", { events: { "http://example.com/event": {} } }],
    ["events that are none", { events: LOGOUT_EVENT }],
    ["a list of events", { events: [LOGOUT_EVENT] }],
    ["a nonce", { nonce: "x" }],
    ["no subject and no session", { sub: undefined }],
    ["no jti", { jti: undefined }],
    ["a jti that is no text", { jti: 7 }],
    ["no time", { iat: undefined }],
    ["a time long ago", { iat: 1 }],
    ["a time to come", { iat: 4_000_000_000 }],
    ["another audience", { aud: "somebody else" }],
    ["another issuer", { iss: "https://evil.example" }],
    ["an end in the past", { exp: 1 }],
    ["a subject that is too long", { sub: "s".repeat(256) }],
  ])("is refused with %s, and ends nothing", async (_, wrong) => {
    const { cookie } = await signInBy(rig.gateway.url);
    expect(codeOf(await notify(await rig.provider.logoutToken({ sub: "ada", ...wrong })))).toEqual(REFUSED);
    expect((await me(cookie)).status).toBe(200);
  });

  test("is refused where somebody else signed it, or nobody", async () => {
    const { cookie } = await signInBy(rig.gateway.url);
    const forged = await rig.provider.logoutToken(
      { sub: "ada" },
      (await generateKeyPair("ES256")).privateKey,
    );
    const [, payload = ""] = forged.split(".");
    const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
    for (const token of [forged, `${none}.${payload}.`, "", "x", "..", "e30.e30.e30"]) {
      expect(codeOf(await notify(token))).toEqual(REFUSED);
    }
    expect((await me(cookie)).status).toBe(200);
  });
});
