/**
 * Reads the fields of a Gemini generateContent request that the simulator acts on, and refuses what the provider
 * refuses, including unknown fields at any depth. Shapes: https://ai.google.dev/api/generate-content
 */
import { fail } from "../src/base/errors.ts";
import { type Content, readContent, readContents, textOfContent } from "./gemini-turns.ts";
import { refuseUnknown } from "./google-error.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { prompted, type SimulatedRequest, type Tool, wholeNumber } from "./simulated-request.ts";
import { pathName } from "./simulated-route.ts";

export interface GeminiRequest extends SimulatedRequest {
  /** Thoughts are included in the answer; they are counted either way. */
  readonly includeThoughts: boolean;
  /** The model thinks, whether or not thoughts are included. */
  readonly thinks: boolean;
  /** Vertex gives its function calls no ids. */
  readonly callIds: boolean;
}

const TOP_FIELDS: ReadonlySet<string> = new Set([
  "contents",
  "tools",
  "toolConfig",
  "safetySettings",
  "systemInstruction",
  "generationConfig",
  "cachedContent",
  "labels",
  "model",
  "serviceTier",
  "store",
  "simulator",
]);
const GENERATION_FIELDS: ReadonlySet<string> = new Set([
  "stopSequences",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "responseModalities",
  "candidateCount",
  "maxOutputTokens",
  "temperature",
  "topP",
  "topK",
  "seed",
  "presencePenalty",
  "frequencyPenalty",
  "responseLogprobs",
  "logprobs",
  "enableEnhancedCivicAnswers",
  "speechConfig",
  "thinkingConfig",
  "imageConfig",
  "mediaResolution",
  "audioTimestamp",
  "routingConfig",
]);
const THINKING_FIELDS: ReadonlySet<string> = new Set(["includeThoughts", "thinkingBudget", "thinkingLevel"]);
const TOOL_FIELDS: ReadonlySet<string> = new Set([
  "functionDeclarations",
  "googleSearch",
  "googleSearchRetrieval",
  "codeExecution",
  "urlContext",
  "computerUse",
  "fileSearch",
  "googleMaps",
  "retrieval",
  "enterpriseWebSearch",
]);
const DECLARATION_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "description",
  "behavior",
  "parameters",
  "parametersJsonSchema",
  "response",
  "responseJsonSchema",
]);
const CALLING_FIELDS: ReadonlySet<string> = new Set([
  "mode",
  "allowedFunctionNames",
  "streamFunctionCallArguments",
]);
/** The subset of OpenAPI schemas that the API supports; JSON Schema has its own field. */
const SCHEMA_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "format",
  "title",
  "description",
  "nullable",
  "enum",
  "maxItems",
  "minItems",
  "properties",
  "required",
  "minProperties",
  "maxProperties",
  "minLength",
  "maxLength",
  "pattern",
  "example",
  "anyOf",
  "propertyOrdering",
  "default",
  "items",
  "minimum",
  "maximum",
]);
const BOUND = /^(min|max)(imum|Items|Length|Properties)$/;
const MAX_CANDIDATES = 8;

/** @throws WeirError `invalid_value`, as the provider would refuse the request */
export function readGeminiRequest(json: JsonObject, match: RegExpExecArray): GeminiRequest {
  refuseUnknown(json, TOP_FIELDS);
  const contents = readContents(json.contents);
  const system = json.systemInstruction === undefined ? [] : [readSystem(json.systemInstruction)];
  const config = objectAt(json, "generationConfig", GENERATION_FIELDS, "generation_config");
  const thinking = objectAt(config, "thinkingConfig", THINKING_FIELDS, "generation_config.thinking_config");
  checkSampling(config);
  const lastUser = contents.findLast(
    ({ role, parts }) => role === "user" && parts.some((part) => part.text !== undefined),
  );
  const { tools, toolChoice } = readTools(json);
  return {
    model: pathName(match.groups?.model),
    stream: match.groups?.method === "streamGenerateContent",
    includeUsage: true,
    n: wholeNumber(config, "candidateCount", MAX_CANDIDATES) ?? 1,
    maxTokens: wholeNumber(config, "maxOutputTokens") ?? Number.POSITIVE_INFINITY,
    tools,
    toolChoice,
    format: readFormat(config),
    stopSequences: textsAt(config, "stopSequences"),
    includeThoughts: thinking.includeThoughts === true,
    thinks:
      thinking.includeThoughts === true ||
      thinking.thinkingLevel !== undefined ||
      (thinking.thinkingBudget !== undefined && thinking.thinkingBudget !== 0),
    callIds: match.groups?.vertex === undefined,
    ...prompted(
      json,
      [...system, ...contents].map(textOfContent),
      lastUser === undefined ? "" : textOfContent(lastUser),
    ),
  };
}

