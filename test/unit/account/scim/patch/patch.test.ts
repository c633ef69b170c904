/** PATCH by RFC 7644 section 3.5.2: its examples, then its rules. What identity providers send beside it has its own file. */
import { describe, expect, test } from "vitest";
import type { ResourceSchema } from "../../../../../src/account/scim/attribute.ts";
import { applyPatch } from "../../../../../src/account/scim/patch/patch.ts";
import type { PatchOperation } from "../../../../../src/account/scim/patch/patch-body.ts";
import { GROUP, USER } from "../../../../../src/account/scim/schema.ts";
import { BARBARA, ENTERPRISE, GROUP_ID, group, op, RFC_USER, refusal } from "../fixtures.ts";

const BABS = "2819c223-7f76-453a-919d-413861904646";
const JAMES = "902c246b-6245-4190-8e05-00816be7344a";

const patched = (resource: object, ...operations: PatchOperation[]): Record<string, unknown> =>
  applyPatch(RFC_USER, resource as Record<string, unknown>, operations);
const patchedGroup = (resource: object, ...operations: PatchOperation[]) =>
  applyPatch(GROUP, resource as Record<string, unknown>, operations);
const refused = (schema: ResourceSchema, resource: object, ...operations: PatchOperation[]) =>
  refusal(() => applyPatch(schema, resource, operations));

describe("examples of section 3.5.2.1, add", () => {
  test("a member, of which only the id is kept", () => {
    const value = [{ display: "Babs Jensen", $ref: `https://example.com/v2/Users/${BABS}`, value: BABS }];
    expect(patchedGroup(group("james"), op("add", "members", value))).toEqual(group("james", BABS));
    expect(patchedGroup(group(), op("add", "members", value))).toEqual(group(BABS));
  });

  test("several attributes without a path", () => {
    const value = { emails: [{ value: "babs@example.org", type: "other" }], nickname: "Babs" };
    const after = patched(BARBARA, op("add", undefined, value));
    expect(after).toEqual({
      ...BARBARA,
      emails: [...BARBARA.emails, { value: "babs@example.org", type: "other" }],
      nickName: "Babs",
    });
  });
});

describe("examples of section 3.5.2.2, remove", () => {
  test("one member", () => {
    const path = `members[value eq "${BABS}"]`;
    expect(patchedGroup(group("james", BABS, "x"), op("remove", path))).toEqual(group("james", "x"));
  });

  test("all members: the attribute has no value then", () => {
    expect(patchedGroup(group("james", BABS), op("remove", "members"))).toEqual(group());
    expect(patchedGroup(group(BABS), op("remove", `members[value eq "${BABS}"]`))).not.toHaveProperty(
      "members",
    );
  });

  test("e-mail addresses by a filter with two conditions", () => {
    const path = 'emails[type eq "work" and value ew "example.com"]';
    expect(patched(BARBARA, op("remove", path)).emails).toEqual([BARBARA.emails[1]]);
  });

  test("one member while another is added", () => {
    const operations = [
      op("remove", `members[value eq "${BABS}"]`),
      op("add", "members", [{ display: "James Smith", value: JAMES }]),
    ];
    expect(patchedGroup(group(BABS, "x"), ...operations)).toEqual(group("x", JAMES));
  });
});

describe("examples of section 3.5.2.3, replace", () => {
  test("all members", () => {
    const value = [
      { display: "Babs Jensen", value: BABS },
      { display: "James Smith", value: JAMES },
    ];
    expect(patchedGroup(group("x", "y"), op("replace", "members", value))).toEqual(group(BABS, JAMES));
  });

  test("the work address", () => {
    const address = {
      type: "work",
      streetAddress: "911 Universal City Plaza",
      locality: "Hollywood",
      country: "US",
    };
    const after = patched(BARBARA, op("replace", 'addresses[type eq "work"]', { ...address, primary: true }));
    expect(after.addresses).toEqual([{ ...address, primary: true }, BARBARA.addresses[1]]);
  });

  test("one part of the work address", () => {
    const path = 'addresses[type eq "work"].streetAddress';
    const after = patched(BARBARA, op("replace", path, "1010 Broadway Ave"));
    expect(after.addresses).toEqual([
      { ...BARBARA.addresses[0], streetAddress: "1010 Broadway Ave" },
      BARBARA.addresses[1],
    ]);
  });

  test("several attributes without a path", () => {
    const emails = [
      { value: "bjensen@example.com", type: "work", primary: true },
      { value: "babs@jensen.org", type: "home" },
    ];
    const after = patched({ ...BARBARA, emails: [] }, op("replace", undefined, { emails, nickname: "Babs" }));
    expect(after).toEqual({ ...BARBARA, emails, nickName: "Babs" });
  });
});

