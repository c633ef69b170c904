/** Directories over HTTP: the requests of Entra ID and Okta, and what RFC 7644 asks for beside them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SignedInPerson, signInAt } from "../../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import {
  CORE_GROUP,
  CORE_USER,
  type Directory,
  directoryOf,
  eq,
  memberOf,
  patch,
  scimError,
} from "../../../support/scim/scim.fixtures.ts";
import { equals, until } from "../../../support/wait.ts";

let gateway: TestGateway;
let owner: SignedInPerson;
let directory: Directory;
beforeAll(async () => {
  gateway = await testGateway();
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
  directory = await directoryOf(gateway.url, owner);
});
afterAll(() => gateway.stop());

const member = (email: string) => memberOf(owner, email);

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
    await until(
      "the member has the role",
      async () => (await member("bo@example.com")).role,
      equals("billing"),
    );
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
