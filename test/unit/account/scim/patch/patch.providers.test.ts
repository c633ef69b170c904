/** PATCH and its body as Entra ID and Okta send them. The bodies are theirs in form; names and ids are made up. */
import { describe, expect, test } from "vitest";
import type { ResourceSchema } from "../../../../../src/account/scim/attribute.ts";
import { applyPatch } from "../../../../../src/account/scim/patch/patch.ts";
import {
  MAX_OPERATIONS,
  PATCH_SCHEMA,
  readPatchBody,
} from "../../../../../src/account/scim/patch/patch-body.ts";
import { GROUP, USER } from "../../../../../src/account/scim/schema.ts";
import { BARBARA, ENTERPRISE, GROUP_ID, group, refusal } from "../fixtures.ts";

/** What a body of these operations makes of a resource. */
function sent(schema: ResourceSchema, resource: object, ...Operations: object[]): Record<string, unknown> {
  const operations = readPatchBody({ schemas: [PATCH_SCHEMA], Operations });
  return applyPatch(schema, resource as Record<string, unknown>, operations);
}

describe("Entra ID", () => {
  test.each([
    ["a string", "False", false],
    ["a string in lower case", "true", true],
    ["a boolean", false, false],
  ])("disables and enables a user with %s", (_, value, expected) => {
    const before = { ...BARBARA, active: !expected };
    expect(sent(USER, before, { op: "Replace", path: "active", value }).active).toBe(expected);
  });

  test("names operations and attributes in any case", () => {
    const after = sent(
      USER,
      BARBARA,
      { op: "REPLACE", path: "DISPLAYNAME", value: "B" },
      { OP: "aDd", Path: "Title", VALUE: "T" },
    );
    expect(after).toMatchObject({ displayName: "B", title: "T" });
  });

  test.each(["Add", "Replace"])("%s makes the work address that is missing", (name) => {
    const value = "b@contoso.example";
    const operation = { op: name, path: 'emails[type eq "work"].value', value };
    expect(sent(USER, { userName: "b" }, operation).emails).toEqual([{ type: "work", value }]);
    expect(sent(USER, BARBARA, operation).emails).toEqual([
      { ...BARBARA.emails[0], value },
      BARBARA.emails[1],
    ]);
  });

  test("makes an address that two conditions describe", () => {
    const operation = { op: "Add", path: 'emails[type eq "work" and primary eq true].value', value: "b@c" };
    expect(sent(USER, {}, operation).emails).toEqual([{ type: "work", primary: true, value: "b@c" }]);
  });

  test("fills a role part by part, found by primary as a string, its value not first", () => {
    const operations = ["display", "value", "type"].map((part) => ({
      op: "Add",
      path: `roles[primary eq "True"].${part}`,
      value: `the ${part}`,
    }));
    expect(sent(USER, {}, ...operations).roles).toEqual([
      { primary: true, display: "the display", value: "the value", type: "the type" },
    ]);
    expect(sent(USER, {}, operations[0] ?? {})).toEqual({});
  });

  test("keeps a role whose value is a JSON object in a string", () => {
    const value = JSON.stringify({ id: "18d14569", value: "admin", displayName: "Admin" });
    const after = sent(
      USER,
      {},
      { op: "Add", path: "roles", value: [{ primary: true, type: "WindowsAzure", value }] },
    );
    expect(after.roles).toEqual([{ primary: true, type: "WindowsAzure", value }]);
  });

  test("sends paths as names when it sends no path", () => {
    const value = {
      displayName: "Babs",
      "name.familyName": "J",
      "name.givenName": "B",
      'emails[type eq "work"].value': "b@contoso.example",
      'phoneNumbers[type eq "mobile"].value': "555-0100",
      'addresses[type eq "work"].formatted': "Street 1",
      [`${ENTERPRISE}:employeeNumber`]: "7",
      [ENTERPRISE]: { department: "Sales", manager: { value: "x" } },
      active: "True",
    };
    expect(sent(USER, { ...BARBARA, active: false }, { op: "replace", value })).toEqual({
      ...BARBARA,
      displayName: "Babs",
      name: { ...BARBARA.name, familyName: "J", givenName: "B" },
      emails: [{ ...BARBARA.emails[0], value: "b@contoso.example" }, BARBARA.emails[1]],
      active: true,
    });
  });

  test("an update of a manager and a phone number changes what is kept, and nothing else", () => {
    const after = sent(
      USER,
      BARBARA,
      {
        op: "Add",
        path: `${ENTERPRISE}:manager`,
        value: [{ $ref: "https://x.example/Users/2", value: "2" }],
      },
      { op: "Remove", path: 'phoneNumbers[type eq "work"].value' },
      { op: "Replace", path: "userName", value: "b@contoso.example" },
    );
    expect(after).toEqual({ ...BARBARA, userName: "b@contoso.example" });
  });

  test("an older job wraps single values in a list", () => {
    const value = [{ $ref: null, value: "Babs" }];
    expect(sent(USER, {}, { op: "Replace", path: "displayName", value })).toEqual({ displayName: "Babs" });
  });

  test("adds members with an empty $ref", () => {
    const operation = { op: "Add", path: "members", value: [{ $ref: null, value: "f648f8d5ea4e4cd38e9c" }] };
    expect(sent(GROUP, group(), operation)).toEqual(group("f648f8d5ea4e4cd38e9c"));
  });

  test("removes members by a list of values, and only those", () => {
    const remove = (value: unknown) =>
      sent(GROUP, group("a", "b", "c"), { op: "Remove", path: "members", value });
    expect(remove([{ $ref: null, value: "a" }, { value: "c" }])).toEqual(group("b"));
    expect(remove([{ value: "x" }])).toEqual(group("a", "b", "c"));
    expect(remove([])).toEqual(group("a", "b", "c"));
    expect(remove(null)).toEqual(group());
  });

  test("a list of values to remove that nobody can read removes nobody", () => {
    for (const value of [[{}], [{ $ref: "x" }], [null], {}]) {
      const operation = { op: "Remove", path: "members", value };
      expect(refusal(() => sent(GROUP, group("a"), operation))).toBe("400 invalidValue");
    }
  });

  test("removes addresses by a list of values: those that have all the parts", () => {
    const remove = (sample: object) =>
      sent(USER, BARBARA, { op: "Remove", path: "emails", value: [sample] }).emails;
    expect(remove({ value: "BABS@jensen.org" })).toEqual([BARBARA.emails[0]]);
    expect(remove({ value: "babs@jensen.org", type: "work" })).toEqual(BARBARA.emails);
    expect(remove({ type: "home" })).toEqual([BARBARA.emails[0]]);
  });

  test("removes a member by a filter", () => {
    const path = 'members[value eq "7f4bc1a3-285e-48ae-8202-5accb43efb0e"]';
    expect(sent(GROUP, group("7f4bc1a3-285e-48ae-8202-5accb43efb0e", "a"), { op: "remove", path })).toEqual(
      group("a"),
    );
  });

  test("renames a group", () => {
    const operation = { op: "Replace", path: "displayName", value: "1879db59-group" };
    expect(sent(GROUP, group("a"), operation)).toEqual({ ...group("a"), displayName: "1879db59-group" });
  });
});

