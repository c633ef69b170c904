/** Schemas at random: what Anthropic's SDK makes of them is made here too, and every byte that need not change stays. */
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonText } from "../../../../src/wire/json/json-text.ts";
import { fitSchema } from "../../../../src/wire/schema/fit.ts";
import { geminiReferences } from "../../../../src/wire/schema/gemini-references.ts";
import { CLAUDE_RULES, OPENAI_RULES } from "../../../../src/wire/schema/rules.ts";
import { rounds } from "../../../support/effort.ts";

type Schema = Readonly<Record<string, unknown>>;

const words = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('"', "\\", "minimum", "世 🎉", "\u0000"));
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

/** Keywords in the order in which the SDK tells them; those that are undefined are left out. */
const schemaOf = (members: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(members).map((made) => JSON.parse(JSON.stringify(made)) as Schema);

const told = { description: optional(words.filter((text) => text !== "")), title: optional(words) };
const count = optional(fc.nat(3));

const sdkSchema = fc.letrec<{ any: Schema; object: Schema }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    schemaOf({
      ...told,
      type: fc.constantFrom("integer", "number"),
      minimum: optional(fc.integer()),
      exclusiveMaximum: optional(fc.double({ noNaN: true, noDefaultInfinity: true })),
      multipleOf: count,
    }),
    schemaOf({
      ...told,
      type: fc.constant("string"),
      minLength: count,
      maxLength: count,
      format: optional(fc.constantFrom("date-time", "uri", "uuid", "iri", "byte")),
    }),
    schemaOf({
      ...told,
      type: fc.constant("array"),
      items: optional(tie("any")),
      maxItems: count,
      uniqueItems: optional(fc.boolean()),
      minItems: count,
    }),
    schemaOf({
      ...told,
      anyOf: fc.array(tie("any"), { minLength: 1, maxLength: 3 }),
      not: optional(tie("any")),
    }),
    schemaOf({ ...told, oneOf: fc.array(tie("any"), { minLength: 1, maxLength: 3 }) }),
    schemaOf({ ...told, enum: fc.array(fc.oneof(words, fc.integer()), { minLength: 1, maxLength: 3 }) }),
    schemaOf({ ...told, type: fc.constantFrom("boolean", "null") }),
    schemaOf({ $ref: fc.constant("#/$defs/leaf") }),
    tie("object"),
  ),
  object: schemaOf({
    ...told,
    type: fc.constant("object"),
    properties: fc.dictionary(
      fc.oneof(words, fc.constantFrom("minimum", "$ref", "enum", "properties")),
      tie("any"),
      { maxKeys: 4 },
    ),
    required: optional(fc.array(words, { maxLength: 2 })),
    additionalProperties: optional(fc.oneof(fc.boolean(), tie("any"))),
    minProperties: count,
    patternProperties: optional(fc.dictionary(words, tie("any"), { maxKeys: 1 })),
  }),
}));

const numRuns = rounds(4000);

test("schemas become for Claude what Anthropic's SDK makes of them", () => {
  fc.assert(
    fc.property(sdkSchema.object, (made) => {
      const schema = { ...made, $defs: { leaf: { type: "string", minLength: 1 } } };
      const fitted = fitSchema(JSON.stringify(schema), CLAUDE_RULES);
      expect(JSON.parse(fitted?.text ?? "null")).toEqual(transformJSONSchema(schema));
    }),
    { numRuns },
  );
});

/** JSON text, with its white space, that no value keeps: forms of numbers, order and doubles of names, escapes. */
const rawValue = fc.constantFrom(
  "1.0",
  "1E2",
  "1e400",
  "12345678901234567890.0000000001",
  '{"2":1,"1":2,"1":{"minimum":1}}',
  '[ 1.0 ,{"type" : "object"}]',
  '"\\u00e9\\/\\ud800"',
  "null",
);
const gap = fc.constantFrom("", " ", "\n\t");

/** A schema's text, and what it must become. */
interface Pair {
  readonly from: string;
  readonly to: string;
}