/** The role of a system instruction does not matter; SDKs send `user`, `system`, or none. */
const readSystem = (content: unknown): Content =>
  readContent(isObject(content) ? { ...content, role: "user" } : content, "system_instruction");

function objectAt(json: JsonObject, name: string, known: ReadonlySet<string>, where: string): JsonObject {
  const value = json[name] ?? {};
  if (!isObject(value)) throw fail("invalid_value", `Invalid value at '${where}'.`, { param: where });
  refuseUnknown(value, known, where);
  return value;
}

function textsAt(json: JsonObject, name: string): string[] {
  const value = json[name] ?? [];
  if (Array.isArray(value) && value.every((text) => typeof text === "string")) return value;
  throw fail("invalid_value", `Invalid value at '${name}' (TYPE_STRING)`, { param: name });
}

function checkSampling(config: JsonObject): void {
  for (const [name, most] of [
    ["temperature", 2],
    ["topP", 1],
  ] as const) {
    const value = config[name];
    if (value === undefined || (typeof value === "number" && value >= 0 && value <= most)) continue;
    const message = `* GenerateContentRequest.generation_config.${name}: must be in the range [0.0, ${most}.0].`;
    throw fail("invalid_value", message, { param: `generation_config.${name}` });
  }
  wholeNumber(config, "topK");
  if (config.seed !== undefined && !Number.isInteger(config.seed)) {
    throw fail("invalid_value", "Invalid value at 'generation_config.seed' (TYPE_INT32)", {
      param: "generation_config.seed",
    });
  }
  if (textsAt(config, "stopSequences").length > 5) {
    const message = "* GenerateContentRequest.generation_config.stop_sequences: at most 5 are allowed.";
    throw fail("invalid_value", message, { param: "generation_config.stop_sequences" });
  }
}

function readFormat(config: JsonObject): SimulatedRequest["format"] {
  const { responseMimeType: type = "text/plain", responseSchema, responseJsonSchema } = config;
  const hasSchema = responseSchema !== undefined || responseJsonSchema !== undefined;
  if (responseSchema !== undefined && responseJsonSchema !== undefined) {
    throw fail("invalid_value", "Only one of response_schema and response_json_schema may be set.", {
      param: "generation_config.response_schema",
    });
  }
  if (type !== "application/json") {
    if (!hasSchema && type === "text/plain") return "text";
    const message =
      "Only response_mime_type 'application/json' goes with a response schema, or 'text/plain' without.";
    throw fail("invalid_value", message, { param: "generation_config.response_mime_type" });
  }
  if (responseSchema !== undefined) {
    return { schema: jsonSchema(responseSchema, "generation_config.response_schema") };
  }
  return { schema: responseJsonSchema ?? { type: "object", properties: { answer: { type: "string" } } } };
}

