/**
 * Schemas that a model is held to, from every format that has them to every dialect: what the dialect's provider refuses is edited,
 * and nothing else. Reports: BerriAI/litellm#21016 (`minimum` for Anthropic), laravel/ai#715 (an open object), laravel/ai#506 (an
 * optional property in OpenAI's strict mode), decolua/9router#1036 and NousResearch/hermes-agent#98928 (references for Gemini).
 */
import { expect } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import type { ChatUpstreamName } from "../../support/conformance/ends.ts";
import { type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";

const SAY = '"messages":[{"role":"user","content":"x"}]';

/** An answer's format that the model is held to, with this schema. */
const format = (schema: string) => ({
  chat: `{${SAY},"response_format":{"type":"json_schema","json_schema":{"name":"r","strict":true,"schema":${schema}}}}`,
  responses: `{"input":"x","text":{"format":{"type":"json_schema","name":"r","strict":true,"schema":${schema}}}}`,
  messages: `{"max_tokens":9,${SAY},"output_config":{"format":{"type":"json_schema","schema":${schema}}}}`,
  generate: `{${SAY},"format":{"type":"json_schema","strict":true,"schema":${schema}}}`,
});

/** A tool with these parameters. */
const tool = (parameters: string, strict: boolean) => ({
  chat: `{${SAY},"tools":[{"type":"function","function":{"name":"f","strict":${strict},"parameters":${parameters}}}]}`,
  responses: `{"input":"x","tools":[{"type":"function","name":"f","strict":${strict},"parameters":${parameters}}]}`,
  messages: `{"max_tokens":9,${SAY},"tools":[{"name":"f","strict":${strict},"input_schema":${parameters}}]}`,
  generate: `{${SAY},"tools":[{"name":"f","strict":${strict},"parameters":${parameters}}]}`,
});

interface Sent {
  readonly schema: Json;
  readonly strict: Json;
}

const FORMATS: Readonly<Record<ChatUpstreamName, (body: Json) => Sent>> = {
  chat: ({ response_format: { json_schema: sent } }) => sent,
  responses: ({ text: { format: sent } }) => sent,
  messages: ({ output_config: { format: sent } }) => ({ schema: sent.schema, strict: true }),
  gemini: ({ generationConfig: sent }) => ({ schema: sent.responseJsonSchema, strict: undefined }),
  converse: ({ outputConfig: { textFormat: sent } }) => ({
    schema: JSON.parse(sent.structure.jsonSchema.schema),
    strict: true,
  }),
};

const TOOLS: Readonly<Record<ChatUpstreamName, (body: Json) => Sent>> = {
  chat: ({ tools: [{ function: sent }] }) => ({ schema: sent.parameters, strict: sent.strict }),
  responses: ({ tools: [sent] }) => ({ schema: sent.parameters, strict: sent.strict }),
  messages: ({ tools: [sent] }) => ({ schema: sent.input_schema, strict: sent.strict }),
  gemini: ({ tools: [{ functionDeclarations: sent }] }) => ({
    schema: sent[0].parametersJsonSchema,
    strict: undefined,
  }),
  converse: ({ toolConfig: { tools: sent } }) => ({
    schema: sent[0].toolSpec.inputSchema.json,
    strict: sent[0].toolSpec.strict,
  }),
};

/** What a provider gets, and whether the client is warned. */
interface Expected {
  readonly schema: string;
  readonly strict?: boolean;
  readonly isWarned?: boolean;
}

interface Case {
  readonly name: string;
  readonly schema: string;
  /** At Anthropic and at Bedrock. */
  readonly claude: Expected;
  /** OpenAI's, in both dialects. */
  readonly openai: Expected;
  readonly gemini?: string;
}

const object = (properties: string, more = "") => `{"type":"object","properties":{${properties}}${more}}`;
const CLOSED = ',"additionalProperties":false';
const N = ',"required":["n"]';

const BOUNDED = object(
  '"minimum":{"type":"integer","minimum":1,"maximum":10}',
  `,"required":["minimum"]${CLOSED}`,
);
const NESTED_OPEN = object(
  `"n":{"$ref":"#/$defs/N"}`,
  `${N},"$defs":{"N":${object('"n":{"type":"null"}', N)}}`,
);
const NESTED_CLOSED = object(
  `"n":{"$ref":"#/$defs/N"}`,
  `${N},"$defs":{"N":${object('"n":{"type":"null"}', N + CLOSED)}}${CLOSED}`,
);
const OPTIONAL = object('"n":{"type":"null"}', CLOSED);
const definitions = (n: string, name = "definitions") =>
  object(`"n":${n}`, `${N}${CLOSED},"${name}":{"N":{"type":"null"}}`);
const WRAPPED = definitions('{"anyOf":[{"$ref":"#/definitions/N"}],"title":"t"}');

const CASES: readonly Case[] = [
  {
    name: "bounds, with a property of that name",
    schema: BOUNDED,
    claude: {
      schema: object(
        '"minimum":{"type":"integer","description":"{minimum: 1, maximum: 10}"}',
        `,"required":["minimum"]${CLOSED}`,
      ),
      isWarned: true,
    },
    openai: { schema: BOUNDED },
  },
  {
    name: "objects that do not say that they are closed",
    schema: NESTED_OPEN,
    claude: { schema: NESTED_CLOSED },
    openai: { schema: NESTED_CLOSED },
  },
  {
    name: "an optional property",
    schema: OPTIONAL,
    claude: { schema: OPTIONAL },
    openai: { schema: OPTIONAL, strict: false, isWarned: true },
  },
  {
    name: "one of several",
    schema: object('"n":{"oneOf":[{"type":"null"},{"type":"string","format":"uri"}]}', N + CLOSED),
    claude: {
      schema: object('"n":{"anyOf":[{"type":"null"},{"type":"string","format":"uri"}]}', N + CLOSED),
    },
    openai: {
      schema: object(
        '"n":{"anyOf":[{"type":"null"},{"type":"string","description":"{format: \\"uri\\"}"}]}',
        N + CLOSED,
      ),
      isWarned: true,
    },
  },
  {
    name: "a reference into definitions, with a title",
    schema: definitions('{"$ref":"#/definitions/N","title":"t"}'),
    claude: { schema: WRAPPED },
    openai: { schema: WRAPPED },
    gemini: definitions('{"anyOf":[{"$ref":"#/$defs/N"}],"title":"t"}', "$defs"),
  },
];

/** Equal ends pass bytes. */
function expectSent(exchange: Exchange, sent: Sent, { schema, claude, openai, gemini }: Case): void {
  const { client, dialect, heard } = exchange;
  const byDialect: Readonly<Record<ChatUpstreamName, Expected>> = {
    chat: openai,
    responses: openai,
    messages: claude,
    converse: claude,
    gemini: { schema: gemini ?? schema },
  };
  const expected: Expected = client === dialect ? { schema } : byDialect[dialect];
  expect(JSON.stringify(sent.schema)).toBe(expected.schema);
  if (dialect === "gemini") return;
  expect(sent.strict).toBe(expected.strict ?? true);
  expect(heard.svc.warnings.length > 0, heard.svc.warnings.join()).toBe(expected.isWarned ?? false);
}

kinds(
  "schemas of answers",
  CASES.map(
    (entry): Kind => ({
      name: entry.name,
      ask: format(entry.schema),
      check: (exchange) => expectSent(exchange, FORMATS[exchange.dialect](exchange.up.json), entry),
    }),
  ),
);

kinds(
  "strict tools",
  CASES.map(
    (entry): Kind => ({
      name: entry.name,
      ask: tool(entry.schema, true),
      check: (exchange) => expectSent(exchange, TOOLS[exchange.dialect](exchange.up.json), entry),
    }),
  ),
);

/** Any JSON schema will do for a tool that the model is not held to. */
const LOOSE = object('"n":{"type":"integer","minimum": 1.0,"oneOf":[{"maxLength":9007199254740993}]}');

kinds("other tools", [
  {
    name: "a schema stays to the byte",
    ask: tool(LOOSE, false),
    check: ({ up }) => expect(up.raw).toContain(LOOSE),
  },
]);

/** Bedrock: "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object." (earendil-works/pi#8279) */
const UNTYPED: readonly (readonly [string, string])[] = [
  ["{}", '{"type":"object"}'],
  [`{"properties":{"n":{"const":1.0}}${N}}`, `{"properties":{"n":{"const":1.0}}${N},"type":"object"}`],
  ['{"type":["object","null"],"properties":{}}', '{"type":"object","properties":{}}'],
];

kinds(
  "tools that do not say that they take an object",
  UNTYPED.map(
    ([schema, typed]): Kind => ({
      name: schema,
      ask: tool(schema, false),
      clients: ["chat", "responses", "generate"],
      targets: ["messages", "converse"],
      check: ({ dialect, up, heard }) => {
        expect(TOOLS[dialect](up.json).schema.type).toBe("object");
        expect(up.raw).toContain(typed);
        expect(heard.svc.warnings).toEqual([]);
      },
    }),
  ),
);

const RECURSIVE = object(`"n":{"anyOf":[{"type":"null"},{"$ref":"#"}]}`, N + CLOSED);

kinds("schemas that Claude cannot be held to", [
  {
    name: "a strict tool is one that is not",
    ask: tool(RECURSIVE, true),
    targets: ["messages", "converse"],
    check({ client, dialect, up, heard }) {
      if (client === dialect) return;
      const { schema, strict } = TOOLS[dialect](up.json);
      expect(JSON.stringify(schema)).toBe(RECURSIVE);
      expect(strict ?? false).toBe(false);
      expect(heard.svc.warnings).toHaveLength(1);
    },
  },
  {
    name: "an answer's format is not carried",
    ask: format(RECURSIVE),
    targets: ["messages", "converse"],
    check({ client, dialect, up, heard }) {
      if (client === dialect) return;
      expect(up.json.output_config ?? up.json.outputConfig).toBeUndefined();
      expect(heard.svc.warnings).toHaveLength(1);
    },
  },
]);