const member = (key: string, value: fc.Arbitrary<string | Pair>): fc.Arbitrary<Pair> =>
  fc.tuple(gap, gap, value).map(([before, after, made]) => {
    const { from, to } = typeof made === "string" ? { from: made, to: made } : made;
    const around = (text: string) => `"${key}"${before}:${after}${text}`;
    return { from: around(from), to: around(to) };
  });

/** Members that stay, the order and their doubles too. */
const data = fc.array(
  fc.oneof(...["default", "examples", "x-data", "title"].map((key) => member(key, rawValue))),
  { maxLength: 3 },
);

const braces = fc.tuple(gap, gap, gap);

/** An object of these members with a comma and a gap between. @param last what is added behind the last */
function objectOf(
  members: readonly Pair[],
  [open, between, close]: [string, string, string],
  last = "",
): Pair {
  const of = (side: "from" | "to", more: string) => {
    const parts = members.map((pair) => pair[side]).filter((text) => text !== "");
    return `{${open}${parts.join(`,${between}`)}${more}${close}}`;
  };
  return { from: of("from", ""), to: of("to", last) };
}

const pair = fc.letrec<{ any: Pair; object: Pair }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc
      .tuple(data, member("type", fc.constant('"integer"')), rawValue, data, braces)
      .map(([before, type, bound, after, gaps]) => {
        const moved = {
          from: `"minimum": ${bound}`,
          to: `"description":${JSON.stringify(`{minimum: ${bound}}`)}`,
        };
        return objectOf([...before, type, moved, ...after], gaps);
      }),
    fc
      .tuple(data, fc.array(tie("any"), { minLength: 1, maxLength: 3 }), fc.boolean(), data, braces)
      .map(([before, choices, isOne, after, gaps]) => {
        const list = (side: "from" | "to") => `[${choices.map((choice) => choice[side]).join(" , ")}]`;
        const choice = {
          from: `"${isOne ? "oneOf" : "anyOf"}":${list("from")}`,
          to: `"anyOf":${list("to")}`,
        };
        return objectOf([...before, choice, ...after], gaps);
      }),
    fc
      .tuple(data, member("items", tie("any")), data, braces)
      .map(([before, items, after, gaps]) => objectOf([...before, items, ...after], gaps)),
    tie("object"),
  ),
  object: fc
    .tuple(data, member("p", tie("any")), member("minimum", tie("any")), data, fc.boolean(), braces)
    .map(([before, first, second, after, isSaid, gaps]) => {
      const inner = objectOf([first, second], gaps);
      const properties = { from: `"properties":${inner.from}`, to: `"properties":${inner.to}` };
      const said = { from: '"additionalProperties" :false', to: '"additionalProperties" :false' };
      const members = [...before, properties, ...(isSaid ? [said] : []), ...after];
      return objectOf(members, gaps, isSaid ? "" : ',"additionalProperties":false');
    }),
}));

test("every byte that need not change stays", () => {
  fc.assert(
    fc.property(pair.object, ({ from, to }) => {
      expect(fitSchema(from, CLAUDE_RULES)?.text).toBe(to);
    }),
    { numRuns },
  );
});

test("what fits already is the same string, and what was fitted fits", () => {
  fc.assert(
    fc.property(sdkSchema.object, (schema) => {
      for (const rules of [CLAUDE_RULES, OPENAI_RULES]) {
        const once = fitSchema(JSON.stringify(schema), rules);
        if (once !== undefined) {
          expect(fitSchema(once.text, rules)).toEqual({ text: once.text, isTold: false, isClosed: false });
        }
      }
    }),
    { numRuns },
  );
});

test("Gemini gets a schema with references as it is, save what stands beside them", () => {
  fc.assert(
    fc.property(sdkSchema.object, (schema) => {
      const json = new JsonText(JSON.stringify(schema));
      expect(geminiReferences(json)).toBe(json);
    }),
    { numRuns: rounds(400) },
  );
});