/** The available tools, and whether one must be called. */
function readTools(json: JsonObject): Pick<SimulatedRequest, "tools" | "toolChoice"> {
  const groups = json.tools ?? [];
  if (!Array.isArray(groups)) throw fail("invalid_value", "Invalid value at 'tools'.", { param: "tools" });
  const tools = groups.flatMap(readToolGroup);
  const toolConfig = objectAt(
    json,
    "toolConfig",
    new Set(["functionCallingConfig", "retrievalConfig"]),
    "tool_config",
  );
  const where = "tool_config.function_calling_config";
  const { mode = "AUTO", allowedFunctionNames } = objectAt(
    toolConfig,
    "functionCallingConfig",
    CALLING_FIELDS,
    where,
  );
  const refuse = (message: string) => fail("invalid_value", message, { param: where });
  if (mode !== "AUTO" && mode !== "ANY" && mode !== "NONE" && mode !== "VALIDATED") {
    throw refuse(`Invalid value at '${where}.mode' (type.googleapis.com/FunctionCallingConfig.Mode)`);
  }
  const toolChoice = mode === "NONE" ? "none" : mode === "ANY" ? "required" : "auto";
  if (toolChoice === "required" && tools.length === 0) {
    throw refuse("Function calling config is set without function_declarations.");
  }
  if (allowedFunctionNames === undefined) return { tools, toolChoice };
  if (mode !== "ANY" && mode !== "VALIDATED") {
    throw refuse("Allowed function names should only be set when function calling mode is ANY or VALIDATED.");
  }
  const allowed = textsAt({ allowedFunctionNames }, "allowedFunctionNames");
  const stranger = allowed.find((name) => !tools.some((tool) => tool.name === name));
  if (stranger !== undefined) throw refuse(`Allowed function '${stranger}' is not declared.`);
  return { tools: tools.filter((tool) => allowed.includes(tool.name)), toolChoice };
}

function readToolGroup(group: unknown, index: number): Tool[] {
  const where = `tools[${index}]`;
  if (!isObject(group)) throw fail("invalid_value", `Invalid value at '${where}'.`, { param: where });
  refuseUnknown(group, TOOL_FIELDS, where);
  const declarations = group.functionDeclarations ?? [];
  if (!Array.isArray(declarations))
    throw fail("invalid_value", `Invalid value at '${where}'.`, { param: where });
  return declarations.map((declaration: unknown, i) => {
    const place = `${where}.function_declarations[${i}]`;
    if (
      !isObject(declaration) ||
      typeof declaration.name !== "string" ||
      !/^[A-Za-z_][\w.:-]{0,63}$/.test(declaration.name)
    ) {
      const message = `* GenerateContentRequest.${place}.name: Invalid function name.`;
      throw fail("invalid_value", message, { param: `${place}.name` });
    }
    refuseUnknown(declaration, DECLARATION_FIELDS, place);
    const { name, parameters, parametersJsonSchema } = declaration;
    if (parameters === undefined) return { name, parameters: parametersJsonSchema ?? { type: "object" } };
    return { name, parameters: jsonSchema(parameters, `${place}.parameters`) };
  });
}

/** Converts the API's schemas to JSON Schema: types in lower case. @throws WeirError for unknown keywords */
function jsonSchema(schema: unknown, where: string): unknown {
  if (!isObject(schema)) throw fail("invalid_value", `Invalid value at '${where}'.`, { param: where });
  refuseUnknown(schema, SCHEMA_FIELDS, where);
  const { type, items, properties, anyOf, ...rest } = schema;
  const named = isObject(properties) ? Object.entries(properties) : [];
  // The API's integers have 64 bits, which its JSON may write as strings.
  const bounds = Object.entries(rest).map(([name, value]) => [
    name,
    BOUND.test(name) && typeof value === "string" ? Number(value) : value,
  ]);
  return {
    ...Object.fromEntries(bounds),
    ...(typeof type === "string" ? { type: type.toLowerCase() } : {}),
    ...(items === undefined ? {} : { items: jsonSchema(items, `${where}.items`) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            named.map(([name, one], i) => [name, jsonSchema(one, `${where}.properties[${i}].value`)]),
          ),
        }),
    ...(Array.isArray(anyOf)
      ? { anyOf: anyOf.map((one, i) => jsonSchema(one, `${where}.any_of[${i}]`)) }
      : {}),
  };
}
