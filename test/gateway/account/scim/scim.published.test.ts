/**
 * What `/openapi.json` says of the routes of SCIM is what they do. Every answer to a directory of these tests is held against it, in
 * `test/support/scim/scim.fixtures.ts`; here each operation is called as its example says, and the comparison itself is tried.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OpenApiDocument, OperationItem } from "../../../../src/edge/openapi/openapi-types.ts";
import { signInAt } from "../../../support/console.fixtures.ts";
import { type Answer, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { type Directory, directoryOf } from "../../../support/scim/scim.fixtures.ts";
import { answered, documentOf, faultOf, shapeOf } from "../../../support/scim/scim.published.fixtures.ts";

const MEDIA_TYPE = "application/scim+json";

let gateway: TestGateway;
let directory: Directory;
let document: OpenApiDocument;
beforeAll(async () => {
  gateway = await testGateway();
  directory = await directoryOf(gateway.url, await signInAt(gateway.url, { email: "owner@example.com" }));
  document = await documentOf(gateway.url);
});
afterAll(() => gateway.stop());

const items = (): [string, OperationItem][] =>
  Object.entries(document.paths)
    .filter(([path]) => path.startsWith("/scim/v2"))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, item]): [string, OperationItem] => [`${method} ${path}`, item]),
    );

const itemNamed = (id: string): OperationItem => {
  const found = items().find(([, { operationId }]) => operationId === id);
  if (found === undefined) throw new Error(`there is no ${id}`);
  return found[1];
};

test("every body and every answer is application/scim+json; errors have the shape of RFC 7644", () => {
  expect(items()).toHaveLength(17);
  for (const [name, { requestBody, responses }] of items()) {
    const contents = [requestBody, ...Object.values(responses)].map((part) => part?.content ?? {});
    const types = new Set(contents.flatMap((content) => Object.keys(content)));
    expect([name, [...types]]).toEqual([name, [MEDIA_TYPE]]);
    for (const [status, { content }] of Object.entries(responses).filter(([status]) => status >= "400")) {
      const { schema, example } = content?.[MEDIA_TYPE] ?? {};
      expect(schema).toEqual({ $ref: "#/components/schemas/ScimError" });
      expect([name, example]).toEqual([name, expect.objectContaining({ status })]);
      shapeOf(document, schema ?? {}).parse(example);
    }
  }
});

test("users, groups, lists and patches are described by name, with examples that fit", () => {
  const titles = new Set<string | undefined>();
  for (const [name, { requestBody, responses }] of items()) {
    for (const part of [requestBody, responses[200], responses[201]]) {
      const { schema, example } = part?.content?.[MEDIA_TYPE] ?? {};
      if (schema?.title === undefined) continue;
      titles.add(schema.title);
      expect([name, shapeOf(document, schema).safeParse(example).error]).toEqual([name, undefined]);
    }
  }
  expect(titles).toEqual(new Set(["User", "Group", "ListResponse", "PatchOp"]));
});

test("every good answer that is published is one that comes, to the bodies that are the examples", async () => {
  const example = (id: string) => itemNamed(id).requestBody?.content[MEDIA_TYPE]?.example as object;
  const user = (await directory.call("POST", "/Users", { body: example("scimCreateUser") })).json;
  const group = (await directory.call("POST", "/Groups", { body: example("scimCreateGroup") })).json;
  const [atUser, atGroup] = [`/Users/${user.id}`, `/Groups/${group.id}`];
  // The example names a user; here it is this one.
  const text = JSON.stringify(example("scimPatchGroup")).replace(/scu_\w+/, user.id);
  await directory.call("PATCH", `${atGroup}?attributes=members`, { body: text });
  for (const path of ["/ServiceProviderConfig", "/ResourceTypes", "/Schemas", "/Users", "/Groups"]) {
    const { json } = await directory.call("GET", path);
    if (json.Resources !== undefined) await directory.call("GET", `${path}/${json.Resources[0].id}`);
  }
  // The group first: its patch adds the user.
  for (const [path, name] of [
    [atGroup, "Group"],
    [atUser, "User"],
  ] as const) {
    await directory.call("PUT", path, { body: example(`scimReplace${name}`) });
    const body = name === "User" ? example("scimPatchUser") : text;
    const { headers } = await directory.call("PATCH", path, { body });
    const etag = headers.get("etag") ?? "";
    await directory.call("GET", path, { headers: { "if-none-match": etag } });
    await directory.call("PUT", path, { body: example(`scimReplace${name}`), headers: { "if-match": "no" } });
    await directory.call("DELETE", path);
  }
  const published = items().flatMap(([, { operationId, responses }]) =>
    Object.keys(responses)
      .filter((status) => status < "400")
      .map((status) => `${operationId} ${status}`),
  );
  expect(published.filter((one) => !answered.has(one))).toEqual([]);
});

describe("an answer that is not as it is published", () => {
  const told = (
    status: number,
    json: unknown,
    type = MEDIA_TYPE,
  ): Pick<Answer, "status" | "headers" | "text"> => ({
    status,
    headers: new Headers({ "content-type": type }),
    text: json === undefined ? "" : JSON.stringify(json),
  });
  const schemas = ["urn:ietf:params:scim:schemas:core:2.0:User"];
  const error = ["urn:ietf:params:scim:api:messages:2.0:Error"];

  test.each([
    ["another media type", "scimGetUser", told(200, { schemas, id: "a" }, "application/json")],
    ["a status that is not told of", "scimGetUser", told(418, { schemas: error, status: "418", detail: "" })],
    ["an attribute that is not described", "scimGetUser", told(200, { schemas, id: "a", password: "b" })],
    ["a part that is not described", "scimGetUser", told(200, { schemas, id: "a", name: { nick: "b" } })],
    ["no id", "scimGetUser", told(200, { schemas })],
    ["a list without a total", "scimListUsers", told(200, { schemas, Resources: [] })],
    ["a body where there is none", "scimDeleteUser", told(204, {})],
    ["an error of the other routes", "scimGetUser", told(404, { error: { code: "not_found" } })],
    ["a status that is a number", "scimGetUser", told(404, { schemas: error, status: 404, detail: "" })],
    [
      "an unknown scimType",
      "scimGetUser",
      told(404, { schemas: error, status: "404", scimType: "x", detail: "" }),
    ],
  ])("is found out: %s", (_, id, answer) => {
    expect(faultOf(document, itemNamed(id), answer)).toBeTypeOf("string");
  });

  test("is none of these", () => {
    for (const [id, answer] of [
      ["scimGetUser", told(200, { schemas, id: "a", userName: "b" })],
      ["scimGetUser", told(404, { schemas: error, status: "404", detail: "" })],
      ["scimDeleteUser", told(204, undefined)],
    ] as const) {
      expect(faultOf(document, itemNamed(id), answer)).toBeUndefined();
    }
  });
});