describe("single values", () => {
  test.each([
    ["add sets", op("add", "title", "x"), "x"],
    ["replace sets", op("replace", "title", "x"), "x"],
    ["remove unsets", op("remove", "title"), undefined],
    ["replace with null unsets", op("replace", "title", null), undefined],
    ["replace with an empty string unsets", op("replace", "title", ""), undefined],
    ["add of null changes nothing", op("add", "title", null), BARBARA.title],
  ])("%s", (_, operation, expected) => {
    expect(patched(BARBARA, operation).title).toBe(expected);
  });

  test("replace sets what was absent", () => {
    expect(patched({ userName: "a" }, op("replace", "displayName", "A"))).toEqual({
      userName: "a",
      displayName: "A",
    });
  });
});

describe("complex values", () => {
  test.each([
    ["parts that are not sent stay", op("replace", "name", { familyName: "J" }), { familyName: "J" }],
    ["also without a path", op("add", undefined, { name: { familyName: "J" } }), { familyName: "J" }],
    ["a part by its path", op("replace", "name.givenName", "B"), { givenName: "B" }],
    ["a part is removed", op("remove", "name.givenName"), { givenName: undefined }],
    ["a part is replaced with null", op("replace", "name", { givenName: null }), { givenName: undefined }],
  ])("%s", (_, operation, expected) => {
    expect(patched(BARBARA, operation).name).toEqual({ ...BARBARA.name, ...expected });
  });

  test("without parts the attribute has no value", () => {
    expect(patched(BARBARA, op("remove", "name"))).not.toHaveProperty("name");
    expect(patched({ name: { givenName: "B" } }, op("remove", "name.givenName"))).toEqual({});
  });
});

describe("several values", () => {
  const [work, home] = BARBARA.emails;

  test("a value that is there is not added again", () => {
    const again = op("add", "emails", [
      { value: "BJENSEN@example.com", type: "Work" },
      { value: "new@example.com" },
    ]);
    expect(patched(BARBARA, again).emails).toEqual([
      { value: "BJENSEN@example.com", type: "Work", primary: true },
      home,
      { value: "new@example.com" },
    ]);
    expect(patchedGroup(group("a", "b"), op("add", "members", [{ value: "b" }, { value: "c" }]))).toEqual(
      group("a", "b", "c"),
    );
  });

  test("one value may come without its list", () => {
    expect(patchedGroup(group("a"), op("add", "members", { value: "b" }))).toEqual(group("a", "b"));
  });

  test("a new primary value ends that of the others", () => {
    const after = patched(BARBARA, op("add", "emails", [{ value: "x@example.com", primary: true }]));
    expect(after.emails).toEqual([
      { ...work, primary: false },
      home,
      { value: "x@example.com", primary: true },
    ]);
    const other = patched(BARBARA, op("replace", 'emails[type eq "home"].primary', true));
    expect(other.emails).toEqual([
      { ...work, primary: false },
      { ...home, primary: true },
    ]);
  });

  test("of two primary values in one list, the first is", () => {
    const value = [
      { value: "a", primary: true },
      { value: "b", primary: true },
    ];
    expect(patched(BARBARA, op("replace", "emails", value)).emails).toEqual([
      { value: "a", primary: true },
      { value: "b", primary: false },
    ]);
  });

  test("a part without a filter is that of every value", () => {
    expect(patched(BARBARA, op("replace", "emails.display", "x")).emails).toEqual([
      { ...work, display: "x" },
      { ...home, display: "x" },
    ]);
    expect(patched({}, op("add", "emails.value", "a@b.example"))).toEqual({
      emails: [{ value: "a@b.example" }],
    });
  });

  test("a value without its `value` does not stay", () => {
    expect(patched(BARBARA, op("remove", 'emails[type eq "work"].value')).emails).toEqual([home]);
    expect(patched(BARBARA, op("replace", 'emails[type eq "work"].value', "")).emails).toEqual([home]);
  });

  test("removing what is not there changes nothing", () => {
    expect(patched(BARBARA, op("remove", 'emails[type eq "other"]'))).toBe(BARBARA);
    expect(patchedGroup(group("a"), op("remove", 'members[value eq "b"]'))).toEqual(group("a"));
  });
});

describe("noTarget", () => {
  test.each([
    ["remove without a path", op("remove", undefined)],
    ["a whole value that is not there is replaced", op("replace", 'emails[type eq "other"]', { value: "x" })],
    [
      "a filter that does not say what to make",
      op("replace", 'emails[type ne "x" and type ne "work" and type ne "home"].value', "x"),
    ],
    ["a filter over what is not kept", op("add", 'emails[verified eq "x"].value', "x")],
  ])("%s", (_, operation) => {
    expect(refused(USER, BARBARA, operation)).toBe("400 noTarget");
  });
});

