/** What answers are made of: projections, pages, entity tags and errors. */
import { describe, expect, test } from "vitest";
import { isShown, project, projectionOf } from "../../../../src/account/scim/attributes.ts";
import {
  asScimError,
  ScimError,
  scimErrorBody,
  scimFail,
  scimStatus,
} from "../../../../src/account/scim/error.ts";
import { ifMatch, ifNoneMatch } from "../../../../src/account/scim/etag.ts";
import { type Listed, list } from "../../../../src/account/scim/filtered-list.ts";
import { MAX_RESULTS, readPaging } from "../../../../src/account/scim/list.ts";
import { etagOf } from "../../../../src/account/scim/rows.ts";
import { GROUP, USER } from "../../../../src/account/scim/schema.ts";
import { fail } from "../../../../src/base/errors.ts";
import { BARBARA, group, refusal } from "./fixtures.ts";

describe("projections", () => {
  const seen = (attributes?: string, excluded?: string, schema = USER, resource: object = BARBARA) =>
    project(schema, projectionOf(schema, { attributes, excludedAttributes: excluded }), resource);
  const always = { schemas: BARBARA.schemas, id: BARBARA.id };

  test("without parameters everything is shown, in a new object", () => {
    expect(seen()).toEqual(BARBARA);
    expect(seen("", "")).toEqual(BARBARA);
    expect(seen()).not.toBe(BARBARA);
  });

  test.each([
    ["whole attributes, in any case", "USERNAME, title", { userName: "bjensen", title: "Vice President" }],
    ["with a URN", `${USER.id}:userName`, { userName: "bjensen" }],
    [
      "parts",
      "name.givenName,emails.type",
      { name: { givenName: "Barbara" }, emails: [{ type: "work" }, { type: "home" }] },
    ],
    ["a part and the whole", "name.givenName,name", { name: BARBARA.name }],
    ["the whole and a part", "name,name.givenName", { name: BARBARA.name }],
    ["what is not known", "nickName,phoneNumbers.value", {}],
    ["what has no value", "displayName", {}],
  ])("attributes: %s, and always id and schemas", (_, attributes, expected) => {
    expect(seen(attributes)).toEqual({ ...always, ...expected });
  });

  test("excludedAttributes: all but those, and always id and schemas", () => {
    const { meta: _, ...rest } = BARBARA;
    const { givenName: __, ...name } = BARBARA.name;
    expect(seen(undefined, "id,SCHEMAS, Meta,name.givenName,nothing")).toEqual({ ...rest, name });
    expect(seen("title,userName", "title")).toEqual({ ...always, userName: "bjensen" });
  });

  test("Entra ID: a group without its members, which then need not be read", () => {
    expect(seen(undefined, "members", GROUP, group("a"))).toEqual(group());
    const projection = projectionOf(GROUP, { excludedAttributes: "members" });
    expect([isShown(GROUP, projection, "members"), isShown(GROUP, projection, "displayName")]).toEqual([
      false,
      true,
    ]);
    expect(isShown(GROUP, projectionOf(GROUP, { attributes: "displayName" }), "members")).toBe(false);
    expect(isShown(GROUP, projectionOf(GROUP, { attributes: "members.value" }), "members")).toBe(true);
  });

  test.each(["a b", "__proto__", "a.b.c", Array(101).fill("title").join(","), "x".repeat(5000)])(
    "%.20s is refused",
    (names) => {
      expect(refusal(() => seen(names))).toBe("400 invalidValue");
      expect(refusal(() => seen(undefined, names))).toBe("400 invalidValue");
    },
  );
});

