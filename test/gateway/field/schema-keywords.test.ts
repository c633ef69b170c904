/**
 * Schemas that a model is held to, from every format that has them to every dialect: what the dialect's provider refuses is edited,
 * and nothing else. Reports: BerriAI/litellm#21016 (`minimum` for Anthropic), laravel/ai#715 (an open object), laravel/ai#506 (an
 * optional property in OpenAI's strict mode), decolua/9router#1036 and NousResearch/hermes-agent#98928 (references for Gemini).
 */
import { expect } from "vitest";
import type { ChatUpstreamName } from "../../support/conformance/ends.ts";
import { type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";
import { CLOSED, FORMATS, format, object, type Sent, TOOLS, tool } from "./schemas.fixtures.ts";

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
  /** As OpenAI gets a tool's, where that is another. */
  readonly openaiTool?: string;
  readonly gemini?: string;
}

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

interface Unheld {
  readonly name: string;
  /** The one property's schema. */
  readonly n: string;
  /** As Claude gets it, and OpenAI as that of a tool, where that is another. */
  readonly claude?: string;
  readonly openaiTool?: string;
  readonly more?: string;
}

/** A schema that OpenAI holds no model to: it is sent as it is, and only told. */
function unheld({ name, n, claude = n, openaiTool = n, more = "" }: Unheld): Case {
  const within = (value: string) => object(`"n":${value}`, `${N}${CLOSED}${more}`);
  return {
    name,
    schema: within(n),
    claude: { schema: within(claude), isWarned: claude !== n },
    openai: { schema: within(n), strict: false, isWarned: true },
    openaiTool: within(openaiTool),
  };
}

/** Reports: PrefectHQ/fastmcp#2464, dotnet/extensions#6918, openclaw/clawpatch#60. */
const UNHELD: readonly Case[] = [
  unheld({
    name: "a list that does not say its items",
    n: '{"type":["array","null"]}',
    openaiTool: '{"type":["array","null"],"items":{}}',
  }),
  unheld({
    name: "a list of so many items",
    n: '{"type":"array","prefixItems":[{"type":"null"}]}',
    claude: '{"type":"array","description":"{prefixItems: [{\\"type\\":\\"null\\"}]}"}',
    openaiTool: '{"type":"array","prefixItems":[{"type":"null"}],"items":{}}',
  }),
  unheld({ name: "a reference to another property", n: '{"$ref":"#/properties/m"}' }),
  unheld({
    name: "a reference into a definition",
    n: '{"$ref":"#/$defs/M/items"}',
    more: ',"$defs":{"M":{"type":"array","items":{"type":"null"}}}',
  }),
  unheld({ name: "a reference to no definition", n: '{"$ref":"#/$defs/M"}' }),
  unheld({ name: "a schema of anything", n: '{"title":"t"}' }),
  unheld({ name: "a schema that is true", n: "true" }),
];

const LITERAL = object('"n":{"anyOf":[{"const":"a"},{"enum":[1,null]}]}', N + CLOSED);

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

const asTool = ({ openaiTool, ...entry }: Case): Case =>
  openaiTool === undefined ? entry : { ...entry, openai: { ...entry.openai, schema: openaiTool } };

const ALL: readonly Case[] = [
  ...CASES,
  ...UNHELD,
  {
    name: "values that do not say their type",
    schema: LITERAL,
    claude: { schema: LITERAL },
    openai: {
      schema: object(
        '"n":{"anyOf":[{"const":"a","type":"string"},{"enum":[1,null],"type":["number","null"]}]}',
        N + CLOSED,
      ),
    },
  },
];

kinds(
  "schemas of answers",
  ALL.map(
    (entry): Kind => ({
      name: entry.name,
      ask: format(entry.schema),
      check: (exchange) => expectSent(exchange, FORMATS[exchange.dialect](exchange.up.json), entry),
    }),
  ),
);

kinds(
  "strict tools",
  ALL.map(
    (entry): Kind => ({
      name: entry.name,
      ask: tool(entry.schema, true),
      check: (exchange) => expectSent(exchange, TOOLS[exchange.dialect](exchange.up.json), asTool(entry)),
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
