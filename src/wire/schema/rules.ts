/**
 * What providers refuse in a schema, as data. The grammar of one that holds a model to it takes a part of JSON Schema, and tools that no
 * model is held to are checked too: the rest is answered with status 400 before the model is asked.
 */

export interface SchemaRules {
  /** Keywords that are refused wherever they are. */
  readonly refused: ReadonlySet<string>;
  /** The values of `format` that are taken. */
  readonly formats: ReadonlySet<string>;
  /** Whether a regular expression is taken. */
  takesPattern(pattern: string): boolean;
  /** `minItems` is taken up to this. */
  readonly mostMinItems: number;
  /** `enum` and `const` are taken of strings, numbers, booleans and null only. */
  readonly plainLiterals: boolean;
  /** Whether several schemas of `allOf` are taken, so long as none is a reference. */
  readonly allOf: boolean;
  /** Whether a schema may contain itself. */
  readonly recursion: boolean;
  /** Every property must be required, and the outermost schema must be of an object and no choice (`anyOf`). */
  readonly allRequired: boolean;
  /** Every schema must say its type, unless it is a reference or a choice, and an array what its items are. */
  readonly allTyped: boolean;
  /** References must lead to a definition of the outermost schema, or to the whole. */
  readonly definedReferences: boolean;
  /** An object that takes any member is closed; else the schema does not fit. */
  readonly closesMaps: boolean;
}

const FORMATS = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
]);

/** Refused by both: conditions, negation, and rules for lists and objects that no grammar has. */
const REFUSED = [
  "not",
  "if",
  "then",
  "else",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "patternProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "additionalItems",
  "prefixItems",
  "contains",
  "minContains",
  "maxContains",
  "uniqueItems",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
];

/** Look-around, back-references, word boundaries, named groups, classes of Unicode, and repetitions a hundred times and more. */
const HARD_PATTERN = /\\[1-9bBkpP]|\(\?(?!:)|\{\d*,?\d{3,}/;

/**
 * Claude, at Anthropic and at Bedrock, whose documentation gives the same bounds for all its models. What Anthropic's SDKs move into the
 * description is moved, save what the documentation says is enforced: `default` and simple patterns.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
 * https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html
 */
export const CLAUDE_RULES: SchemaRules = {
  refused: new Set([
    ...REFUSED,
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
  ]),
  formats: new Set([...FORMATS, "uri"]),
  takesPattern: (pattern) => !HARD_PATTERN.test(pattern),
  mostMinItems: 1,
  plainLiterals: true,
  allOf: true,
  recursion: false,
  allRequired: false,
  allTyped: false,
  definedReferences: false,
  closesMaps: true,
};

/**
 * OpenAI's `strict: true`. The refused keywords are those of its SDK's own conversion (`lib/transform` of the npm package).
 * https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 * "schema must have a 'type' key" (openclaw/clawpatch#60), "array schema missing items" (PrefectHQ/fastmcp#2464), "reference can only
 * point to definitions defined at the top level of the schema" (dotnet/extensions#6918).
 */
export const OPENAI_RULES: SchemaRules = {
  refused: new Set(REFUSED),
  formats: FORMATS,
  takesPattern: () => true,
  mostMinItems: Number.POSITIVE_INFINITY,
  plainLiterals: false,
  allOf: false,
  recursion: true,
  allRequired: true,
  allTyped: true,
  definedReferences: true,
  closesMaps: false,
};

/** What a provider asks of the schema of every tool, beside keywords as draft 2020-12 of JSON Schema has them. */
export interface ToolRules {
  /** For tools that the model is held to. */
  readonly strict: SchemaRules;
  /** Keywords that the outermost schema may not have. */
  readonly refusedOutermost: ReadonlySet<string>;
  /** What the names of the outermost schema's properties must match; undefined: they are not looked at. */
  readonly propertyName?: RegExp;
  /** An object must say its properties, and an array its items in an object, even if it says nothing by that. */
  readonly saysAll: boolean;
}

/**
 * Keywords of JSON Schema that begin with a dollar sign, without it. A property with such a name is left: to tell it from a keyword costs
 * more than it helps.
 */
export const DOLLAR_KEYWORDS = "schema|ref|defs|id|comment|anchor|dynamicRef|dynamicAnchor|vocabulary";

const CHOICES = ["anyOf", "oneOf", "allOf"];

/**
 * Claude, at Anthropic and at Bedrock: "input_schema does not support oneOf, allOf, or anyOf at the top level"
 * (anthropics/claude-code#40075), "JSON schema is invalid. It must match JSON Schema draft 2020-12" (openclaw/openclaw#98588,
 * Dokploy/mcp#74, AlexGladkov/claude-in-mobile#55), "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
 * (anthropics/claude-code#79418, ComposioHQ/composio#3500).
 */
export const CLAUDE_TOOLS: ToolRules = {
  strict: CLAUDE_RULES,
  refusedOutermost: new Set(CHOICES),
  propertyName: new RegExp(`^(?:[a-zA-Z0-9_.-]{1,64}|\\$(?:${DOLLAR_KEYWORDS}))$`),
  saysAll: false,
};

/**
 * OpenAI: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"
 * (langchain-ai/langchainjs#9804; a schema of an object has no `enum`), "object schema missing properties" (spring-projects/spring-ai#4776,
 * tailcallhq/forgecode#1359, nested can1357/oh-my-pi#1147), "array schema missing items" (apify/apify-mcp-server#36, `prefixItems`
 * AnswerDotAI/fastcore#798, in a list of types campfirein/byterover-cli#42), and no items that are a boolean (lobehub/lobehub#16153).
 */
export const OPENAI_TOOLS: ToolRules = {
  strict: OPENAI_RULES,
  refusedOutermost: new Set([...CHOICES, "not"]),
  saysAll: true,
};
