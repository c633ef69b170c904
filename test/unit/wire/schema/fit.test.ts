/** Schemas that a provider holds a model to: what is edited, and that nothing else is. */
import { expect, test } from "vitest";
import { fitSchema } from "../../../../src/wire/schema/fit.ts";
import { CLAUDE_RULES, OPENAI_RULES, type SchemaRules } from "../../../../src/wire/schema/rules.ts";

type Fitted = readonly [text: string | undefined, told: string];

function fitted(text: string, rules: SchemaRules): Fitted {
  const fit = fitSchema(text, rules);
  if (fit === undefined) return [undefined, "unfit"];
  const { isTold, isClosed } = fit;
  return [fit.text, [isTold ? "told" : "", isClosed ? "closed" : ""].join(" ").trim()];
}

/** A schema as the value of the one property of an object that is closed already. */
const inObject = (schema: string): string =>
  `{"type":"object","properties":{"a":${schema}},"required":["a"],"additionalProperties":false}`;

interface Case {
  readonly title: string;
  readonly from: string;
  /** Undefined: unchanged. */
  readonly to?: string;
  readonly heard?: string;
}

const told = (title: string, from: string, to: string): Case => ({ title, from, to, heard: "told" });
const kept = (title: string, from: string): Case => ({ title, from });

const OPEN = '{"type":"object","properties":{"b":{"type":"null"}}';

const CLAUDE: readonly Case[] = [
  told(
    "numeric bounds, in the words of Anthropic's SDKs",
    '{"type":"integer","minimum":1,"maximum":10}',
    '{"type":"integer","description":"{minimum: 1, maximum: 10}"}',
  ),
  told(
    "a bound behind a description, with its digits",
    '{ "description" : "A \\"number\\"", "exclusiveMaximum" : 9007199254740993.10, "type":"number" }',
    '{ "description" : "A \\"number\\"\\n\\n{exclusiveMaximum: 9007199254740993.10}", "type":"number" }',
  ),
  told(
    "a bound at the end, beside an empty description",
    '{"type":"string","description":"","maxLength":1E2 }',
    '{"type":"string","description":"{maxLength: 1E2}" }',
  ),
  told(
    "a bound whose name has an escape",
    '{"type":"string","min\\u004cength":2}',
    '{"type":"string","description":"{minLength: 2}"}',
  ),
  told(
    "one between others",
    '{"type":"array","maxItems":3,"items":{"type":"string"},"uniqueItems":true,"title":"t","contains":{"minimum":1}}',
    '{"type":"array","description":"{maxItems: 3, uniqueItems: true, contains: {\\"minimum\\":1}}","items":{"type":"string"},"title":"t"}',
  ),
  told(
    "a description that is no text",
    '{"type":"string","description":null,"minLength":1}',
    '{"type":"string","description":"{minLength: 1}"}',
  ),
  told("minItems above 1", '{"type":"array","minItems":2}', '{"type":"array","description":"{minItems: 2}"}'),
  kept("minItems 0 and 1", '{"anyOf":[{"type":"array","minItems":0},{"type":"array","minItems":1}]}'),
  told(
    "a format that is not taken",
    '{"type":"string","format":"iri"}',
    '{"type":"string","description":"{format: \\"iri\\"}"}',
  ),
  kept("a format that is taken", '{"type":"string","format":"date-time"}'),
  kept("a simple pattern", '{"type":"string","pattern":"^[a-z]{2,4}(?:-\\\\d+)?$"}'),
  told(
    "a pattern that looks ahead",
    '{"type":"string","pattern":"^(?!x)"}',
    '{"type":"string","description":"{pattern: \\"^(?!x)\\"}"}',
  ),
  told(
    "a pattern with a word boundary",
    '{"type":"string","pattern":"\\\\bx"}',
    '{"type":"string","description":"{pattern: \\"\\\\\\\\bx\\"}"}',
  ),
  told(
    "conditions",
    '{"type":"string","if":{"minLength":1},"then":false}',
    '{"type":"string","description":"{if: {\\"minLength\\":1}, then: false}"}',
  ),
  told(
    "a tuple of draft 7",
    '{"type":"array","items":[{"type":"string"}]}',
    '{"type":"array","description":"{items: [{\\"type\\":\\"string\\"}]}"}',
  ),
  told(
    "an enum of objects",
    '{"type":"object","properties":{},"enum":[{"a":1.0}],"additionalProperties":false}',
    '{"type":"object","properties":{},"description":"{enum: [{\\"a\\":1.0}]}","additionalProperties":false}',
  ),
  told("a const of a list", '{"const":[1]}', '{"description":"{const: [1]}"}'),
  kept(
    "data that looks like a schema",
    '{"type":"string","enum":["minimum",1.0],"default":{"type":"object","minimum":1},"examples":[{"minimum":12345678901234567890}],"x-more":{"minimum":1}}',
  ),
  {
    title: "oneOf, which anyOf is written for",
    from: '{"oneOf":[{"type":"string"},{"const":1.0}]}',
    to: '{"anyOf":[{"type":"string"},{"const":1.0}]}',
  },
  told(
    "oneOf beside anyOf",
    '{"oneOf":[{"const":1}],"anyOf":[{"type":"integer"}]}',
    '{"description":"{oneOf: [{\\"const\\":1}]}","anyOf":[{"type":"integer"}]}',
  ),
  kept("allOf without references", '{"allOf":[{"type":"string"},{"title":"t"}]}'),
  {
    title: "allOf of one reference",
    from: '{"title":"t","allOf":[{"$ref":"#/properties/b"}]}',
    to: '{"title":"t","anyOf":[{"$ref":"#/properties/b"}]}',
  },
  { title: "allOf with references", from: '{"allOf":[{"$ref":"#/x"},{"$ref":"#/y"}]}', heard: "unfit" },
  kept("a reference alone", '{"$ref":"#/$defs/missing"}'),
  {
    title: "a reference with more beside it",
    from: '{"$ref":"#/$defs/missing","description":"d"}',
    to: '{"anyOf":[{"$ref":"#/$defs/missing"}],"description":"d"}',
  },
  { title: "a reference to elsewhere", from: '{"$ref":"https://example.com/a.json"}', heard: "unfit" },
  { title: "a reference to the whole", from: '{"$ref":"#"}', heard: "unfit" },
  { title: "a reference to what it is in", from: '{"anyOf":[{"$ref":"#/properties/a"}]}', heard: "unfit" },
  { title: "an object that does not say", from: `${OPEN}}`, to: `${OPEN},"additionalProperties":false}` },
  {
    title: "an object that may be null",
    from: '{"type":["object","null"],"properties":{} }',
    to: '{"type":["object","null"],"properties":{},"additionalProperties":false }',
  },
  {
    title: "an object without a type",
    from: '{"properties":{"minimum":{"type":"null"}}}',
    to: '{"properties":{"minimum":{"type":"null"}},"additionalProperties":false}',
  },
  ...["true", '{"type":"string"}', "{}"].map((value) => ({
    title: `an object whose other members are ${value}`,
    from: `${OPEN},"additionalProperties": ${value}}`,
    to: `${OPEN},"additionalProperties": false}`,
    heard: "closed",
  })),
  {
    title: "an object that names no member",
    from: '{"type":"object"}',
    to: '{"type":"object","additionalProperties":false}',
    heard: "closed",
  },
  kept("a schema that is true", "true"),
  told(
    "what contains itself where it is only told",
    '{"type":"array","prefixItems":[{"$ref":"#"}]}',
    '{"type":"array","description":"{prefixItems: [{\\"$ref\\":\\"#\\"}]}"}',
  ),
];

