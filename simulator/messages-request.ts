/**
 * Reads an Anthropic messages request, refusing unknown fields and values out of range like the provider. Shapes:
 * https://platform.claude.com/docs/en/api/messages and /messages-count-tokens
 */
import { fail } from "../src/base/errors.ts";
import type { Headers } from "./dialect.ts";
import { readConversation, refused } from "./messages-turns.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { contentText, parseObject, prompted, type SimulatedRequest, type Tool } from "./simulated-request.ts";

/** From this version on there are no sampling parameters, and "system" is a role. */
const OLD_VERSION = "2023-06-01";

const COUNTED_FIELDS = [
  "model",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "thinking",
  "cache_control",
  "output_config",
  "output_format",
  "speed",
  "context_management",
  "mcp_servers",
  "user_profile_id",
  "workspace_id",
  "simulator",
];
const FIELDS = [
  ...COUNTED_FIELDS,
  "max_tokens",
  "stream",
  "stop_sequences",
  "temperature",
  "top_p",
  "top_k",
  "metadata",
  "service_tier",
  "container",
  "inference_geo",
  "diagnostics",
  "thread",
];
const SAMPLING = ["temperature", "top_p", "top_k"] as const;
const MAX_CACHE_MARKS = 4;
const MIN_THINKING_TOKENS = 1_024;

/** @throws WeirError `invalid_value` without a version, which the provider requires whatever the body */
export function checkVersion(headers: Headers): void {
  if (headers["anthropic-version"] === undefined)
    throw fail("invalid_value", "anthropic-version: header is required");
}

/** @throws WeirError `invalid_json` or `invalid_value`, as the provider would refuse the request */
export function readMessages(body: Buffer, headers: Headers): SimulatedRequest {
  const json = parseObject(body);
  checkFields(json, FIELDS);
  const maxTokens = integer(json, "max_tokens", 1);
  if (maxTokens === undefined) throw refused("max_tokens", "Field required");
  const current = headers["anthropic-version"] !== OLD_VERSION;
  const request = readCommon(json, maxTokens, current);
  checkSampling(json, current);
  checkThinking(json, maxTokens, request.toolChoice);
  return request;
}

/** A request to count the tokens of. @throws as {@link readMessages} */
export function readCounted(body: Buffer): SimulatedRequest {
  const json = parseObject(body);
  checkFields(json, COUNTED_FIELDS);
  return readCommon(json, Number.POSITIVE_INFINITY, true);
}

function readCommon(json: JsonObject, maxTokens: number, systemTurns: boolean): SimulatedRequest {
  if (typeof json.model !== "string") throw refused("model", "Field required");
  if (json.model === "") throw refused("model", "String should have at least 1 character");
  const { texts, lastUserText, unsignedTurn } = readConversation(json.messages, systemTurns);
  const tools = readTools(json.tools);
  checkCacheMarks(json);
  return {
    model: json.model,
    stream: json.stream === true,
    includeUsage: true,
    n: 1,
    maxTokens,
    tools,
    toolChoice: readToolChoice(json, tools),
    format: readFormat(json),
    stopSequences: readStops(json.stop_sequences),
    ...(unsignedTurn === undefined ? {} : { unsignedTurn }),
    ...prompted(json, [...readSystem(json.system), ...texts], lastUserText),
  };
}

function checkFields(json: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(json).find((field) => !known.includes(field));
  if (unknown !== undefined) throw refused(unknown, "Extra inputs are not permitted");
}

function integer(json: JsonObject, name: string, least: number): number | undefined {
  const value = json[name];
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value)) throw refused(name, "Input should be a valid integer");
  if ((value as number) < least) throw refused(name, `Input should be greater than or equal to ${least}`);
  return value as number;
}

function checkSampling(json: JsonObject, current: boolean): void {
  const given = SAMPLING.find((name) => json[name] !== undefined);
  if (given !== undefined && current) throw refused(given, "Extra inputs are not permitted");
  integer(json, "top_k", 0);
  for (const name of ["temperature", "top_p"] as const) {
    const value = json[name];
    if (value === undefined) continue;
    if (typeof value !== "number") throw refused(name, "Input should be a valid number");
    if (value < 0) throw refused(name, "Input should be greater than or equal to 0");
    if (value > 1) throw refused(name, "Input should be less than or equal to 1");
  }
}

