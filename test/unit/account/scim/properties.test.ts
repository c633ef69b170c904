/** What holds for every filter and every PATCH: they are read back as written, change nothing they are given, and stay linear. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Attribute } from "../../../../src/account/scim/attribute.ts";
import { type Filter, parseFilter, printFilter } from "../../../../src/account/scim/filter/filter.ts";
import { applyPatch } from "../../../../src/account/scim/patch/patch.ts";
import type { PatchOperation } from "../../../../src/account/scim/patch/patch-body.ts";
import { USER } from "../../../../src/account/scim/schema.ts";
import { Steps } from "../../../../src/account/scim/steps.ts";
import { rounds } from "../../../support/effort.ts";
import { BARBARA, deepFreeze, matches, refusal } from "./fixtures.ts";

const known = (name: string): Attribute => USER.byName.get(name.toLowerCase()) as Attribute;
const part = (name: string): Attribute =>
  known("emails").subAttributes?.find((sub) => sub.name === name) as Attribute;

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("", "\\", '"', "a b", "\ud800"),
);
const number = fc.double({ noDefaultInfinity: true, noNaN: true }).map((n) => (n === 0 ? 0 : n));
const literal = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const textOp = fc.constantFrom("co", "sw", "ew", "gt", "ge", "lt", "le" as const);
const equality = fc.constantFrom("eq", "ne" as const);

/** Paths by where they stand: in a resource, or in the brackets of `emails`. */
const paths = {
  resource: [
    ...["userName", "title", "id", "externalId"].map((name) => ({ text: name, attribute: known(name) })),
    { text: "emails", attribute: known("emails") },
    { text: "emails.type", attribute: known("emails"), sub: part("type") },
    { text: "phoneNumbers" },
    { text: "urn:x:ext:2.0:User:a.b" },
  ],
  value: [
    { text: "type", attribute: part("type") },
    { text: "value", attribute: part("value") },
    { text: "verified" },
  ],
};

function filters(where: keyof typeof paths): fc.Arbitrary<Filter> {
  const path = fc.constantFrom(...paths[where]);
  const some: fc.Arbitrary<Filter>[] =
    where === "value"
      ? []
      : [
          fc.record({
            op: fc.constant("some" as const),
            path: fc.constant({ text: "emails", attribute: known("emails") }),
            filter: filters("value"),
          }),
        ];
  return fc.letrec<{ filter: Filter; leaf: Filter; group: Filter; not: Filter }>((tie) => ({
    filter: fc.oneof({ maxDepth: 4 }, tie("leaf"), tie("group"), tie("not")),
    leaf: fc.oneof(
      fc.record({ op: fc.constant("pr" as const), path }),
      fc.record({ op: equality, path, value: literal }),
      fc.record({ op: textOp, path, value: text }) as fc.Arbitrary<Filter>,
      ...some,
    ),
    group: fc.record({
      op: fc.constantFrom("and", "or" as const),
      filters: fc.array(tie("filter"), { minLength: 2, maxLength: 3 }),
    }),
    not: fc.record({ op: fc.constant("not" as const), filter: tie("filter") }),
  })).filter;
}

test("a filter that is written is read as the same tree", () => {
  fc.assert(
    fc.property(filters("resource"), (filter) => {
      const written = printFilter(filter);
      fc.pre(written.length <= 4096);
      expect(parseFilter(written, USER)).toEqual(filter);
    }),
    { numRuns: rounds(2000) },
  );
});

const noise = fc.string({
  unit: fc.constantFrom(
    ...'()[]".:\\ _$1-',
    ..."ab".split(""),
    " eq ",
    " and ",
    "not ",
    "emails",
    '"x"',
    " pr",
  ),
  maxLength: 60,
});

test("whatever is sent as a filter is read or refused, in a step a character", () => {
  fc.assert(
    fc.property(fc.oneof(noise, fc.string({ unit: "binary" })), (sent) => {
      const steps = new Steps();
      const outcome = refusal(() => matches(parseFilter(sent, USER, steps), BARBARA));
      expect(outcome).toMatch(/^(?:400 invalidFilter|not refused)$/);
      expect(steps.taken).toBeLessThanOrEqual(2 * sent.length + 2);
    }),
    { numRuns: rounds(4000) },
  );
});

const path = fc.oneof(
  fc.constantFrom(
    "userName",
    "TITLE",
    "active",
    "name",
    "name.givenName",
    "emails",
    "emails.value",
    "roles",
    "members",

    'emails[type eq "work"]',
    'emails[type eq "work"].value',
    'emails[value co "a"].primary',
    "id",
    "meta",

    "__proto__",
    "__proto__.a",
    "constructor.prototype",
    "name.__proto__",
    "toString.a",
    "hasOwnProperty",
  ),
  noise,
);
const value = fc.oneof(
  fc.anything({ withNullPrototype: true }),
  fc.constantFrom<unknown>("x", "False", true, null, [], [{}], { value: "x" }, [
    { value: "a", primary: true },
  ]),
  fc.array(fc.record({ value: fc.string(), type: fc.constantFrom("work", "home"), primary: fc.boolean() }), {
    maxLength: 4,
  }),
  fc.dictionary(path, fc.anything(), { maxKeys: 4 }),
);
const operation = fc.record(
  { op: fc.constantFrom("add", "remove", "replace" as const), path, value },
  { requiredKeys: ["op"] },
) as fc.Arbitrary<PatchOperation>;

test("PATCH changes neither the resource nor a prototype, and never makes a resource that breaks the schema", () => {
  const before = JSON.stringify(BARBARA);
  const prototype = Object.getOwnPropertyNames(Object.prototype).length;
  const kept = deepFreeze(structuredClone(BARBARA));
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 6 }), (operations) => {
      let after: Record<string, unknown> = kept;
      const outcome = refusal(() => {
        after = applyPatch<Record<string, unknown>>(USER, kept, operations);
      });
      expect(outcome).toMatch(/^(?:400 (?:invalid(?:Path|Value)|mutability|noTarget)|not refused)$/);
      expect(JSON.stringify(kept)).toBe(before);
      expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(prototype);
      for (const name of Object.keys(after))
        expect(Object.keys(BARBARA).concat("displayName", "roles")).toContain(name);
      expect({ id: after.id, meta: after.meta, groups: after.groups }).toEqual({
        id: kept.id,
        meta: kept.meta,
        groups: kept.groups,
      });
      expect(typeof after.userName).toBe("string");
      const emails = (after.emails ?? []) as readonly { value: unknown; primary?: unknown }[];
      expect(emails.filter((email) => email.primary === true).length).toBeLessThanOrEqual(1);
      expect(emails.every((email) => typeof email.value === "string")).toBe(true);
    }),
    { numRuns: rounds(4000) },
  );
});

test("PATCH twice is PATCH once, for what it sets", () => {
  const setting = fc.array(
    fc.record({
      op: fc.constantFrom("add", "replace" as const),
      path: fc.constantFrom("title", "name.givenName", 'emails[type eq "work"].value', "emails", "roles"),
      value: fc.constantFrom("x", "y@example.com"),
    }),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(setting, (operations) => {
      const once = applyPatch<object>(USER, BARBARA, operations);
      expect(applyPatch(USER, once, operations)).toEqual(once);
    }),
    { numRuns: rounds(1000) },
  );
});