describe("invalidPath", () => {
  test.each([
    "emails[",
    "emails[type]",
    'emails[type eq "work"',
    'emails[type eq "work"]value',
    "a b",
    "2x",
    ".value",

    'userName[value eq "x"]',
    "userName.x",
    "name.a.b",
    "emails]",
    'emails eq "x"',
    "(emails)",
    '"emails"',
    "__proto__",
    "__proto__.x",
    "x[__proto__ pr]",
    "a".repeat(5000),
  ])("%j", (path) => {
    expect(refused(USER, BARBARA, op("replace", path, "x"))).toBe("400 invalidPath");
  });
});

describe("mutability", () => {
  test.each(["id", "ID", "meta", "meta.version", "groups", 'groups[value eq "e9e30dba"]', "groups.display"])(
    "%s cannot be changed",
    (path) => {
      expect(refused(USER, BARBARA, op("replace", path, "x"))).toBe("400 mutability");
      expect(refused(USER, BARBARA, op("remove", path))).toBe("400 mutability");
    },
  );

  test("required attributes cannot be removed", () => {
    expect(refused(USER, BARBARA, op("remove", "userName"))).toBe("400 mutability");
    expect(refused(GROUP, group(), op("remove", "displayName"))).toBe("400 mutability");
  });

  test("who a member is cannot be changed, nor what the service says of one", () => {
    const path = 'members[value eq "a"]';
    expect(refused(GROUP, group("a"), op("replace", `${path}.value`, "b"))).toBe("400 mutability");
    expect(refused(GROUP, group("a"), op("replace", path, { value: "b" }))).toBe("400 mutability");
    expect(refused(GROUP, group("a"), op("remove", `${path}.value`))).toBe("400 mutability");
    expect(refused(GROUP, group("a"), op("replace", `${path}.display`, "b"))).toBe("400 mutability");
    expect(patchedGroup(group("a"), op("replace", path, { value: "a", display: "b" }))).toEqual(group("a"));
  });

  test("another id in a value without a path", () => {
    expect(refused(GROUP, group(), op("replace", undefined, { id: "other" }))).toBe("400 mutability");
  });
});

describe("invalidValue", () => {
  test.each([
    ["an object for a string", "title", { a: 1 }],
    ["a number for a string", "title", 1],
    ["two strings for one", "title", ["a", "b"]],
    ["a word for a boolean", "active", "yes"],
    ["a number for a boolean", "active", 1],
    ["a string for a complex value", "name", "x"],
    ["a number for a part", "name", { givenName: 1 }],
    ["a number for a list", "emails", 1],
    ["a number in a list", "emails", [1]],
    ["an empty user name", "userName", ""],
    ["no user name", "userName", null],
    ["a long string", "title", "x".repeat(257)],
    ["a long address", "emails", [{ value: "x".repeat(321) }]],
    ["a control character", "userName", "a\u0000b"],
    ["half a character", "userName", "a\ud800"],
    ["a string without a path", undefined, "x"],
    ["a list without a path", undefined, [{ title: "x" }]],
    ["51 addresses", "emails", Array.from({ length: 51 }, (_, i) => ({ value: `${i}` }))],
  ])("%s", (_, path, value) => {
    expect(refused(USER, BARBARA, op("replace", path, value))).toBe("400 invalidValue");
  });
});

describe("attributes that are not kept", () => {
  test.each([
    "nickName",
    "phoneNumbers",
    'phoneNumbers[type eq "mobile"].value',
    'addresses[type eq "work"].formatted',

    "name.middleName",
    'emails[type eq "work"].verified',
    "password",
    "constructor.prototype",
    "toString",
    `${ENTERPRISE}:department`,
    `${ENTERPRISE}:manager.value`,
    ENTERPRISE,
    "schemas",
  ])("%s is skipped, whatever its value", (path) => {
    for (const name of ["add", "replace"] as const) {
      expect(applyPatch(USER, BARBARA, [op(name, path, "x"), op(name, path, { a: [1] })])).toBe(BARBARA);
      expect(applyPatch(USER, BARBARA, [op(name, undefined, { [path]: "x" })])).toBe(BARBARA);
    }
    expect(applyPatch(USER, BARBARA, [op("remove", path)])).toBe(BARBARA);
  });
});

test("all operations or none, in their order", () => {
  expect(patched(BARBARA, op("replace", "title", "a"), op("replace", "title", "b")).title).toBe("b");
  expect(refused(USER, BARBARA, op("replace", "title", "a"), op("replace", "id", "b"))).toBe(
    "400 mutability",
  );
});

test("an operation with no effect gives the resource itself, so that its version can stay", () => {
  const same = [
    op("add", "members", [{ value: "b" }]),
    op("replace", "displayName", "Tour Guides"),
    op("add", "members", [{ value: "c" }]),
    op("remove", 'members[value eq "c"]'),
  ];
  const before = group("a", "b");
  expect(applyPatch(GROUP, before, same)).toBe(before);
  expect(before.id).toBe(GROUP_ID);
});