function checkThinking(json: JsonObject, maxTokens: number, choice: SimulatedRequest["toolChoice"]): void {
  const thinking = json.thinking;
  if (thinking === undefined) return;
  if (!isObject(thinking) || typeof thinking.type !== "string")
    throw refused("thinking", "Input should be a valid dictionary or object");
  if (thinking.type !== "enabled") return;
  const at = "thinking.enabled.budget_tokens";
  const budget = thinking.budget_tokens;
  if (!Number.isSafeInteger(budget)) throw refused(at, "Field required");
  if ((budget as number) < MIN_THINKING_TOKENS)
    throw refused(at, `Input should be greater than or equal to ${MIN_THINKING_TOKENS}`);
  if ((budget as number) >= maxTokens)
    throw fail("invalid_value", "`max_tokens` must be greater than `thinking.budget_tokens`.", {
      param: "max_tokens",
    });
  if (json.temperature !== undefined && json.temperature !== 1)
    throw fail("invalid_value", "`temperature` may only be set to 1 when thinking is enabled.", {
      param: "temperature",
    });
  if (choice === "required" || typeof choice === "object")
    throw fail("invalid_value", "Thinking may not be enabled when tool_choice forces tool use.", {
      param: "tool_choice",
    });
}

/** The system prompt's texts. */
function readSystem(system: unknown): string[] {
  if (system === undefined || system === "") return [];
  if (typeof system === "string") return [system];
  if (!Array.isArray(system)) throw refused("system", "Input should be a valid list");
  system.forEach((block: unknown, index) => {
    if (!isObject(block) || block.type !== "text" || typeof block.text !== "string")
      throw refused(`system.${index}`, "Input should be a text block");
    if (block.text === "") throw refused("system", "text content blocks must be non-empty");
  });
  return [contentText(system)];
}

function readStops(stops: unknown): string[] {
  if (stops === undefined) return [];
  if (!Array.isArray(stops)) throw refused("stop_sequences", "Input should be a valid list");
  return stops.map((stop: unknown) => {
    if (typeof stop !== "string" || stop.trim() === "")
      throw refused("stop_sequences", "each stop sequence must contain non-whitespace");
    return stop;
  });
}

/** Tools that the client runs; the provider's own are ignored. */
function readTools(tools: unknown): Tool[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools)) throw refused("tools", "Input should be a valid list");
  const names = new Set<string>();
  return tools.flatMap((tool: unknown, index) => {
    if (!isObject(tool)) throw refused(`tools.${index}`, "Input should be a valid dictionary or object");
    if (tool.type !== undefined && tool.type !== null && tool.type !== "custom") return [];
    const at = `tools.${index}.custom`;
    const { name, input_schema: schema } = tool;
    if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(name))
      throw refused(`${at}.name`, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'");
    if (!isObject(schema)) throw refused(`${at}.input_schema`, "Field required");
    if (schema.type !== "object") throw refused(`${at}.input_schema.type`, "Input should be 'object'");
    if (names.has(name)) throw refused("tools", "Tool names must be unique.");
    names.add(name);
    return [{ name, parameters: schema }];
  });
}

function readToolChoice(json: JsonObject, tools: readonly Tool[]): SimulatedRequest["toolChoice"] {
  const choice = json.tool_choice;
  if (choice === undefined) return "auto";
  if (!isObject(choice)) throw refused("tool_choice", "Input should be a valid dictionary or object");
  if (!Array.isArray(json.tools) || json.tools.length === 0)
    throw refused("tool_choice", "tool_choice may only be specified while providing tools");
  switch (choice.type) {
    case "auto":
    case "none":
      return choice.type;
    case "any":
      return "required";
    case "tool": {
      const { name } = choice;
      if (typeof name !== "string") throw refused("tool_choice.tool.name", "Field required");
      if (!tools.some((tool) => tool.name === name))
        throw refused("tool_choice", `Tool '${name}' not found in provided tools`);
      return { name };
    }
    default:
      throw refused(
        "tool_choice",
        `Input tag '${String(choice.type)}' found using 'type' does not match any of the expected tags: 'any', 'auto', 'none', 'tool'`,
      );
  }
}

function readFormat(json: JsonObject): SimulatedRequest["format"] {
  const config = json.output_config;
  const at = isObject(config) && config.format != null ? "output_config.format" : "output_format";
  const format = at === "output_format" ? json.output_format : (config as JsonObject).format;
  if (format === undefined || format === null) return "text";
  if (!isObject(format) || format.type !== "json_schema")
    throw refused(`${at}.type`, "Input should be 'json_schema'");
  if (!isObject(format.schema)) throw refused(`${at}.schema`, "Field required");
  return { schema: format.schema };
}

function checkCacheMarks(json: JsonObject): void {
  let marks = isObject(json.cache_control) ? 1 : 0;
  const count = (blocks: unknown): void => {
    if (!Array.isArray(blocks)) return;
    for (const block of blocks) {
      if (!isObject(block)) continue;
      if (isObject(block.cache_control)) marks++;
      count(block.content);
    }
  };
  count(json.system);
  count(json.tools);
  count(json.messages);
  if (marks <= MAX_CACHE_MARKS) return;
  throw fail(
    "invalid_value",
    `A maximum of ${MAX_CACHE_MARKS} blocks with cache_control may be provided. Found ${marks}.`,
  );
}