describe("pages", () => {
  const all = Array.from({ length: 250 }, (_, i) => ({ id: String(i).padStart(3, "0"), number: i + 1 }));

  /** The answer of a list of these rows. */
  async function page(rows: typeof all, startIndex?: string, count?: string) {
    const listed: Listed<(typeof all)[number]> = {
      schema: USER,
      total: rows.length,
      indexed: () => undefined,
      after: (id = "") => rows.filter((row) => row.id > id),
      forFilter: (row) => row,
      shown: (row) => Buffer.from(JSON.stringify(row)),
      cost: () => 1,
    };
    const { content } = await list(listed, { startIndex, count });
    return JSON.parse(String(content.bytes?.body));
  }

  test.each([
    ["the first hundred", undefined, undefined, 1, 100, 1],
    ["an index below 1 is 1", "0", "10", 1, 10, 1],
    ["a negative index is 1", "-5", "10", 1, 10, 1],
    ["a page in the middle", "11", "10", 11, 10, 11],
    ["the last page is short", "241", "100", 241, 10, 241],
    ["behind the end there is nothing", "251", "10", 251, 0, undefined],
    ["count 0 is the total alone", "1", "0", 1, 0, undefined],
    ["a negative count is 0", "1", "-1", 1, 0, undefined],
    ["a large count is cut", "1", "100000", 1, MAX_RESULTS, 1],
    ["a large index", "999999999999999", "10", 999999999999999, 0, undefined],
  ])("%s", async (_, startIndex, count, expectedStart, length, first) => {
    const { Resources, ...rest } = await page(all, startIndex, count);
    expect(rest).toEqual({
      schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
      totalResults: 250,
      startIndex: expectedStart,
      itemsPerPage: length,
    });
    expect([Resources.length, Resources[0]?.number]).toEqual([length, first]);
  });

  test("no match is an empty list", async () => {
    expect(await page([], "1", "100")).toMatchObject({
      totalResults: 0,
      itemsPerPage: 0,
      Resources: [],
    });
  });

  test.each(["x", "1.5", "1e3", "9".repeat(16), " 1"])("%j is no integer", (text) => {
    expect(refusal(() => readPaging(text, undefined))).toBe("400 invalidValue");
    expect(refusal(() => readPaging(undefined, text))).toBe("400 invalidValue");
  });
});

describe("entity tags", () => {
  const current = etagOf({ version: 7 });

  test("are weak", () => {
    expect(current).toBe('W/"7"');
  });

  test.each([
    ["absent", undefined, true, true],
    ["the same", 'W/"7"', true, false],
    ["the same, strong", '"7"', true, false],
    ["another", 'W/"8"', false, true],
    ["a list that has it", '"a,b" , W/"7",', true, false],
    ["a list with empty members", ', ,"7"', true, false],
    ["a list that lacks it", '"77", "W/7"', false, true],
    ["any", " * ", true, false],
    ["malformed", "7", false, true],
    ["malformed behind the right one", '"7" x', false, true],
    ["malformed in a later member", '"7", x', false, true],
    ["without an end", '"7', false, true],
    ["empty", "", false, true],
    ["too long", `"7",${" ".repeat(10_000)}"8"`, false, true],
  ])("%s", (_, header, isMatch, isNoneMatch) => {
    expect([ifMatch(header, current), ifNoneMatch(header, current)]).toEqual([isMatch, isNoneMatch]);
  });
});

describe("errors", () => {
  test("have a body of their own, the status a string", () => {
    expect(scimErrorBody(scimFail("invalidFilter", "The filter is empty."))).toEqual({
      schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
      status: "400",
      scimType: "invalidFilter",
      detail: "The filter is empty.",
    });
    expect(scimErrorBody(scimFail("uniqueness", "x")).status).toBe("409");
    expect(scimErrorBody(scimStatus(404, "x"))).not.toHaveProperty("scimType");
  });

  test("of other rooms keep their status, and unknown ones say nothing", () => {
    expect(asScimError(fail("not_found", "No such user."))).toMatchObject({
      status: 404,
      detail: "No such user.",
    });
    const unknown = asScimError(new Error("secret"));
    expect(unknown).toMatchObject({ status: 500, scimType: undefined });
    expect(unknown.detail).not.toContain("secret");
    const known = new ScimError(412, undefined, "x");
    expect(asScimError(known)).toBe(known);
  });

  test("are cut", () => {
    expect(scimFail("invalidPath", "x".repeat(1_000_000)).detail.length).toBeLessThan(1000);
  });
});
