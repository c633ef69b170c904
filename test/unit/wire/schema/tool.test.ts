/** Tools of providers that refuse some schemas of any. */
import { expect, test } from "vitest";
import { JsonText } from "../../../../src/wire/json/json-text.ts";
import type { NeutralRequest, NeutralTool } from "../../../../src/wire/neutral/neutral.ts";
import { OptionTaker } from "../../../../src/wire/neutral/options.ts";
import { mendSchema } from "../../../../src/wire/schema/mend.ts";
import { mayNeedMending } from "../../../../src/wire/schema/needs.ts";
import { CLAUDE_TOOLS, OPENAI_TOOLS } from "../../../../src/wire/schema/rules.ts";
import { fittedTool } from "../../../../src/wire/schema/tool.ts";

const NOTHING: NeutralRequest = { stream: false, messages: [], tools: [], options: {}, dropped: [] };

function written(parameters: string, strict?: boolean) {
  const options = new OptionTaker(NOTHING);
  const tool: NeutralTool = {
    name: "f",
    parameters: new JsonText(parameters),
    ...(strict !== undefined && { strict }),
  };
  const made = fittedTool(tool, 3, CLAUDE_TOOLS, options);
  return [made.parameters.text, made.strict, ...options.dropped()];
}

test("any other schema stays", () => {
  const loose = '{"type":"object","properties":{"anyOf":{"oneOf":[{"minimum":1.0}]}}}';
  expect(written(loose)).toEqual([loose, undefined]);
  expect(written(loose, false)).toEqual([loose, false]);
});

test.each(["anyOf", "oneOf", "allOf"])("%s is told, and not held to", (key) => {
  const from = `{"type":"object", "${key}":[{"required":["a"]}], "properties":{"a":{"minimum":1.0}}}`;
  const told = `{"type":"object", "description":"{${key}: [{\\"required\\":[\\"a\\"]}]}", "properties":{"a":{"minimum":1.0}}}`;
  expect(written(from)).toEqual([told, undefined, "/tools/3"]);
  expect(written(from, true)).toEqual([told, false, "/tools/3"]);
});

test("a description is kept before it", () => {
  const from = '{"type":"object","description":"d","anyOf":[],"oneOf":[]}';
  const told = '{"type":"object","description":"d\\n\\n{anyOf: [], oneOf: []}"}';
  expect(written(from)).toEqual([told, undefined, "/tools/3"]);
});

const TUPLE = '[{"type":"null"}]';

test.each([
  [
    "further items before the tuple",
    `{"additionalItems":{"minimum":1.0},"items":${TUPLE}}`,
    `{"items":{"minimum":1.0},"prefixItems":${TUPLE}}`,
  ],
  ["further items beside no tuple", '{"items":{},"additionalItems":false}', undefined],
  ["a tuple of nothing", '{"items":[ ],"additionalItems":false}', '{"items":{},"additionalItems":false}'],
  [
    "a tuple beside one of a later draft",
    `{"prefixItems":${TUPLE},"items":${TUPLE}}`,
    `{"prefixItems":${TUPLE},"items":{}}`,
  ],
  ["a tuple in a tuple", `{"items":[{"items" : ${TUPLE}}]}`, `{"prefixItems":[{"prefixItems" : ${TUPLE}}]}`],
  [
    "in a condition",
    `{"if":{"not":{"items":${TUPLE}}},"patternProperties":{"":{"contains":{"items":${TUPLE}}}}}`,
    `{"if":{"not":{"prefixItems":${TUPLE}}},"patternProperties":{"":{"contains":{"prefixItems":${TUPLE}}}}}`,
  ],
  [
    "data that looks like it",
    `{"default":{"items":${TUPLE},"exclusiveMinimum":true},"enum":[{"items":[1]}]}`,
    undefined,
  ],
  [
    "properties of such names",
    '{"properties":{"items":{"type":["null"]},"exclusiveMinimum":true}}',
    undefined,
  ],
  ["a bound that is none", '{"exclusiveMinimum":true}', "{}"],
  [
    "bounds that are none, at both ends",
    '{"exclusiveMinimum":false,"maximum":1.0,"exclusiveMaximum":false}',
    '{"maximum":1.0}',
  ],
  ["a bound of a later draft", '{"minimum":1,"exclusiveMinimum":2}', undefined],
  [
    "a reference through names with escapes",
    `{"$defs":{"a/b":{"items":[{"$ref":"#/properties/a/$defs/a~1b/items/0"}]}}}`,
    `{"$defs":{"a/b":{"prefixItems":[{"$ref":"#/properties/a/$defs/a~1b/prefixItems/0"}]}}}`,
  ],
  [
    "a reference to properties of such names",
    `{"properties":{"items":{"items":${TUPLE}},"n":{"$ref":"#/properties/a/properties/items"}}}`,
    `{"properties":{"items":{"prefixItems":${TUPLE}},"n":{"$ref":"#/properties/a/properties/items"}}}`,
  ],
  [
    "references to elsewhere",
    `{"items":[{"$ref":"https://example.com/items/0"},{"$ref":"#items"},{"$ref":1},{"$ref":"#/items/9"}]}`,
    `{"prefixItems":[{"$ref":"https://example.com/items/0"},{"$ref":"#items"},{"$ref":1},{"$ref":"#/items/9"}]}`,
  ],
])("drafts: %s", (_, from, to = from) => {
  const within = (schema: string) => `{"type":"object","properties":{"a":${schema}}}`;
  expect(written(within(from))).toEqual([within(to), undefined]);
});

