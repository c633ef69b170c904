/** Bodies of POST and PUT, as identity providers send them. */
import { describe, expect, test } from "vitest";
import { readUserBody } from "../../../../src/account/scim/body.ts";
import { GROUP, MAX_MEMBERS, USER } from "../../../../src/account/scim/schema.ts";
import { BARBARA, ENTERPRISE, readGroupBody, refusal } from "./fixtures.ts";

test("Entra ID creates a user", () => {
  const body = {
    schemas: [USER.id, ENTERPRISE],
    externalId: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
    userName: "Test_User_ab6490ee@contoso.example",
    active: "True",
    displayName: "BobIsAmazing",
    emails: [{ primary: true, type: "work", value: "bob@contoso.example" }],
    meta: { resourceType: "User" },
    name: { formatted: "givenName familyName", familyName: "familyName", givenName: "givenName" },
    roles: [],
    phoneNumbers: [{ type: "mobile", value: "555-0100" }],
    [ENTERPRISE]: { department: "Sales" },
  };
  const { schemas: _, meta, roles, phoneNumbers, [ENTERPRISE]: extension, ...kept } = body;
  expect(readUserBody(body)).toEqual({ ...kept, active: true });
});

test("Okta replaces a user with PUT, with its id, empty groups and a password", () => {
  const body = {
    schemas: [USER.id],
    id: "23a35c27-23d3-4c03-b4c5-6443c09e7173",
    userName: "test.user@okta.local",
    name: { givenName: "Test", middleName: "", familyName: "User" },
    emails: [{ primary: true, value: "test.user@okta.local", type: "work", display: "test.user@okta.local" }],
    locale: "en-US",
    password: "1mz050nq",
    groups: [],
    active: false,
    meta: { resourceType: "User" },
  };
  expect(readUserBody(body)).toEqual({
    userName: "test.user@okta.local",
    name: { givenName: "Test", familyName: "User" },
    emails: body.emails,
    active: false,
  });
});

test("Okta creates a group with members", () => {
  const members = [{ value: "a", display: "a@okta.local" }, { value: "b" }, { value: "a" }];
  expect(readGroupBody({ schemas: [GROUP.id], displayName: "Guides", members })).toEqual({
    displayName: "Guides",
    members: [{ value: "a" }, { value: "b" }],
  });
});

test("what the service shows can be sent back, and loses only what is not kept", () => {
  const { schemas, id, meta, groups, userType, addresses, ...kept } = BARBARA;
  expect(readUserBody(BARBARA)).toEqual(kept);
});

test("what is read-only is not even looked at", () => {
  expect(readUserBody({ userName: "b", id: 7, meta: "x", groups: { a: 1 }, schemas: "x" })).toEqual({
    userName: "b",
  });
});

test("names are in any case, and what has no value is absent", () => {
  const body = {
    USERNAME: "b",
    NickName: "x",
    Name: { GIVENNAME: "B", familyName: null },
    title: "",
    emails: null,
    roles: [{}],
  };
  expect(readUserBody(body)).toEqual({ userName: "b", name: { givenName: "B" } });
});

test("one e-mail address without a list, and addresses as strings", () => {
  expect(readUserBody({ userName: "b", emails: { value: "b@c" } }).emails).toEqual([{ value: "b@c" }]);
  expect(readUserBody({ userName: "b", emails: ["b@c", "d@e"] }).emails).toEqual([
    { value: "b@c" },
    { value: "d@e" },
  ]);
});

test("at most one value is primary, and a value is there once", () => {
  const emails = [
    { value: "a", primary: true },
    { value: "A" },
    { value: "b", primary: true },
    { type: "work" },
  ];
  expect(readUserBody({ userName: "b", emails }).emails).toEqual([
    { value: "A", primary: true },
    { value: "b", primary: false },
  ]);
});

describe("is refused", () => {
  test.each([
    ["no object", [], "400 invalidSyntax"],
    ["nothing", undefined, "400 invalidSyntax"],
    ["no userName", { displayName: "x" }, "400 invalidValue"],
    ["an empty userName", { userName: "" }, "400 invalidValue"],
    ["a userName that is an object", { userName: { a: 1 } }, "400 invalidValue"],
    ["a long userName", { userName: "x".repeat(257) }, "400 invalidValue"],
    ["an active that is no boolean", { userName: "x", active: "maybe" }, "400 invalidValue"],
    ["51 roles", { userName: "x", roles: Array.from({ length: 51 }, (_, i) => `${i}`) }, "400 invalidValue"],
  ])("%s", (_, body, expected) => {
    expect(refusal(() => readUserBody(body))).toBe(expected);
  });

  test("a group without a name, or with too many members", () => {
    expect(refusal(() => readGroupBody({ members: [] }))).toBe("400 invalidValue");
    const members = Array.from({ length: MAX_MEMBERS + 1 }, (_, i) => ({ value: `${i}` }));
    expect(refusal(() => readGroupBody({ displayName: "x", members }))).toBe("400 invalidValue");
    expect(readGroupBody({ displayName: "x", members: members.slice(1) }).members).toHaveLength(MAX_MEMBERS);
  });
});

test("a prototype cannot be sent", () => {
  const body = JSON.parse(
    '{"userName":"b","__proto__":{"title":"x"},"name":{"__proto__":{"givenName":"x"}}}',
  ) as object;
  const read = readUserBody(body);
  expect(read).toEqual({ userName: "b" });
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  expect(read.title).toBeUndefined();
});
