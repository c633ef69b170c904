/** What a directory means over HTTP: for members and their sessions, for memberships by hand, for its token and its log. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type SignedInPerson, signInAt } from "../../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import {
  CORE_USER,
  type Directory,
  directoryAt,
  directoryOf,
  eq,
  memberOf,
  patch,
  scimError,
} from "../../../support/scim/scim.fixtures.ts";
import { equals, until } from "../../../support/wait.ts";

const LOCAL = {
  id: "local",
  limits: { rpm: 0, tpm: 0, concurrency: 0, keys: 9, projects: 9 },
  features: { sso: true },
};

let gateway: TestGateway;
let owner: SignedInPerson;
let directory: Directory;
beforeAll(async () => {
  gateway = await testGateway({ plans: [LOCAL], settings: { operators: ["ops@example.com"] } });
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
  directory = await directoryOf(gateway.url, owner);
});
afterAll(() => gateway.stop());

const member = (email: string, org = "first") => memberOf(owner, email, org);

describe("a person of the directory", () => {
  test("signs in by the verified address, and is out with the next request once disabled", async () => {
    const body = { schemas: [CORE_USER], userName: "cy@example.com" };
    const { id } = (await directory.call("POST", "/Users", { body })).json;
    const cy = await signInAt(gateway.url, { email: "cy@example.com" });
    expect((await cy.call("GET", "/v1/projects", { org: "first" })).status).toBe(200);
    await directory.call("PATCH", `/Users/${id}`, {
      body: patch({ op: "Replace", path: "active", value: "False" }),
    });
    const { status, json } = await cy.call("GET", "/v1/projects", { org: "first" });
    expect([status, json.error.code]).toEqual([401, "session_expired"]);
    const { data } = (await owner.call("GET", "/v1/events?type=member.removed")).json;
    expect(data[0].data).toMatchObject({ email: "cy@example.com" });
    const audit = (await owner.call("GET", "/v1/audit?act=member.remove")).json.data[0];
    expect(audit.actor.kind).toBe("directory");
    await directory.call("PATCH", `/Users/${id}`, {
      body: patch({ op: "replace", value: { active: true } }),
    });
    const again = await signInAt(gateway.url, { email: "cy@example.com" });
    expect(again.id).toBe(cy.id);
    expect((await again.call("GET", "/v1/projects", { org: "first" })).status).toBe(200);
  });

  test("signs in by the externalId that is the subject, whatever the address", async () => {
    const person = await signInAt(gateway.url, { email: "dee@example.com" });
    expect((await person.call("GET", "/auth/me")).json.orgs).toEqual([]);
    const file = readFileSync(join(gateway.folder, "data/identity/people.json"), "utf8");
    const { people } = JSON.parse(file) as { people: { sub: string; email: string }[] };
    const sub = people.find(({ email }) => email === "dee@example.com")?.sub;
    expect(sub).toMatch(/^\w+$/);
    const body = {
      schemas: [CORE_USER],
      userName: "d.dee",
      externalId: sub,
      emails: [{ value: "d@corp.example" }],
    };
    const { id } = (await directory.call("POST", "/Users", { body })).json;
    const again = await signInAt(gateway.url, { email: "dee@example.com" });
    expect(again.id).toBe(person.id);
    expect((await again.call("GET", "/v1/projects", { org: "first" })).status).toBe(200);
    expect((await member("dee@example.com")).user_id).toBe(person.id);
    expect((await directory.call("DELETE", `/Users/${id}`)).status).toBe(204);
    expect((await again.call("GET", "/v1/projects", { org: "first" })).status).toBe(401);
  });

  test("keeps the sessions and orgs that the directory has no say in", async () => {
    const body = { schemas: [CORE_USER], userName: "eve@example.com" };
    const { id } = (await directory.call("POST", "/Users", { body })).json;
    const eve = await signInAt(gateway.url, { email: "eve@example.com" });
    await eve.call("POST", "/v1/orgs", { body: { slug: "eves", name: "Eve's", billing_country: "US" } });
    await directory.call("DELETE", `/Users/${id}`);
    expect((await eve.call("GET", "/v1/orgs/first")).status).toBe(404);
    expect((await eve.call("GET", "/v1/orgs/eves")).json.role).toBe("owner");
  });

  test("cannot be changed in the console, and can once the token is revoked", async () => {
    await owner.call("POST", "/v1/orgs", { body: { slug: "hand", name: "Hand", billing_country: "US" } });
    const own = await directoryOf(gateway.url, owner, "hand");
    await own.call("POST", "/Users", { body: { userName: "flo@example.com" } });
    const { user_id: user } = await member("flo@example.com", "hand");
    const path = `/v1/orgs/hand/members/${user}`;
    for (const answer of [
      await owner.call("PATCH", path, { body: { role: "viewer" } }),
      await owner.call("DELETE", path),
    ]) {
      expect([answer.status, answer.json.error.code]).toEqual([409, "state"]);
      expect(answer.json.error.message).toContain("directory");
    }
    expect((await owner.call("DELETE", "/v1/org/scim/token", { org: "hand" })).status).toBe(204);
    expect((await owner.call("PATCH", path, { body: { role: "viewer" } })).status).toBe(200);
    expect((await owner.call("DELETE", path)).status).toBe(204);
  });
});

describe("the playground key of a person of the directory", () => {
  const hal = { userName: "hal@example.com" };
  let userId: string;
  let person: SignedInPerson;
  beforeEach(async () => {
    userId = (await directory.call("POST", "/Users", { body: hal })).json.id;
    person = await signInAt(gateway.url, { email: hal.userName });
    await person.call("PUT", "/auth/active-org", { body: { org: "first" } });
  });
  afterEach(() => directory.call("DELETE", `/Users/${userId}`));

  const newSecret = async (): Promise<string> => {
    const body = { project_id: (await gateway.call("GET", "/v1/projects")).json.data[0].id };
    const made = await person.call("POST", "/v1/playground/key", { body });
    expect(made.status, made.text).toBe(201);
    return made.json.secret;
  };
  const used = async (secret: string) => {
    const { status, json } = await gateway.chat({ max_tokens: 5 }, { key: secret });
    return [status, json.error?.code];
  };
  const off = () =>
    directory.call("PATCH", `/Users/${userId}`, {
      body: patch({ op: "replace", path: "active", value: false }),
    });

  test.each([
    ["deactivates them", off],
    ["deletes them", () => directory.call("DELETE", `/Users/${userId}`)],
    [
      "puts them into a group of viewers",
      () => {
        const body = { displayName: "viewer", members: [{ value: userId }] };
        return directory.call("POST", "/Groups", { body });
      },
    ],
  ])("ends when the directory %s", async (_, act) => {
    const secret = await newSecret();
    expect(await used(secret)).toEqual([200, undefined]);
    expect((await act()).status).toBeLessThan(300);
    expect(await used(secret)).toEqual([401, "revoked_key"]);
  });

  test("is another secret of the same key once they are active again", async () => {
    const secret = await newSecret();
    await off();
    await directory.call("PATCH", `/Users/${userId}`, {
      body: patch({ op: "replace", value: { active: true } }),
    });
    person = await signInAt(gateway.url, { email: hal.userName });
    await person.call("PUT", "/auth/active-org", { body: { org: "first" } });
    expect(await used(secret)).toEqual([401, "revoked_key"]);
    const another = await newSecret();
    expect(await used(another)).toEqual([200, undefined]);
    expect(await used(secret)).toEqual([401, "invalid_key"]);
  });
});

describe("a member by hand", () => {
  test("stays one: the directory links to them, and may not end what it did not begin", async () => {
    await owner.call("POST", "/v1/orgs/first/members", {
      body: { email: "gus@example.com", role: "viewer" },
    });
    const made = await directory.call("POST", "/Users", { body: { userName: "gus@example.com" } });
    expect(made.status).toBe(201);
    const admins = await directory.call("POST", "/Groups", {
      body: { displayName: "admin", members: [{ value: made.json.id }] },
    });
    expect(admins.status).toBe(201);
    expect(await member("gus@example.com")).toMatchObject({ role: "viewer" });
    const off = patch({ op: "replace", path: "active", value: false });
    const refused = await directory.call("PATCH", `/Users/${made.json.id}`, { body: off });
    expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining("by hand")]);
    const { user_id: user } = await member("gus@example.com");
    expect((await owner.call("DELETE", `/v1/orgs/first/members/${user}`)).status).toBe(204);
    expect((await directory.call("PATCH", `/Users/${made.json.id}`, { body: off })).status).toBe(200);
  });

  test("who owns the org stays its owner", async () => {
    const made = await directory.call("POST", "/Users", { body: { userName: "owner@example.com" } });
    expect(made.status).toBe(201);
    const refused = await directory.call("DELETE", `/Users/${made.json.id}`);
    expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining("owner")]);
    expect((await owner.call("GET", "/v1/orgs/first")).json.role).toBe("owner");
  });

  test("a member of the directory who becomes the owner is the directory's no longer", async () => {
    await owner.call("POST", "/v1/orgs", { body: { slug: "heir", name: "Heir", billing_country: "US" } });
    const own = await directoryOf(gateway.url, owner, "heir");
    const { id } = (await own.call("POST", "/Users", { body: { userName: "jo@example.com" } })).json;
    const jo = await signInAt(gateway.url, { email: "jo@example.com" });
    const transfer = { body: { user_id: jo.id }, org: "heir" };
    expect((await owner.call("POST", "/v1/orgs/heir/transfer", transfer)).status).toBe(200);
    expect((await own.call("DELETE", `/Users/${id}`)).status).toBe(409);
    expect((await jo.call("GET", "/v1/orgs/heir")).json.role).toBe("owner");
  });
});

describe("a token", () => {
  let other: Directory;
  beforeAll(async () => {
    const body = { slug: "other", name: "Other", billing_country: "US" };
    await owner.call("POST", "/v1/orgs", { body });
    other = await directoryOf(gateway.url, owner, "other");
  });

  test("opens its own org's directory and no other's", async () => {
    const [mine] = (await directory.call("GET", "/Users?count=1")).json.Resources;
    expect((await other.call("GET", "/Users")).json.totalResults).toBe(0);
    expect((await other.call("GET", `/Users?${eq("id", mine.id)}`)).json.totalResults).toBe(0);
    for (const [method, body] of [
      ["GET"],
      ["PUT", { userName: "x@example.com" }],
      ["PATCH", patch({ op: "replace", path: "active", value: false })],
      ["DELETE"],
    ] as const) {
      expect((await other.call(method, `/Users/${mine.id}`, { body })).status).toBe(404);
    }
    const group = { displayName: "admin", members: [{ value: mine.id }] };
    expect(scimError(await other.call("POST", "/Groups", { body: group }))).toEqual([
      400,
      "400",
      "invalidValue",
    ]);
  });

  test("opens nothing else, and nothing else opens a directory", async () => {
    expect((await gateway.call("GET", "/v1/keys", { key: other.token })).status).toBe(401);
    for (const token of ["", gateway.liveKey, `svc-scim-${"x".repeat(43)}`]) {
      expect(scimError(await other.call("GET", "/Users", { token }))).toEqual([401, "401", undefined]);
    }
    expect((await gateway.call("POST", "/v1/org/scim/token")).json.error.code).toBe("role");
  });

  test("is rotated: the old one works beside the new one; both end when it is revoked", async () => {
    const soonMs = Date.now() + 23 * 3_600_000;
    const rotated = (await owner.call("POST", "/v1/org/scim/token", { org: "other" })).json;
    expect(rotated.token).toMatch(/^svc-scim-[0-9A-Za-z]{43}$/);
    expect(Date.parse(rotated.previous_works_until)).toBeGreaterThan(soonMs);
    const second = directoryAt(gateway.url, rotated.token);
    expect((await other.call("GET", "/Users")).status).toBe(200);
    expect((await second.call("GET", "/Users")).status).toBe(200);
    const { json } = await owner.call("GET", "/v1/org/scim/token", { org: "other" });
    expect(json).toEqual({
      id: rotated.id,
      hint: `svc-scim-…${rotated.token.slice(-4)}`,
      status: "active",
      created_at: rotated.created_at,
      last_used: new Date().toISOString().slice(0, 10),
      previous_works_until: rotated.previous_works_until,
    });
    expect((await owner.call("DELETE", "/v1/org/scim/token", { org: "other" })).status).toBe(204);
    for (const one of [other, second]) expect((await one.call("GET", "/Users")).status).toBe(401);
    const seen = await owner.call("GET", "/v1/org/scim/token", { org: "other" });
    expect(seen.json.status).toBe("revoked");
  });

  test("needs the plan's feature, and an org that is active", async () => {
    const plain = await testGateway({ plans: [{ ...LOCAL, features: { sso: false } }] });
    const person = await signInAt(plain.url, { email: "owner@example.com" });
    const { status, json } = await person.call("POST", "/v1/org/scim/token");
    await plain.stop();
    expect([status, json.error.code, json.error.details]).toEqual([403, "plan_feature", { feature: "sso" }]);
    const ops = await signInAt(gateway.url, { email: "ops@example.com" });
    const own = await directoryOf(gateway.url, owner, "other");
    const suspended = await ops.call("POST", "/v1/operator/orgs/other/suspend", {
      body: { reason: "unpaid" },
    });
    expect(suspended.status).toBe(200);
    expect(scimError(await own.call("GET", "/Users"))).toEqual([403, "403", undefined]);
    await ops.call("POST", "/v1/operator/orgs/other/resume", { body: { reason: "paid" } });
    expect((await own.call("GET", "/Users")).status).toBe(200);
    await owner.call("POST", "/v1/orgs/other/close", { body: { confirm: "other" }, org: "other" });
    const closed = await own.call("GET", "/Users");
    expect([closed.status, closed.json.detail]).toEqual([403, "The organisation is closed."]);
  });
});

describe("the log", () => {
  interface Row {
    readonly status: number;
    readonly method: string;
    readonly path: string;
    readonly error: string;
  }

  test("has a row for each call, those that failed included, newest first", async () => {
    await owner.call("POST", "/v1/orgs", { body: { slug: "logs", name: "Logs", billing_country: "US" } });
    const own = await directoryOf(gateway.url, owner, "logs");
    const { id } = (await own.call("POST", "/Users", { body: { userName: "hal@example.com" } })).json;
    await own.call("POST", "/Users", { body: { userName: "Hal@example.com" } });
    await own.call("POST", "/Users", { body: "{" });
    await own.call("GET", `/Users?${eq("userName", "hal@example.com")}`);
    await own.call("GET", "/Users/none");
    await own.call("DELETE", `/Users/${id}`);
    await own.call("GET", "/Users", { token: `${own.token}x` });
    const log = async (query = "") =>
      (await owner.call("GET", `/v1/org/scim/log${query}`, { org: "logs" })).json;
    await until("all six changes are in the log", async () => (await log()).data.length, equals(6));
    const { data } = await log();
    const { id: token } = (await owner.call("GET", "/v1/org/scim/token", { org: "logs" })).json;
    expect(data[0]).toEqual({
      id: expect.stringMatching(/^scl_/),
      ts: expect.stringMatching(/Z$/),
      actor: token,
      error: "",
      method: "DELETE",
      path: `/scim/v2/Users/${id}`,
      status: 204,
      user_name: "hal@example.com",
    });
    const told = data.map(({ method, status, user_name }: Row & { user_name: string }) => [
      method,
      status,
      user_name,
    ]);
    expect(told.sort()).toEqual(
      [
        ["DELETE", 204, "hal@example.com"],
        ["GET", 404, ""],
        ["GET", 200, ""],
        ["POST", 400, ""],
        ["POST", 409, "Hal@example.com"],
        ["POST", 201, "hal@example.com"],
      ].sort(),
    );
    expect(data.find((row: Row) => row.status === 409).error).toContain("userName");
    expect(data.find((row: Row) => row.status === 200).path).toBe(
      '/scim/v2/Users?filter=userName eq "hal@example.com"',
    );
    const page = await log("?limit=4");
    const rest = await log(`?limit=4&cursor=${page.next_cursor}`);
    expect([...page.data, ...rest.data]).toEqual(data);
    expect((await owner.call("GET", "/v1/org/scim/log?limit=501")).status).toBe(400);
  });
});
