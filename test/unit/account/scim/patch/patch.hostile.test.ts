/** What a hostile PATCH may cost and reach: bounded work, no prototype, no object of the client in the result. */
import { afterEach, describe, expect, test } from "vitest";
import { applyPatch } from "../../../../../src/account/scim/patch/patch.ts";
import { readPatchBody } from "../../../../../src/account/scim/patch/patch-body.ts";
import { GROUP, MAX_MEMBERS, USER } from "../../../../../src/account/scim/schema.ts";
import { MAX_STEPS, Steps } from "../../../../../src/account/scim/steps.ts";
import { BARBARA, group, op, refusal } from "../fixtures.ts";

const names = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, i) => `user-${from + i}`);
const asMembers = (ids: readonly string[]) => ids.map((value) => ({ value }));

describe("prototypes", () => {
  const untouched = Object.getOwnPropertyNames(Object.prototype).sort();
  afterEach(() => {
    expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(untouched);
    expect(Object.keys(Object.prototype.toString)).toEqual([]);
  });

  test.each([
    ["__proto__", "400 invalidPath"],
    ["__proto__.polluted", "400 invalidPath"],
    ["name.__proto__", "400 invalidPath"],
    ['emails[type eq "work"].__proto__', "400 invalidPath"],
    ["constructor.prototype", "not refused"],
    ["constructor", "not refused"],
    ["toString.polluted", "not refused"],
    ["name.constructor", "not refused"],
    ['emails[constructor eq "x"]', "400 noTarget"],
    ['emails[type eq "work"].constructor', "not refused"],
    ["urn:ietf:params:scim:schemas:core:2.0:User:constructor.prototype", "not refused"],
  ])("%s cannot be written, with a path or as a name of the value", (path, expected) => {
    const bodies = [
      { Operations: [{ op: "replace", path, value: { polluted: true } }] },
      JSON.parse(`{"Operations":[{"op":"add","value":{${JSON.stringify(path)}:{"polluted":true}}}]}`),
      { Operations: [{ op: "add", path, value: "polluted" }] },
    ];
    for (const body of bodies) {
      const act = () => expect(applyPatch(USER, BARBARA, readPatchBody(body))).toBe(BARBARA);
      expect(refusal(act)).toBe(expected);
    }
  });

  test("values are made anew, with names of the schema only", () => {
    const raw = JSON.parse('{"__proto__":{"value":"x"},"givenName":"B","constructor":{"a":1}}') as object;
    const after = applyPatch(USER, { name: {} }, [op("replace", "name", raw)]);
    expect(Object.keys(after.name)).toEqual(["givenName"]);
    expect(Object.getPrototypeOf(after.name)).toBe(Object.prototype);
    expect(after.name).not.toBe(raw);
  });
});

describe("members", () => {
  test(`a group has up to ${MAX_MEMBERS}`, () => {
    const full = applyPatch(GROUP, group() as object, [op("add", "members", asMembers(names(MAX_MEMBERS)))]);
    expect(refusal(() => applyPatch(GROUP, full, [op("add", "members", [{ value: "one more" }])]))).toBe(
      "400 invalidValue",
    );
    expect(applyPatch(GROUP, full, [op("add", "members", asMembers(names(5)))])).toBe(full);
    expect(
      refusal(() => applyPatch(GROUP, full, [op("replace", "members", asMembers(names(MAX_MEMBERS + 1)))])),
    ).toBe("400 invalidValue");
  });

  test("1,000 operations on the largest group cost a step or two for each member and operation", () => {
    const before = group(...names(MAX_MEMBERS));
    const operations = names(500).flatMap((name, i) => [
      op("remove", `members[value eq "${name}"]`),
      op("add", "members", asMembers(names(1, MAX_MEMBERS + i))),
    ]);
    const steps = new Steps();
    const after = applyPatch(GROUP, before, operations, steps);
    expect(after.members?.map(({ value }) => value)).toEqual(names(MAX_MEMBERS, 500));
    expect(steps.taken).toBeLessThan(2 * MAX_MEMBERS + 500 * 60);
  });

  test("a list of 10,000 to remove costs ten steps for each", () => {
    const steps = new Steps();
    const remove = op("remove", "members", asMembers(names(MAX_MEMBERS - 1)));
    expect(applyPatch(GROUP, group(...names(MAX_MEMBERS)), [remove], steps).members).toHaveLength(1);
    expect(steps.taken).toBeLessThan(11 * MAX_MEMBERS);
  });
});

describe("work has an end", () => {
  const large = group(...names(MAX_MEMBERS));

  test.each([
    [
      "searches of all members",
      Array(1000).fill(op("remove", 'members[value ne "user-0" and value eq "x"]')),
    ],
    [
      "lists of members, again and again",
      Array(50).fill(op("add", "members", asMembers(names(MAX_MEMBERS)))),
    ],
  ])("%s", (_, operations) => {
    const steps = new Steps();
    expect(refusal(() => applyPatch(GROUP, large, operations, steps))).toBe("400 tooMany");
    expect(steps.taken).toBeLessThan(MAX_STEPS + 9 * MAX_MEMBERS);
  });

  test("values of values are not looked into", () => {
    let deep: unknown = "x";
    for (let i = 0; i < 100_000; i++) deep = { name: deep, value: [deep] };
    for (const path of ["name", "emails", "title", "phoneNumbers", undefined]) {
      expect(refusal(() => applyPatch(USER, BARBARA, [op("replace", path, deep)]))).toMatch(/^400|^not/);
    }
  });

  test("100,000 parentheses and a megabyte of a path are refused before they are read", () => {
    for (const path of [`emails[${"(".repeat(100_000)}`, `emails[type eq "${"x".repeat(1_000_000)}"]`]) {
      const steps = new Steps();
      expect(refusal(() => applyPatch(USER, BARBARA, [op("remove", path)], steps))).toBe("400 invalidPath");
      expect(steps.taken).toBe(1);
    }
  });
});
