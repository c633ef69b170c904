/** Invitations over HTTP: what an attacker who invites a stranger gets, and what the invited person does. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SignedInPerson, signInAt } from "../../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";

let gateway: TestGateway;
let host: SignedInPerson;
beforeAll(async () => {
  gateway = await testGateway();
  host = await signInAt(gateway.url, { email: "host@example.com", name: "The Host" });
  const body = { slug: "trap", name: "A <b>Trap</b>", billing_country: "US" };
  expect((await host.call("POST", "/v1/orgs", { body })).status).toBe(201);
  const settings = { settings: { security: { session_hours: 720 } } };
  expect((await host.call("PATCH", "/v1/orgs/trap", { body: settings })).status).toBe(200);
});
afterAll(() => gateway.stop());

const invite = (email: string, role = "member") =>
  host.call("POST", "/v1/orgs/trap/members", { body: { email, role } });
const me = async (person: SignedInPerson) => (await person.call("GET", "/auth/me")).json;
const hoursOf = ({ session: { created_at: from, ends_at: to } }: { session: Record<string, string> }) =>
  (Date.parse(to as string) - Date.parse(from as string)) / 3_600_000;
const invitationsOf = async (person: SignedInPerson) =>
  (await person.call("GET", "/auth/invitations")).json.data;

describe("S6: somebody whose address a stranger's org invited", () => {
  test("signs in to no org, for the usual time, as often as they like", async () => {
    await invite("victim@example.com", "owner");
    for (let times = 0; times < 2; times++) {
      const victim = await signInAt(gateway.url, { email: "victim@example.com" });
      const seen = await me(victim);
      expect([seen.orgs, seen.active_org, seen.role, hoursOf(seen)]).toEqual([[], null, null, 12]);
      expect((await victim.call("GET", "/v1/orgs/trap")).status).toBe(404);
    }
  });

  test("accepts with the session's CSRF token only, and stays in the org that they work in", async () => {
    await invite("worker@example.com", "admin");
    const worker = await signInAt(gateway.url, { email: "Worker@Example.com" });
    const body = { slug: "own", name: "Own", billing_country: "US" };
    const own = await worker.call("POST", "/v1/orgs", { body });
    const [invitation] = await invitationsOf(worker);
    expect(invitation).toMatchObject({ org_slug: "trap", role: "admin", invited_by: "host@example.com" });
    const accept = `/auth/invitations/${invitation.id}/accept`;
    for (const csrf of ["", "x".repeat(43), host.csrf]) {
      const refused = await worker.call("POST", accept, { csrf });
      expect([refused.status, refused.json.error.code]).toEqual([403, "csrf"]);
    }
    expect((await worker.call("GET", accept)).status).toBe(405);
    expect((await me(worker)).orgs).toHaveLength(1);
    const accepted = await worker.call("POST", accept);
    expect([accepted.status, accepted.json]).toEqual([
      200,
      { org_id: invitation.org_id, user_id: worker.id, role: "admin" },
    ]);
    const again = await signInAt(gateway.url, { email: "worker@example.com" });
    for (const seen of [await me(worker), await me(again)]) {
      expect(seen.orgs.map(({ slug }: { slug: string }) => slug).sort()).toEqual(["own", "trap"]);
      expect([seen.active_org, hoursOf(seen)]).toEqual([own.json.id, 12]);
    }
    const joined = await host.call("GET", "/v1/events?type=member.joined", { org: "trap" });
    expect(joined.json.data[0].data).toMatchObject({ user_id: worker.id, role: "admin" });
  });

  test("declines, and is asked no more", async () => {
    await invite("decliner@example.com");
    const decliner = await signInAt(gateway.url, { email: "decliner@example.com" });
    const [{ id }] = await invitationsOf(decliner);
    expect((await decliner.call("POST", `/auth/invitations/${id}/decline`)).status).toBe(204);
    expect(await invitationsOf(decliner)).toEqual([]);
    const members = (await host.call("GET", "/v1/orgs/trap/members")).json.data;
    expect(members.some(({ email }: { email: string }) => email === "decliner@example.com")).toBe(false);
  });

  test("of whom a key knows nothing: keys neither list nor accept", async () => {
    for (const [method, path] of [
      ["GET", "/auth/invitations"],
      ["POST", "/auth/invitations/ivt_x/accept"],
    ] as const) {
      const { status, json } = await gateway.call(method, path);
      expect([status, json.error.code]).toEqual([403, "role"]);
    }
  });
});

test("S6: the page shows in no frame, runs its own script alone, and names the org as text", async () => {
  await invite("reader@example.com");
  const reader = await signInAt(gateway.url, { email: "reader@example.com" });
  const [{ id }] = await invitationsOf(reader);
  const page = await reader.call("GET", `/auth/invitations/${id}`);
  expect(page.text).toContain("A &lt;b&gt;Trap&lt;/b&gt;");
  const policy = page.headers.get("content-security-policy") ?? "";
  for (const part of [
    "default-src 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ])
    expect(policy).toContain(part);
  expect(policy).toMatch(/script-src 'sha256-[^']+';/);
  expect(page.headers.get("x-frame-options")).toBe("DENY");
  expect(page.headers.get("cache-control")).toBe("no-store");
});

describe("S6: the page of all invitations", () => {
  const ASKS_PAGE = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

  test("is for browsers: names orgs as text, has the session's token, and no frame shows it", async () => {
    await invite("lister@example.com", "viewer");
    const lister = await signInAt(gateway.url, { email: "lister@example.com" });
    const page = await lister.call("GET", "/auth/invitations", { headers: ASKS_PAGE });
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.text).toContain("A &lt;b&gt;Trap&lt;/b&gt;");
    expect(page.text).toContain(`data-csrf="${lister.csrf}"`);
    expect(page.text).toContain("host@example.com");
    expect(page.headers.get("x-frame-options")).toBe("DENY");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("content-security-policy")).toMatch(
      /script-src 'sha256-[^']+'; style-src 'self'/,
    );
    const { json } = await lister.call("GET", "/auth/invitations", { headers: { accept: "*/*" } });
    expect(json.data).toMatchObject([{ org_slug: "trap", role: "viewer" }]);
  });

  test("says so where none waits, and asks strangers to sign in, which leads back", async () => {
    const nobody = await signInAt(gateway.url, { email: "uninvited@example.com" });
    const none = await nobody.call("GET", "/auth/invitations", { headers: ASKS_PAGE });
    expect(none.text).toContain("No invitation waits for you.");
    const stranger = await gateway.call("GET", "/auth/invitations", { key: null, headers: ASKS_PAGE });
    expect(stranger.status).toBe(401);
    expect(stranger.text).toContain('href="/auth/login?return_to=%2Fauth%2Finvitations"');
    expect(stranger.text).not.toContain("data-csrf");
    const program = await gateway.call("GET", "/auth/invitations", { key: null });
    expect([program.status, program.json.error.type]).toEqual([401, "authentication"]);
  });
});
