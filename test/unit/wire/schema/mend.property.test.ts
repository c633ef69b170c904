/** Tools' schemas at random: what is mended needs nothing more, and what is taken to need nothing needs nothing. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonText } from "../../../../src/wire/json/json-text.ts";
import { mendSchema } from "../../../../src/wire/schema/mend.ts";
import { mayNeedMending } from "../../../../src/wire/schema/needs.ts";
import { CLAUDE_TOOLS, OPENAI_TOOLS } from "../../../../src/wire/schema/rules.ts";
import { rounds } from "../../../support/effort.ts";

const NAMES = ["items", "prefixItems", "additionalItems", "not", "anyOf", "object", "array", "$ref", "a"];
const TYPES = ["object", "array", "string", ["array", "null"], ["object", "array"]];

/** Members in any order, with any white space. */
const schema = fc.letrec<{ any: string }>((tie) => {
  const any = tie("any");
  const list = fc.array(any, { maxLength: 3 }).map((all) => `[${all.join()}]`);
  const map = fc
    .array(fc.tuple(fc.constantFrom(...NAMES), any), { maxLength: 3 })
    .map((all) => `{${all.map(([name, value]) => `"${name}":${value}`).join()}}`);
  const member = fc.oneof(
    fc.constantFrom(...TYPES).map((type) => ["type", JSON.stringify(type)]),
    fc.tuple(fc.constant("items"), fc.oneof(any, list)),
    fc.tuple(fc.constant("additionalItems"), any),
    fc.tuple(fc.constantFrom("prefixItems", "anyOf", "oneOf", "allOf"), list),
    fc.tuple(fc.constantFrom("properties", "patternProperties", "$defs"), map),
    fc.tuple(fc.constantFrom("not", "if", "additionalProperties"), any),
    fc.tuple(fc.constantFrom("minimum", "maximum"), fc.constantFrom("1.0", "-0", "9007199254740993")),
    fc.tuple(fc.constantFrom("exclusiveMinimum", "exclusiveMaximum"), fc.constantFrom("true", "false", "2")),
    fc.constantFrom('"#/items/0"', '"#/properties/a/items/1"', '"#"').map((to) => ["$ref", to]),
    fc.constantFrom('"d"', '"object"', '"\\"array\\""', "1").map((text) => ["description", text]),
  );
  const space = fc.constantFrom("", "", " ", "\n\t");
  return {
    any: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom("true", "false", "{}"),
      fc
        .tuple(fc.uniqueArray(member, { maxLength: 5, selector: ([key]) => key }), space)
        .map(
          ([all, gap]) => `{${all.map(([key, value]) => `"${key}"${gap}:${gap}${value}`).join(`${gap},`)}}`,
        ),
    ),
  };
});

test.each([
  ["Claude", CLAUDE_TOOLS],
  ["OpenAI", OPENAI_TOOLS],
])("schemas for %s", (_, rules) => {
  fc.assert(
    fc.property(schema.any, (text) => {
      const bytes = Buffer.from(text);
      const needs = mayNeedMending(new JsonText({ bytes, start: 0, end: bytes.length }), rules);
      const once = mendSchema(text, rules);
      JSON.parse(once.text);
      if (!needs) expect(once).toEqual({ text, isTold: false });
      expect(mendSchema(once.text, rules)).toEqual({ text: once.text, isTold: false });
    }),
    { numRuns: rounds(4000) },
  );
});