describe("Okta", () => {
  test("deactivates a user without a path", () => {
    expect(sent(USER, BARBARA, { op: "replace", value: { active: false } })).toEqual({
      ...BARBARA,
      active: false,
    });
  });

  test("renames a group and repeats its id", () => {
    const operation = { op: "replace", value: { id: GROUP_ID, displayName: "Test SCIMv2" } };
    expect(sent(GROUP, group("a"), operation)).toEqual({ ...group("a"), displayName: "Test SCIMv2" });
  });

  test("adds and removes members of a group in one request", () => {
    const after = sent(
      GROUP,
      group("a", "b"),
      { op: "remove", path: 'members[value eq "a"]' },
      { op: "add", path: "members", value: [{ value: "c", display: "test.user@okta.local" }] },
    );
    expect(after).toEqual(group("b", "c"));
  });

  test("replaces all members, with a path and without", () => {
    const value = [
      { value: "c", display: "c@okta.local" },
      { value: "d", display: "d@okta.local" },
    ];
    expect(sent(GROUP, group("a"), { op: "replace", path: "members", value })).toEqual(group("c", "d"));
    expect(sent(GROUP, group("a"), { op: "replace", value: { members: value } })).toEqual(group("c", "d"));
  });

  test("sends what the service writes along with what changes", () => {
    const value = {
      schemas: [USER.id],
      meta: { resourceType: "User" },
      groups: [],
      password: "x",
      title: "T",
    };
    expect(sent(USER, BARBARA, { op: "replace", value })).toEqual({ ...BARBARA, title: "T" });
  });
});

describe("the body", () => {
  test("may lack the schema, and have an empty path", () => {
    expect(
      readPatchBody({
        operations: [
          { op: "Remove", path: "title" },
          { op: "add", path: "", value: 0 },
        ],
      }),
    ).toEqual([
      { op: "remove", path: "title" },
      { op: "add", value: 0 },
    ]);
  });

  test.each([
    ["no object", [], "400 invalidSyntax"],
    ["nothing", undefined, "400 invalidSyntax"],
    ["no operations", { schemas: [PATCH_SCHEMA] }, "400 invalidSyntax"],
    ["an empty list", { Operations: [] }, "400 invalidSyntax"],
    ["one operation without a list", { Operations: { op: "remove" } }, "400 invalidSyntax"],
    ["an operation that is a string", { Operations: ["remove"] }, "400 invalidSyntax"],
    ["an unknown op", { Operations: [{ op: "move", path: "a" }] }, "400 invalidSyntax"],
    ["an op that is no string", { Operations: [{ op: ["add"] }] }, "400 invalidSyntax"],
    ["add without a value", { Operations: [{ op: "add", path: "title" }] }, "400 invalidSyntax"],
    ["a path that is no string", { Operations: [{ op: "remove", path: ["title"] }] }, "400 invalidPath"],
    ["too many operations", { Operations: Array(MAX_OPERATIONS + 1).fill({}) }, "400 invalidValue"],
  ])("is refused with %s", (_, body, expected) => {
    expect(refusal(() => readPatchBody(body))).toBe(expected);
  });
});
