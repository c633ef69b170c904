/** Directories over HTTP: what Entra ID and Okta send, what it means for members and sessions, tokens and the log. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SignedInPerson, signInAt } from "./console.fixtures.ts";
import { type Answer, type TestGateway, testGateway } from "./fixtures.ts";
import {
  CORE_GROUP,
  CORE_USER,
  type Directory,
  directoryAt,
  directoryOf,
  eq,
  patch,
} from "./scim.fixtures.ts";

const FREE = { id: "free", rpm: 0, tpm: 0, concurrency: 0, keys: 9, projects: 9 };
const LOCAL = { ...FREE, id: "local", features: { sso: true } };

let gateway: TestGateway;
let owner: SignedInPerson;
let directory: Directory;
beforeAll(async () => {
  gateway = await testGateway({ settings: { plans: [LOCAL, FREE], operators: ["ops@example.com"] } });
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
  directory = await directoryOf(gateway.url, owner);
});
afterAll(() => gateway.stop());

const member = async (email: string, of = owner, org = "first") => {
  const { data } = (await of.call("GET", `/v1/orgs/${org}/members`, { org })).json;
  return data.find((row: { email: string }) => row.email === email);
};
const scimError = ({ status, json }: Answer) => [status, json.status, json.scimType];

describe("Entra ID", () => {
  let id: string;
  let groupId: string;

  test("looks for the user first, and finds an empty list", async () => {
    const { status, json, headers } = await directory.call(
      "GET",
      `/Users?${eq("userName", "ann@example.com")}`,
    );
    expect([status, headers.get("content-type")]).toEqual([200, "application/scim+json"]);
    expect(json).toMatchObject({ totalResults: 0, Resources: [], startIndex: 1, itemsPerPage: 0 });
  });

  test("creates the user, who is a member from then on", async () => {
    const body = {
      schemas: [CORE_USER, "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],
      externalId: "ann",
      userName: "Ann@example.com",
      active: true,
      emails: [{ primary: true, type: "work", value: "ann@example.com" }],
      meta: { resourceType: "User" },
      name: { formatted: "Ann Lee", familyName: "Lee", givenName: "Ann" },
      roles: [],
      "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { department: "Sales" },
    };
    const { status, json, headers } = await directory.call("POST", "/Users", { body });
    expect(status).toBe(201);
    ({ id } = json);
    expect(json).toMatchObject({ externalId: "ann", userName: "Ann@example.com", active: true });
    expect(json.meta).toMatchObject({ resourceType: "User", version: headers.get("etag") });
    expect(headers.get("location")).toBe(`${gateway.url}/scim/v2/Users/${id}`);
    expect(json.meta.location).toBe(headers.get("location"));
    expect(await member("ann@example.com")).toMatchObject({ role: "member" });
    const found = await directory.call("GET", `/Users?${eq("userName", "ANN@EXAMPLE.COM")}`);
    expect(found.json.Resources.map((user: { id: string }) => user.id)).toEqual([id]);
    const byMail = encodeURIComponent('emails[type eq "work"].value eq "ann@example.com"');
    expect((await directory.call("GET", `/Users?filter=${byMail}`)).json.totalResults).toBe(1);
  });

  test("changes attributes by paths, by value paths and without a path", async () => {
    const operations = [
      { op: "Replace", path: "displayName", value: "Ann L." },
      { op: "Replace", path: 'emails[type eq "work"].value', value: "ann.lee@example.com" },
      { op: "Add", value: { "name.familyName": "Lee-Ray", title: "Seller" } },
    ];
    const { status, json } = await directory.call("PATCH", `/Users/${id}`, { body: patch(...operations) });
    expect(status).toBe(200);
    expect(json).toMatchObject({ displayName: "Ann L.", title: "Seller", name: { familyName: "Lee-Ray" } });
    expect(json.emails).toEqual([{ primary: true, type: "work", value: "ann.lee@example.com" }]);
    // She has not signed in, so the invitation goes with her address.
    expect(await member("ann@example.com")).toBeUndefined();
    expect(await member("ann.lee@example.com")).toMatchObject({ role: "member" });
  });

  test("gives a role by a group, whose members it adds and removes one by one", async () => {
    const body = { schemas: [CORE_GROUP], externalId: "g1", displayName: "Weir-Admin" };
    const made = await directory.call("POST", "/Groups", { body });
    expect([made.status, made.json.displayName]).toEqual([201, "Weir-Admin"]);
    groupId = made.json.id;
    const add = patch({ op: "Add", path: "members", value: [{ $ref: null, value: id }] });
    expect((await directory.call("PATCH", `/Groups/${groupId}`, { body: add })).status).toBe(204);
    expect(await member("ann.lee@example.com")).toMatchObject({ role: "admin" });
    const whole = (await directory.call("GET", `/Groups/${groupId}`)).json;
    expect(whole.members).toEqual([{ value: id, $ref: `${gateway.url}/scim/v2/Users/${id}`, type: "User" }]);
    const query = `${eq("displayName", "weir-admin")}&excludedAttributes=members`;
    const [listed] = (await directory.call("GET", `/Groups?${query}`)).json.Resources;
    expect([listed.id, "members" in listed]).toEqual([groupId, false]);
    const asked = encodeURIComponent(`id eq "${groupId}" and members eq "${id}"`);
    expect((await directory.call("GET", `/Groups?filter=${asked}`)).json.totalResults).toBe(1);
    const { groups } = (await directory.call("GET", `/Users/${id}`)).json;
    expect(groups).toMatchObject([{ value: groupId, display: "Weir-Admin", type: "direct" }]);

    const remove = patch({ op: "Remove", path: "members", value: [{ value: id }] });
    expect((await directory.call("PATCH", `/Groups/${groupId}`, { body: remove })).status).toBe(204);
    expect(await member("ann.lee@example.com")).toMatchObject({ role: "member" });
    expect((await directory.call("GET", `/Groups?filter=${asked}`)).json.totalResults).toBe(0);
  });

  test("disables the user with a text, reads them still, and enables them again", async () => {
    const off = patch({ op: "Replace", path: "active", value: "False" });
    expect((await directory.call("PATCH", `/Users/${id}`, { body: off })).json.active).toBe(false);
    expect(await member("ann.lee@example.com")).toBeUndefined();
    expect((await directory.call("GET", `/Users/${id}`)).json).toMatchObject({ id, active: false });
    const on = patch({ op: "replace", value: { active: true } });
    expect((await directory.call("PATCH", `/Users/${id}`, { body: on })).json.active).toBe(true);
    expect(await member("ann.lee@example.com")).toMatchObject({ role: "member" });
  });

  test("deletes group and user", async () => {
    expect((await directory.call("DELETE", `/Groups/${groupId}`)).status).toBe(204);
    expect((await directory.call("DELETE", `/Users/${id}`)).status).toBe(204);
    for (const path of [`/Groups/${groupId}`, `/Users/${id}`]) {
      expect(scimError(await directory.call("GET", path))).toEqual([404, "404", undefined]);
    }
    expect(await member("ann.lee@example.com")).toBeUndefined();
  });
});

describe("Okta", () => {
  test("filters, creates, and deactivates with the whole user", async () => {
    const path = `/Users?${eq("userName", "bo@example.com")}&startIndex=1&count=100`;
    expect((await directory.call("GET", path)).json.totalResults).toBe(0);
    const user = {
      schemas: [CORE_USER],
      userName: "bo@example.com",
      name: { givenName: "Bo", familyName: "Ek" },
      emails: [{ primary: true, value: "bo@example.com", type: "work" }],
      displayName: "Bo Ek",
      locale: "en-US",
      externalId: "00u0bo",
      groups: [],
      password: "1mz050nq",
      active: true,
    };
    const made = await directory.call("POST", "/Users", {
      body: user,
      headers: { "content-type": "application/json" },
    });
    expect([made.status, "password" in made.json]).toEqual([201, false]);
    const { id } = made.json;
    const off = { ...user, id, active: false };
    const put = await directory.call("PUT", `/Users/${id}`, { body: off });
    expect([put.status, put.json.active]).toEqual([200, false]);
    expect(await member("bo@example.com")).toBeUndefined();
    await directory.call("PUT", `/Users/${id}`, { body: { ...off, active: true } });
    expect(await member("bo@example.com")).toMatchObject({ role: "member" });
  });

  test("pushes a group: creates it, replaces its members, renames it, and removes a member by value path", async () => {
    const [bo] = (await directory.call("GET", `/Users?${eq("externalId", "00u0bo")}`)).json.Resources;
    const members = [{ value: bo.id, display: "bo@example.com" }];
    const made = await directory.call("POST", "/Groups", {
      body: { schemas: [CORE_GROUP], displayName: "Finance", members },
    });
    expect([made.status, made.json.members.length]).toEqual([201, 1]);
    const { id } = made.json;
    expect(await member("bo@example.com")).toMatchObject({ role: "member" });
    const rename = patch({ op: "replace", value: { id, displayName: "Billing" } });
    expect((await directory.call("PATCH", `/Groups/${id}`, { body: rename })).status).toBe(204);
    await expect.poll(async () => (await member("bo@example.com")).role).toBe("billing");
    const remove = patch({ op: "remove", path: `members[value eq "${bo.id}"]` });
    await directory.call("PATCH", `/Groups/${id}`, { body: remove });
    expect(await member("bo@example.com")).toMatchObject({ role: "member" });
    const body = { schemas: [CORE_GROUP], displayName: "Billing", members };
    expect((await directory.call("PUT", `/Groups/${id}`, { body })).json.members).toHaveLength(1);
    expect(await member("bo@example.com")).toMatchObject({ role: "billing" });
    const cleared = patch({ op: "replace", path: "members", value: [] });
    const shown = await directory.call("PATCH", `/Groups/${id}?attributes=members`, { body: cleared });
    expect([shown.status, shown.json.members]).toEqual([200, undefined]);
    const unknown = patch({ op: "add", path: "members", value: [{ value: "nobody" }] });
    const refused = await directory.call("PATCH", `/Groups/${id}`, { body: unknown });
    expect(scimError(refused)).toEqual([400, "400", "invalidValue"]);
  });
});

describe("RFC 7644", () => {
  test("what the service can do is told by documents that link to themselves", async () => {
    const config = (await directory.call("GET", "/ServiceProviderConfig")).json;
    expect(config).toMatchObject({ patch: { supported: true }, etag: { supported: true } });
    const types = (await directory.call("GET", "/ResourceTypes")).json;
    const schemas = (await directory.call("GET", "/Schemas")).json;
    expect([types.totalResults, schemas.totalResults]).toEqual([2, 2]);
    for (const { meta } of [config, ...types.Resources, ...schemas.Resources]) {
      const path = meta.location.replace(`${gateway.url}/scim/v2`, "");
      const { status, json } = await directory.call("GET", path);
      expect([status, json.meta.location]).toEqual([200, meta.location]);
    }
    expect((await directory.call("GET", "/Schemas/nothing")).status).toBe(404);
  });

  test("entity tags guard changes and spare answers", async () => {
    const body = { schemas: [CORE_USER], userName: "tag@example.com" };
    const made = await directory.call("POST", "/Users", { body });
    const path = `/Users/${made.json.id}`;
    const etag = made.headers.get("etag") ?? "";
    expect(etag).toMatch(/^W\/"/);
    const known = await directory.call("GET", path, { headers: { "if-none-match": etag } });
    expect([known.status, known.text, known.headers.get("etag")]).toEqual([304, "", etag]);
    const rename = (title: string) => ({
      body: patch({ op: "replace", path: "title", value: title }),
      headers: { "if-match": etag },
    });
    expect((await directory.call("PATCH", path, rename("one"))).status).toBe(200);
    expect(scimError(await directory.call("PATCH", path, rename("two")))).toEqual([412, "412", undefined]);
    expect((await directory.call("DELETE", path, { headers: { "if-match": etag } })).status).toBe(412);
    expect((await directory.call("GET", path)).json.title).toBe("one");
    const same = await directory.call("PATCH", path, {
      body: patch({ op: "replace", path: "title", value: "one" }),
    });
    expect(same.headers.get("etag")).toBe((await directory.call("GET", path)).headers.get("etag"));
  });

  test("lists are paged, counted and cut to the attributes that are asked for", async () => {
    const first = (await directory.call("GET", "/Users?startIndex=1&count=1&attributes=userName")).json;
    expect(first).toMatchObject({ itemsPerPage: 1, startIndex: 1 });
    expect(Object.keys(first.Resources[0]).sort()).toEqual(["id", "schemas", "userName"]);
    const second = (await directory.call("GET", "/Users?startIndex=2&count=1")).json;
    expect(second.Resources[0].id).not.toBe(first.Resources[0].id);
    const none = (await directory.call("GET", "/Users?count=0")).json;
    expect([none.totalResults, none.Resources]).toEqual([first.totalResults, []]);
  });

  test.each([
    ["GET", "/Users?filter=userName%20eq", undefined, [400, "400", "invalidFilter"]],
    ["GET", "/Users?count=many", undefined, [400, "400", "invalidValue"]],
    ["POST", "/Users", "{", [400, "400", "invalidSyntax"]],
    ["POST", "/Users", { schemas: [CORE_USER] }, [400, "400", "invalidValue"]],
    ["POST", "/Users", { userName: "no address" }, [400, "400", "invalidValue"]],
    ["POST", "/Users", "x".repeat(300_000), [413, "413", undefined]],
    ["PATCH", "/Users/scu_none", { Operations: [{ op: "remove" }] }, [404, "404", undefined]],
    ["PATCH", "/Users/scu_none", { Operations: [] }, [400, "400", "invalidSyntax"]],
    ["POST", "/Users/scu_none", {}, [405, "405", undefined]],
  ])("%s %s with %.30j is refused in the shape of SCIM", async (method, path, body, expected) => {
    const answer = await directory.call(method, path, { body });
    expect(scimError(answer)).toEqual(expected);
    expect(answer.headers.get("content-type")).toBe("application/scim+json");
    expect(answer.json.schemas).toEqual(["urn:ietf:params:scim:api:messages:2.0:Error"]);
  });

  test("of 200 who create one userName at once, one does", async () => {
    const body = { schemas: [CORE_USER], userName: "race@example.com" };
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => directory.call("POST", "/Users", { body })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(new Set(refused.map((answer) => String(scimError(answer))))).toEqual(
      new Set(["409,409,uniqueness"]),
    );
    const found = await directory.call("GET", `/Users?${eq("userName", "race@example.com")}`);
    expect(found.json.totalResults).toBe(1);
  });
});

describe("a person of the directory", () => {
  test("signs in by the verified address, and is out with the next request once disabled", async () => {
    const body = { schemas: [CORE_USER], userName: "cy@example.com" };
    const { id } = (await directory.call("POST", "/Users", { body })).json;
    const cy = await signInAt(gateway.url, { email: "cy@example.com" });
    expect((await cy.call("GET", "/v1/projects")).status).toBe(200);
    await directory.call("PATCH", `/Users/${id}`, {
      body: patch({ op: "Replace", path: "active", value: "False" }),
    });
    const { status, json } = await cy.call("GET", "/v1/projects");
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
    expect((await again.call("GET", "/v1/projects")).status).toBe(200);
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
    expect((await again.call("GET", "/v1/projects")).status).toBe(200);
    expect((await member("dee@example.com")).user_id).toBe(person.id);
    expect((await directory.call("DELETE", `/Users/${id}`)).status).toBe(204);
    expect((await again.call("GET", "/v1/projects")).status).toBe(401);
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
    const { user_id: user } = await member("flo@example.com", owner, "hand");
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
    const rotated = (await owner.call("POST", "/v1/org/scim/token", { org: "other" })).json;
    expect(rotated.token).toMatch(/^svc-scim-[0-9A-Za-z]{43}$/);
    expect(Date.parse(rotated.previous_works_until)).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    const second = directoryAt(gateway.url, rotated.token);
    expect((await other.call("GET", "/Users")).status).toBe(200);
    expect((await second.call("GET", "/Users")).status).toBe(200);
    const { json } = await owner.call("GET", "/v1/org/scim/token", { org: "other" });
    expect(json).toEqual({
      ...{ id: rotated.id, hint: `svc-scim-…${rotated.token.slice(-4)}`, status: "active" },
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
    const plain = await testGateway({ settings: { plans: [{ ...LOCAL, features: { sso: false } }] } });
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
    await expect.poll(async () => (await log()).data.length).toBe(6);
    const { data } = await log();
    const { id: token } = (await owner.call("GET", "/v1/org/scim/token", { org: "logs" })).json;
    expect(data[0]).toEqual({
      ...{ id: expect.stringMatching(/^scl_/), ts: expect.stringMatching(/Z$/), actor: token, error: "" },
      ...{ method: "DELETE", path: `/scim/v2/Users/${id}`, status: 204, user_name: "hal@example.com" },
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