test("what is told is not mended, and what is beside it is", () => {
  const from = `{"type":"object","exclusiveMinimum":false,"allOf":[{"items":${TUPLE}}],"additionalProperties":{"items":${TUPLE}}}`;
  const words = JSON.stringify(`{exclusiveMinimum: false, allOf: [{"items":${TUPLE}}]}`);
  expect(written(from)).toEqual([
    `{"type":"object","description":${words},"additionalProperties":{"prefixItems":${TUPLE}}}`,
    undefined,
    "/tools/3",
  ]);
});

test("a strict tool that does not fit is mended as others are", () => {
  const tuple = (key: string) => `{"type":"object","properties":{"a":{"${key}":${TUPLE}},"b":{"$ref":"#"}}}`;
  expect(written(tuple("items"), true)).toEqual([tuple("prefixItems"), false, "/tools/3"]);
});

const many = (length: number, make: (index: number) => string) =>
  Array.from({ length }, (_, i) => make(i)).join();

test.each([
  ["bounds that are none", `{"type":"object",${many(100_000, () => '"exclusiveMinimum":true')}}`],
  ["tuples of one schema", `{"type":"object",${many(50_000, () => '"items":[1],"additionalItems":1')}}`],
  [
    "references into a long tuple",
    `{"type":"object","items":[${many(30_000, (i) => `{"$ref":"#/items/${i}"}`)}]}`,
  ],
  [
    "a long bound, said to be within many times",
    `{"type":"object","minimum":${"1".repeat(1e5)},${many(20_000, () => '"exclusiveMinimum":true')}}`,
  ],
  [
    "equal references many times",
    `{"type":"object","items":[{${many(20_000, () => '"$ref":"#/items/0"')}}]}`,
  ],
  ["types", `{"type":"object","properties":{${many(50_000, (i) => `"p${i}":{"type":["array","object"]}`)}}}`],
  ["depth", `{"type":"object","items":${'[{"items":'.repeat(200)}[{}]${"}]".repeat(200)}}`],
])("hostile: %s", (_, from) => {
  for (const rules of [CLAUDE_TOOLS, OPENAI_TOOLS]) JSON.parse(mendSchema(from, rules).text);
});

test("a long name that is no JSON is the caller's fault", () => {
  expect(() => written('{"type":"object","\\x":1}')).toThrow(
    expect.objectContaining({ kind: "invalid_json" }),
  );
});

const BYTES = [
  '{"type":"object","properties":{"project":{"type":"array","items":{"enum":["anyOne"]}}}}',
  '{"type":"object","properties":{"n":{"type":["string","null"],"minimum":1}}}',
];

test("texts in a body that need nothing are not read", () => {
  for (const rules of [CLAUDE_TOOLS, OPENAI_TOOLS]) {
    for (const text of BYTES) expect(mayNeedMending(inBody(text), rules), text).toBe(false);
  }
});

test("texts in a body are mended as others are", () => {
  for (const text of [
    '{"type":"object"}',
    '{"type":"object","properties":{},"not":{}}',
    '{"type":"object","properties":{},"oneOf":[]}',
    '{"type":"object","properties":{"a":{"type":["object","null"]}}}',
    '{"type":"object","properties":{"a":{"type":"array"}}}',
    '{"type":"object","properties":{"a":{"type":"array","items":true}}}',
    '{"type":"object","properties":{"a":{"items" : [{}]}}}',
    '{"type":"object","properties":{"a":{"exclusiveMaximum":true}}}',
  ]) {
    expect(mayNeedMending(inBody(text), OPENAI_TOOLS), text).toBe(true);
    expect(mendSchema(text, OPENAI_TOOLS).text).not.toBe(text);
  }
});

/** A schema between others. */
function inBody(text: string): JsonText {
  const bytes = Buffer.from(`[{"anyOf":[]},${text},{"not":{}}]`);
  const start = bytes.indexOf(text);
  return new JsonText({ bytes, start, end: start + text.length });
}
