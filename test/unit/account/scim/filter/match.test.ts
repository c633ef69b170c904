/** What filters match: the examples of RFC 7644 section 3.4.2.2, case by schema, values that are absent, and the cost. */
import { describe, expect, test } from "vitest";
import { parseFilter } from "../../../../../src/account/scim/filter/filter.ts";
import { requiredEquality } from "../../../../../src/account/scim/filter/match.ts";
import { GROUP, USER } from "../../../../../src/account/scim/schema.ts";
import { Steps } from "../../../../../src/account/scim/steps.ts";
import { BARBARA, ENTERPRISE, group, matches, RFC_USER, refusal } from "../fixtures.ts";

const matched = (filter: string, resource: object = BARBARA, schema = RFC_USER): boolean =>
  matches(parseFilter(filter, schema), resource);

const JIM = {
  userName: "Jim",
  name: { familyName: "O'Malley" },
  userType: "Intern",
  emails: [{ value: "jim@example.org", type: "home" }],
  ims: [{ value: "jim@foo.com", type: "xmpp" }],
};

describe("the examples of RFC 7644 section 3.4.2.2", () => {
  test.each([
    ['userName eq "bjensen"', true, false],
    ['name.familyName co "O\'Malley"', false, true],
    ['userName sw "J"', false, true],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"', false, true],
    ["title pr", true, false],
    ['meta.lastModified gt "2011-05-13T04:42:34Z"', false, false],
    ['meta.lastModified ge "2011-05-13T04:42:34Z"', true, false],
    ['meta.lastModified lt "2011-05-13T04:42:34Z"', false, false],
    ['meta.lastModified le "2011-05-13T04:42:34Z"', true, false],
    ['title pr and userType eq "Employee"', true, false],
    ['title pr or userType eq "Intern"', true, true],
    [`schemas eq "${ENTERPRISE}"`, false, false],
    [`schemas eq "${USER.id}"`, true, false],
    ['userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")', true, false],
    [
      'userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")',
      false,
      false,
    ],
    ['userType eq "Employee" and (emails.type eq "work")', true, false],
    ['userType eq "Employee" and emails[type eq "work" and value co "@example.com"]', true, false],
    [
      'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp" and value co "@foo.com"]',
      true,
      true,
    ],
  ])("%s", (filter, barbara, jim) => {
    expect([matched(filter), matched(filter, JIM)]).toEqual([barbara, jim]);
  });
});

test.each([
  ["userName in any case", 'userName eq "BJensen"', true],
  ["addresses of e-mail in any case", 'emails eq "BJENSEN@Example.com"', true],
  ["types in any case", 'emails.type eq "WORK"', true],
  ["externalId exactly", 'externalId eq "701984"', true],
  ["id exactly", 'id eq "2819C223-7f76-453a-919d-413861904646"', false],
  ["parts in any case", 'title co "PRESIDENT"', true],
  ["ends in any case", 'title ew "DENT"', true],
  ["order of strings", 'userName gt "bjensem" and userName lt "bjenseo"', true],
  ["instants whatever the zone", 'meta.lastModified eq "2011-05-13T06:42:34.000+02:00"', true],
  ["booleans", "active eq true", true],
  ["booleans, false", 'active eq "False"', false],
  ["a string is no boolean", 'active eq "yes"', false],
  ["a string is no number", "userName eq 1", false],
  ["one value must meet the whole value path", 'emails[type eq "home" and value co "example.com"]', false],
  ["but not comparisons outside of one", 'emails.type eq "home" and emails.value co "example.com"', true],
  ["primary of one value", 'emails[primary eq true].value eq "bjensen@example.com"', true],
  ["ne of several values: one differs", 'emails.type ne "work"', true],
  ["ne of a value", 'userName ne "BJENSEN"', false],
  ["ne of what is absent", 'displayName ne "x"', true],
  ["ne of what is not kept", 'password ne "x"', true],
  ["eq of what is not kept", 'password eq "x"', false],
  ["presence of what is not kept", "password pr", false],
  ["null is having no value", "displayName eq null and title ne null", true],
  ["presence of a complex attribute", "name pr and emails pr and emails.display pr", false],
  ["presence of parts", "name.givenName pr and emails.primary pr", true],
])("compares %s", (_, filter, expected) => {
  expect(matched(filter)).toBe(expected);
});

test("presence is not that of empty values", () => {
  const empty = { userName: "", name: {}, emails: [], title: null };
  expect(["userName pr", "name pr", "emails pr", "title pr"].map((filter) => matched(filter, empty))).toEqual(
    Array(4).fill(false),
  );
});

test("Entra ID: a group is asked whether it has a member", () => {
  const filter = `id eq "${group().id}" and members eq "u1"`;
  expect(matched(filter, group("u1", "u2"), GROUP)).toBe(true);
  expect(matched(filter, group("u2"), GROUP)).toBe(false);
});

test("only own properties are values", () => {
  const inherited = Object.create({ userName: "x" }) as object;
  expect(matched("userName pr", inherited)).toBe(false);
});

describe("the equality that an index can answer", () => {
  const found = (filter: string, schema = USER) => requiredEquality(parseFilter(filter, schema));

  test.each([
    ['userName eq "BJensen"', { attribute: "userName", value: "BJensen" }],
    ['(externalId EQ "A1")', { attribute: "externalId", value: "A1" }],
    ['urn:ietf:params:scim:schemas:core:2.0:User:id eq "Ab"', { attribute: "id", value: "Ab" }],
    ['title pr and (active eq true and displayName eq "X")', { attribute: "displayName", value: "X" }],
  ])("%s", (filter, expected) => {
    expect(found(filter)).toEqual(expected);
  });

  test.each([
    'userName ne "x"',
    'userName sw "x"',
    "userName eq null",
    "userName eq 1",
    'title eq "x"',
    'not (userName eq "x")',
    'userName eq "x" or id eq "y"',
    'emails[value eq "x"]',
    `${ENTERPRISE}:userName eq "x"`,
  ])("not of %s", (filter) => {
    expect(found(filter)).toBeUndefined();
  });

  test("not of a name that the schema lacks", () => {
    expect(found('userName eq "x"', GROUP)).toBeUndefined();
    expect(found('displayName eq "Guides"', GROUP)?.value).toBe("Guides");
  });
});

describe("the work", () => {
  const large = { members: Array.from({ length: 10_000 }, (_, i) => ({ value: `user-${i}` })) };

  test("is one step or two for each value that is compared", () => {
    const steps = new Steps();
    matches(parseFilter('members.value eq "none"', GROUP), large, steps);
    expect(steps.taken).toBeGreaterThanOrEqual(10_000);
    expect(steps.taken).toBeLessThanOrEqual(20_002);
  });

  test("of a part that looks at nothing counts as well", () => {
    const steps = new Steps();
    matches(parseFilter("members[unknown pr]", GROUP), large, steps);
    expect(steps.taken).toBeGreaterThanOrEqual(10_000);
  });

  test("of one filter over many resources has an end", () => {
    const filter = parseFilter(Array(150).fill('members eq "x"').join(" or "), GROUP);
    const steps = new Steps();
    expect(refusal(() => [large, large, large].map((each) => matches(filter, each, steps)))).toBe(
      "400 tooMany",
    );
  });

  test("of a search counts the product of both lengths", () => {
    const steps = new Steps();
    matches(parseFilter(`title co "${"a".repeat(512)}b"`, USER), { title: "a".repeat(1024) }, steps);
    expect(steps.taken).toBeGreaterThan((512 * 1024) / 256);
  });
});
