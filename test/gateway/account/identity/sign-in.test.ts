/** Sign-in, sessions, orgs and members over HTTP, through the built-in identity provider. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { joinAt, type SignedInPerson, signInAt } from "../../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";

let gateway: TestGateway;
let owner: SignedInPerson;
beforeAll(async () => {
  gateway = await testGateway();
  owner = await signInAt(gateway.url, { email: "owner@example.com", name: "The Owner" });
});
afterAll(() => gateway.stop());

describe("the first sign-in", () => {
  test("owns the org that the start made", async () => {
    const { json } = await owner.call("GET", "/auth/me");
    expect(json.user).toMatchObject({ email: "owner@example.com", name: "The Owner", status: "active" });
    expect(json.orgs).toHaveLength(1);
    expect(json.orgs[0]).toMatchObject({ slug: "first", role: "owner" });
    expect([json.active_org, json.role]).toEqual([json.orgs[0].id, "owner"]);
  });

  test("is the only one that does", async () => {
    const second = await signInAt(gateway.url, { email: "second@example.com" });
    const { json } = await second.call("GET", "/auth/me");
    expect([json.orgs, json.active_org, json.role]).toEqual([[], null, null]);
    expect((await second.call("GET", "/v1/projects")).status).toBe(404);
  });
});

describe("an invitation", () => {
  test("becomes a membership when the person accepts it", async () => {
    const made = await owner.call("POST", "/v1/orgs", {
      body: { slug: "acme", name: "Acme", billing_country: "IN" },
    });
    expect([made.status, made.json.role, made.json.billing_currency]).toEqual([201, "owner", "INR"]);
    const invited = await owner.call("POST", "/v1/orgs/acme/members", {
      body: { email: "Friend@Example.com", role: "viewer" },
    });
    expect(invited.status).toBe(201);
    const friend = await joinAt(gateway.url, { email: "friend@example.com", name: "A Friend" });
    const { json } = await friend.call("GET", "/v1/orgs/acme");
    expect(json).toMatchObject({ slug: "acme", role: "viewer" });
    const refused = await friend.call("PATCH", "/v1/orgs/acme", { body: { name: "Mine" } });
    expect([refused.status, refused.json.error.code]).toEqual([403, "role"]);
  });
});

describe("a session", () => {
  test("changes nothing without its CSRF token", async () => {
    for (const csrf of ["", "x".repeat(43)]) {
      const { status, json } = await owner.call("POST", "/v1/projects", {
        csrf,
        body: { slug: "x", name: "x" },
      });
      expect([status, json.error.code]).toEqual([403, "csrf"]);
    }
  });

  test("ends at sign-out, and the provider's page for that is told", async () => {
    const person = await signInAt(gateway.url, { email: "leaver@example.com" });
    const out = await person.call("POST", "/auth/logout");
    expect([out.status, out.json.logout_url]).toEqual([200, expect.stringContaining("id_token_hint=")]);
    const { status, json } = await person.call("GET", "/auth/me");
    expect([status, json.error.code]).toEqual([401, "session_expired"]);
    expect((await person.call("POST", "/auth/logout")).status).toBe(200);
  });
});

test("an org that was chosen is the one that the next sign-in begins in, while the person is in it", async () => {
  const email = "chooser@example.com";
  const first = await signInAt(gateway.url, { email });
  const ids: string[] = [];
  for (const slug of ["choice-a", "choice-b"]) {
    const body = { slug, name: slug, billing_country: "US" };
    ids.push((await first.call("POST", "/v1/orgs", { body })).json.id);
  }
  const activeNow = async () => {
    const { json } = await (await signInAt(gateway.url, { email })).call("GET", "/auth/me");
    return json.active_org;
  };
  expect(await activeNow()).toBe(ids[0]);
  expect((await first.call("PUT", "/auth/active-org", { body: { org: "choice-b" } })).status).toBe(200);
  expect(await activeNow()).toBe(ids[1]);
  await first.call("PUT", "/auth/active-org", { body: { org: "choice-a" } });
  expect(await activeNow()).toBe(ids[0]);
});