const OPENAI: readonly Case[] = [
  kept(
    "bounds that are taken",
    '{"type":"number","minimum":1,"maximum":2,"exclusiveMinimum":0,"multipleOf":1}',
  ),
  kept("lengths and patterns", '{"type":"string","minLength":1,"maxLength":2,"pattern":"^(?=a)"}'),
  kept("counts", '{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":3}'),
  told(
    "a format that is not taken",
    '{"type":"string","format":"uri"}',
    '{"type":"string","description":"{format: \\"uri\\"}"}',
  ),
  told(
    "unique items",
    '{"type":"array","items":{"type":"string"},"uniqueItems":true}',
    '{"type":"array","items":{"type":"string"},"description":"{uniqueItems: true}"}',
  ),
  { title: "oneOf", from: '{"oneOf":[{"type":"null"}]}', to: '{"anyOf":[{"type":"null"}]}' },
  { title: "allOf of one", from: '{"allOf":[{"type":"null"}]}', to: '{"anyOf":[{"type":"null"}]}' },
  { title: "allOf of several", from: '{"allOf":[{"type":"null"},{"title":"t"}]}', heard: "unfit" },
  {
    title: "a reference with more beside it",
    from: '{"$ref":"#","title":"t"}',
    to: '{"anyOf":[{"$ref":"#"}],"title":"t"}',
  },
  { title: "a reference to a property", from: '{"$ref":"#/properties/a"}', heard: "unfit" },
  { title: "a reference to no definition", from: '{"$ref":"#/$defs/missing"}', heard: "unfit" },
  {
    title: "a reference into a definition",
    from: '{"$ref":"#/$defs/a/items"}',
    heard: "unfit",
  },
  { title: "a list that does not say its items", from: '{"type":["array","null"]}', heard: "unfit" },
  {
    title: "a list of so many items",
    from: '{"type":"array","prefixItems":[{"type":"null"}]}',
    heard: "unfit",
  },
  { title: "a tuple of draft 7", from: '{"type":"array","items":[{"type":"null"}]}', heard: "unfit" },
  { title: "items of anything", from: '{"type":"array","items":true}', heard: "unfit" },
  { title: "a schema without a type", from: '{"description":"d"}', heard: "unfit" },
  { title: "a schema that is true", from: "true", heard: "unfit" },
  { title: "values of no plain type", from: '{"enum":["a",{}]}', heard: "unfit" },
  { title: "a choice of no value", from: '{"enum":[]}', heard: "unfit" },
  {
    title: "a value that does not say its type",
    from: '{"const":9007199254740993.0,"title":"t" }',
    to: '{"const":9007199254740993.0,"title":"t","type":"number" }',
  },
  {
    title: "values that do not say their types",
    from: '{"enum":["a",true,null,"b"]}',
    to: '{"enum":["a",true,null,"b"],"type":["string","boolean","null"]}',
  },
  told(
    "a bound of draft 4",
    '{"type":"integer","minimum":1.0,"exclusiveMinimum":true}',
    '{"type":"integer","minimum":1.0,"description":"{exclusiveMinimum: true}"}',
  ),
  kept("a reference to what it is in", '{"anyOf":[{"$ref":"#"},{"type":"null"}]}'),
  {
    title: "an object that does not say",
    from: '{"type":"object","properties":{"b":{"type":"null"}},"required":["b"]}',
    to: '{"type":"object","properties":{"b":{"type":"null"}},"required":["b"],"additionalProperties":false}',
  },
  { title: "a property that is optional", from: `${OPEN},"additionalProperties":false}`, heard: "unfit" },
  {
    title: "a required member that is no property",
    from: '{"type":"object","properties":{},"required":["b"],"additionalProperties":false}',
    heard: "unfit",
  },
  { title: "a map", from: '{"type":"object","additionalProperties":{"type":"string"}}', heard: "unfit" },
  { title: "an object of anything", from: '{"type":"object"}', heard: "unfit" },
];

