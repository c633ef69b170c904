/**
 * Tools that no model is held to, from every format to every dialect: what the dialect's provider refuses in any tool's schema is
 * edited, and nothing else. The reports of each rule are beside it in `src/wire/schema/rules.ts`.
 */
import { expect } from "vitest";
import type { ChatUpstreamName } from "../../support/conformance/ends.ts";
import { type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";
import { CLOSED, object, TOOLS, tool } from "./schemas.fixtures.ts";

type Provider = "openai" | "claude";

interface Case {
  readonly name: string;
  readonly schema: string;
  /** What the provider gets; the schema itself unless told. */
  readonly openai?: string;
  readonly claude?: string;
  /** Whose clients are warned. */
  readonly warned?: readonly Provider[];
}

const PROVIDERS: Readonly<Record<ChatUpstreamName, Provider | undefined>> = {
  chat: "openai",
  responses: "openai",
  messages: "claude",
  converse: "claude",
  gemini: undefined,
};

/** A number in each that no value keeps: what need not change stays as it was written. */
const RAW = '"r":{"type":"number","default":9007199254740993.10}';
const within = (schema: string) => object(`${RAW},"n":${schema}`);
/** The same of both providers. */
const both = (name: string, schema: string, sent: string, openai = sent): Case => ({
  name,
  schema: within(schema),
  openai: within(openai),
  claude: within(sent),
});
/** Only OpenAI needs it. */
const openai = (name: string, schema: string, sent: string): Case => ({ name, schema, openai: sent });

const TUPLE = '[{"type":"number"},{"type":"string"}]';

const CASES: readonly Case[] = [
  {
    name: "what needs nothing",
    schema: within(
      '{"type":"array","items":{"minimum": 1.0,"oneOf":[{"maxLength":9007199254740993}]},"exclusiveMinimum":1E2}',
    ),
  },
  {
    name: "names of properties that Claude refuses",
    schema: `{"type":"object","properties":{"$filter":{"type":"string","items":[{}]},"a.b-c_1":{"type":"string"},"filter[id]" : {"enum":[1.0]},"@odata.type":{"type":"string"}},"required":["$filter"]}`,
    openai: `{"type":"object","properties":{"$filter":{"type":"string","prefixItems":[{}]},"a.b-c_1":{"type":"string"},"filter[id]" : {"enum":[1.0]},"@odata.type":{"type":"string"}},"required":["$filter"]}`,
    claude: `{"type":"object","properties":{"a.b-c_1":{"type":"string"}},"required":["$filter"],"description":${JSON.stringify('{$filter: {"type":"string","items":[{}]}, filter[id]: {"enum":[1.0]}, @odata.type: {"type":"string"}}')}}`,
    warned: ["claude"],
  },
  {
    name: "such names beside a description and an outermost choice",
    schema:
      '{"description":"Does.","type":"object","anyOf":[{"required":["a"]}],"properties":{"a":{},"$b":{}}}',
    openai: `{"description":${JSON.stringify('Does.\n\n{anyOf: [{"required":["a"]}]}')},"type":"object","properties":{"a":{},"$b":{}}}`,
    claude: `{"description":${JSON.stringify('Does.\n\n{anyOf: [{"required":["a"]}], $b: {}}')},"type":"object","properties":{"a":{}}}`,
    warned: ["openai", "claude"],
  },
  {
    name: "such a name twice",
    schema: '{"type":"object","properties":{"$a":{},"$a":{"x":1.0}}}',
  },
  {
    name: "such a name alone, and within",
    schema: '{"type":"object","properties":{"$a":{}},"$defs":{"x":{"type":"object","properties":{"$a":{}}}}}',
    claude: `{"type":"object","properties":{},"$defs":{"x":{"type":"object","properties":{"$a":{}}}},"description":"{$a: {}}"}`,
    warned: ["claude"],
  },
  openai("an object that says no property", '{"type":"object"}', '{"type":"object","properties":{}}'),
  openai(
    "a map, as MCP servers say it",
    '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":true}',
    '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":true,"properties":{}}',
  ),
  openai(
    "objects within",
    within('{"anyOf":[{"type":["object","null"] },{"type":"string","const":"object"}]}'),
    within('{"anyOf":[{"type":["object","null"],"properties":{} },{"type":"string","const":"object"}]}'),
  ),
  openai(
    "a list that says no items",
    within('{"type":"array","description":"d"}'),
    within('{"type":"array","description":"d","items":{}}'),
  ),
  openai(
    "a list among other types, in a list",
    within('{"items":{"type":["string","array"]},"type":"array"}'),
    within('{"items":{"type":["string","array"],"items":{}},"type":"array"}'),
  ),
  openai(
    "a list of so many items, in a map",
    object(RAW, `,"additionalProperties":{"type":"array","prefixItems":${TUPLE}}`),
    object(RAW, `,"additionalProperties":{"type":"array","prefixItems":${TUPLE},"items":{}}`),
  ),
  openai("items of anything", within('{"type":"array","items":true}'), within('{"type":"array","items":{}}')),
  openai(
    "no further items",
    within(`{"type":"array","prefixItems":${TUPLE},"items": false}`),
    within(`{"type":"array","prefixItems":${TUPLE},"items": {"not":{}}}`),
  ),
  {
    name: "what may not be",
    schema: object(RAW, ',"not":{"required":["r"]}'),
    openai: object(RAW, ',"description":"{not: {\\"required\\":[\\"r\\"]}}"'),
    warned: ["openai"],
  },
  both(
    "a tuple of draft 7",
    `{"type":"array","items" :${TUPLE},"minItems":2}`,
    `{"type":"array","prefixItems" :${TUPLE},"minItems":2}`,
    `{"type":"array","prefixItems" :${TUPLE},"minItems":2,"items":{}}`,
  ),
  both(
    "a tuple of draft 7 that says what follows",
    `{"type":"array","items":${TUPLE},"additionalItems":{"type":"null"}}`,
    `{"type":"array","prefixItems":${TUPLE},"items":{"type":"null"}}`,
  ),
  both(
    "a reference into a tuple of draft 7",
    '{"type":"array","items":[{"type":"null"},{"$ref":"#/properties/n/items/0"}],"additionalItems":{"$ref":"#/properties/n/additionalItems"}}',
    '{"type":"array","prefixItems":[{"type":"null"},{"$ref":"#/properties/n/prefixItems/0"}],"items":{"$ref":"#/properties/n/items"}}',
  ),
  both(
    "bounds of draft 4",
    '{"type":"integer","minimum":1.0,"exclusiveMinimum":true,"exclusiveMaximum": false,"maximum":9}',
    '{"type":"integer","minimum":1.0,"exclusiveMinimum":1.0,"maximum":9}',
  ),
  ...["anyOf", "oneOf", "allOf"].map(
    (key): Case => ({
      name: `${key} in the outermost schema`,
      schema: object(RAW, `,"${key}":[{"required":["r"]}]`),
      openai: object(RAW, `,"description":"{${key}: [{\\"required\\":[\\"r\\"]}]}"`),
      claude: object(RAW, `,"description":"{${key}: [{\\"required\\":[\\"r\\"]}]}"`),
      warned: ["openai", "claude"],
    }),
  ),
];

/** Equal ends pass bytes. */
function expectSent({ client, dialect, up, heard }: Exchange, entry: Case): void {
  const provider = client === dialect ? undefined : PROVIDERS[dialect];
  expect(up.raw).toContain((provider && entry[provider]) ?? entry.schema);
  const isWarned = provider !== undefined && (entry.warned ?? []).includes(provider);
  expect(heard.svc.warnings.length > 0, heard.svc.warnings.join()).toBe(isWarned);
}

kinds(
  "tools that no model is held to",
  CASES.map(
    (entry): Kind => ({
      name: entry.name,
      ask: tool(entry.schema, false),
      check: (exchange) => expectSent(exchange, entry),
    }),
  ),
);

/** Bedrock: "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object." (earendil-works/pi#8279) */
const UNTYPED: readonly Case[] = [
  { name: "{}", schema: "{}", claude: '{"type":"object"}', openai: '{"type":"object","properties":{}}' },
  {
    name: "properties",
    schema: '{"properties":{"n":{"const":1.0}},"required":["n"]}',
    claude: '{"properties":{"n":{"const":1.0}},"required":["n"],"type":"object"}',
    openai: '{"properties":{"n":{"const":1.0}},"required":["n"],"type":"object"}',
  },
  {
    name: "an object or null",
    schema: '{"type":["object","null"],"properties":{}}',
    claude: '{"type":"object","properties":{}}',
    openai: '{"type":"object","properties":{}}',
  },
];

kinds(
  "tools that do not say that they take an object",
  UNTYPED.map(
    (entry): Kind => ({
      name: entry.name,
      ask: tool(entry.schema, false),
      clients: ["chat", "responses", "generate"],
      targets: ["chat", "responses", "messages", "converse"],
      check(exchange) {
        const { client, dialect, up } = exchange;
        expectSent(exchange, entry);
        if (client !== dialect) expect(TOOLS[dialect](up.json).schema.type).toBe("object");
      },
    }),
  ),
);

const OPTIONAL_TUPLE = object(`"n":{"type":"array","items":${TUPLE}}`, CLOSED);

kinds("strict tools that OpenAI holds no model to", [
  {
    name: "are mended as others are",
    ask: tool(OPTIONAL_TUPLE, true),
    targets: ["chat", "responses"],
    check({ client, dialect, up }) {
      if (client === dialect) return;
      const { schema, strict } = TOOLS[dialect](up.json);
      expect(strict).toBe(false);
      expect(JSON.stringify(schema.properties.n)).toBe(`{"type":"array","prefixItems":${TUPLE},"items":{}}`);
    },
  },
]);
