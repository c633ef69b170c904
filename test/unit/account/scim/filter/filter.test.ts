/** Filters: what the grammar of RFC 7644 allows, how it groups, and what is refused. */
import { describe, expect, test } from "vitest";
import { MAX_FILTER_DEPTH, parseFilter, printFilter } from "../../../../../src/account/scim/filter/filter.ts";
import { GROUP, USER } from "../../../../../src/account/scim/schema.ts";
import { Steps } from "../../../../../src/account/scim/steps.ts";
import { ENTERPRISE, refusal } from "../fixtures.ts";

const parse = (text: string) => parseFilter(text, USER);
/** As it was understood: with the names of the schema, and parentheses where they say something. */
const read = (text: string): string => printFilter(parse(text));

test.each([
  ["and binds closer than or", "id pr or title pr and active pr", "id pr or (title pr and active pr)"],
  ["not binds closest", "not (id pr) and title pr", "not (id pr) and title pr"],
  ["parentheses group", "(id pr or title pr) and active pr", "(id pr or title pr) and active pr"],
  ["parentheses that say nothing go", "((id pr))", "id pr"],
  ["operators and names are in any case", 'USERNAME EQ "x"', 'userName eq "x"'],
  ["so are and, or, not and constants", "NOT (id pr) OR Active Eq TRUE", "not (id pr) or active eq true"],
  ["sub-attributes", 'NAME.FamilyName co "x"', 'name.familyName co "x"'],
  ["URNs before a name", 'urn:IETF:params:scim:schemas:core:2.0:user:username sw "J"', 'userName sw "J"'],
  ["the URN of another schema stays", `${ENTERPRISE}:department eq "x"`, `${ENTERPRISE}:department eq "x"`],
  ["attributes that are not kept stay", "phoneNumbers.type pr", "phoneNumbers.type pr"],
  ["value paths", 'emails[TYPE eq "work"  and not (value pr)]', 'emails[type eq "work" and not (value pr)]'],
  ["value paths of what is not kept", 'ims[type eq "xmpp"]', 'ims[type eq "xmpp"]'],
  ["numbers", "title eq -1.5e3", "title eq -1500"],
  ["null", "title eq null", "title eq null"],
  ["JSON strings", 'title eq "\\u0041\\"\\\\ \\n"', 'title eq "A\\"\\\\ \\n"'],
  ["booleans as strings, of boolean attributes", 'active eq "False"', "active eq false"],
  ["but not of others", 'title eq "False"', 'title eq "False"'],
  ["tabs and line ends as blanks", '\ttitle\n eq\r\n "x" ', 'title eq "x"'],
])("%s", (_, text, expected) => {
  expect(read(text)).toBe(expected);
});

test("the tree has the attribute of the schema and the literal as it is compared", () => {
  expect(parse('emails.type eq "work"')).toEqual({
    op: "eq",
    path: {
      text: "emails.type",
      attribute: USER.byName.get("emails"),
      sub: expect.objectContaining({ name: "type" }),
    },
    value: "work",
  });
  expect(parse("password pr")).toEqual({ op: "pr", path: { text: "password" } });
});

test("Entra ID: a comparison after a value path is of the same value", () => {
  const text = 'emails[type eq "work"].value eq "a@b.example"';
  expect(read(text)).toBe('emails[type eq "work" and value eq "a@b.example"]');
});

test("a filter may name attributes of the other resource type: they have no value", () => {
  expect(printFilter(parseFilter('userName eq "x"', GROUP))).toBe('userName eq "x"');
});

describe("invalidFilter", () => {
  test.each([
    ["nothing", ""],
    ["blanks", "   "],
    ["no operator", "title"],
    ["no value", "title eq"],
    ["no name", 'eq "x"'],
    ["an unknown operator", 'title is "x"'],
    ["a value without quotes", "title eq x"],
    ["single quotes", "title eq 'x'"],
    ["a number that JSON lacks", "title eq 01"],
    ["an infinite number", "title eq 1e999"],
    ["a string without an end", 'title eq "x'],
    ["a string that ends in a backslash", 'title eq "x\\'],
    ["an escape that JSON lacks", 'title eq "\\x41"'],
    ["a line end in a string", 'title eq "a\nb"'],
    ["an open parenthesis", "(title pr"],
    ["an open bracket", 'emails[type eq "work"'],
    ["a stray parenthesis", "title pr)"],
    ["more after the end", "title pr title pr"],
    ["half a conjunction", "title pr and"],
    ["and at the start", "and title pr"],
    ["not without parentheses", "not title pr"],
    ["brackets in brackets", 'emails[value[type eq "x"]]'],
    ["brackets in brackets of what is not kept", 'ims[x[type eq "x"]]'],
    ["brackets after a single attribute", 'userName[value eq "x"]'],
    ["brackets after a sub-attribute", 'emails.value[type eq "x"]'],
    ["brackets after a single complex attribute", 'name[givenName eq "x"]'],
    ["a part of what has none", 'userName.first eq "x"'],
    ["three names", 'name.givenName.x eq "x"'],
    ["a name that starts with a digit", 'emails.2 eq "x"'],
    ["a name that starts with an underscore", '__proto__ eq "x"'],
    ["a URN that is none", 'schema:User:userName eq "x"'],
    ["order of booleans", "active gt true"],
    ["a part of a boolean", 'active co "tr"'],
    ["a complex attribute as a whole", 'name eq "x"'],
    ["order with null", "title gt null"],
    ["a part that is no string", "title co 1"],
    ["a time that is none", 'meta.created gt "yesterday"'],
    ["a character out of place", 'title eq "x" & id pr'],
  ])("%s", (_, text) => {
    expect(refusal(() => parse(text))).toBe("400 invalidFilter");
  });

  test("what is wrong is told with its place, and without what was sent as a value", () => {
    expect(() => parse('title eq "secret" oops')).toThrow(
      /^The filter goes on where it should end, before character \d+\.$/,
    );
  });
});

describe("hostile filters", () => {
  test(`${MAX_FILTER_DEPTH} levels are read, one more is not`, () => {
    const nested = (levels: number) => `${"(".repeat(levels)}id pr${")".repeat(levels)}`;
    expect(read(nested(MAX_FILTER_DEPTH))).toBe("id pr");
    expect(refusal(() => parse(nested(MAX_FILTER_DEPTH + 1)))).toBe("400 invalidFilter");
    const negations = (levels: number) => `${"not (".repeat(levels)}id pr${")".repeat(levels)}`;
    expect(refusal(() => parse(negations(MAX_FILTER_DEPTH + 1)))).toBe("400 invalidFilter");
  });

  test.each([
    ["100,000 parentheses", "(".repeat(100_000)],
    ["a megabyte of one string", `title eq "${"x".repeat(1_000_000)}"`],
    ["a megabyte without an end", `title eq "${"\\".repeat(1_000_000)}`],
    ["a megabyte of terms", Array(100_000).fill("id pr").join(" or ")],
    ["a megabyte of blanks", " ".repeat(1_000_000)],
  ])("%s is refused before it is read", (_, text) => {
    const steps = new Steps();
    expect(refusal(() => parseFilter(text, USER, steps))).toBe("400 invalidFilter");
    expect(steps.taken).toBe(0);
  });

  test("names of prototypes are unknown attributes", () => {
    expect(parse('constructor.prototype eq "x"')).toMatchObject({ path: { text: "constructor.prototype" } });
    expect(parse("toString pr")).toEqual({ op: "pr", path: { text: "toString" } });
  });
});