const ALL = [
  ...CLAUDE.map((entry) => ({ provider: "Claude", rules: CLAUDE_RULES, ...entry })),
  ...OPENAI.map((entry) => ({ provider: "OpenAI", rules: OPENAI_RULES, ...entry })),
];

const PLACES = {
  "in a property": inObject,
  "in a definition": (schema: string) =>
    `{"type":"object","properties":{},"$defs":{"a":${schema}},"additionalProperties":false}`,
  "in an item of a choice": (schema: string) =>
    inObject(`{"anyOf":[{"type":"array","items":${schema}},{"type":"null"}]}`),
};

test.each(ALL)("$provider: $title", ({ rules, from, to = from, heard = "" }) => {
  for (const [place, around] of Object.entries(PLACES)) {
    if (from.includes("#/properties/a") && place !== "in a property") continue;
    const expected: Fitted = heard === "unfit" ? [undefined, heard] : [around(to), heard];
    expect(fitted(around(from), rules), place).toEqual(expected);
  }
});

test.each([
  ["is no object", '{"type":"array","items":{"type":"null"}}'],
  ["is a choice", '{"type":"object","anyOf":[{"type":"null"}]}'],
  ["is a reference", '{"$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}}'],
])("OpenAI takes no schema that %s", (_, text) => {
  expect(fitted(text, OPENAI_RULES)).toEqual([undefined, "unfit"]);
});

test.each([
  [
    "a chain of references without an end",
    `{"type":"null","$defs":{${Array.from({ length: 20_000 }, (_, i) => `"d${i}":{"$ref":"#/$defs/d${i + 1}"}`).join()}}}`,
    "",
  ],
  [
    "a circle of references",
    `{"type":"null","$defs":{${Array.from({ length: 20_000 }, (_, i) => `"d${i}":{"$ref":"#/$defs/d${(i + 1) % 20_000}"}`).join()}}}`,
    "unfit",
  ],
  ["depth", `${'{"anyOf":['.repeat(125)}{"minimum":1}${"]}".repeat(125)}`, "told"],
  [
    "a description of a megabyte, bounds of another",
    `{"type":"string","description":"${"d".repeat(2 ** 20)}","not":"${"n".repeat(2 ** 20)}"}`,
    "told",
  ],
  [
    "a keyword many times, beside none of another",
    `{"type":"null",${Array.from({ length: 100_000 }, () => '"oneOf":[1]').join()}}`,
    "unfit",
  ],
  [
    "many properties",
    `{"type":"object","properties":{${Array.from({ length: 100_000 }, (_, i) => `"p${i}":{"minimum":${i}}`).join()}}}`,
    "told",
  ],
])("hostile: %s", (_, text, heard) => {
  const [result, said] = fitted(text, CLAUDE_RULES);
  expect(said).toBe(heard);
  if (result !== undefined) JSON.parse(result);
});

test("a long string that is no JSON is the caller's fault", () => {
  for (const text of ['{"$ref":"\\x"}', '{"pattern":"\\x"}', '{"\\x":1}']) {
    expect(() => fitted(text, CLAUDE_RULES)).toThrow(expect.objectContaining({ kind: "invalid_json" }));
  }
});
