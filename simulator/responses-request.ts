/**
 * Reads an OpenAI responses request, refusing unknown parameters like the provider. The simulator stores nothing, so a
 * reference to an earlier response is refused as not found. Shapes:
 * https://platform.openai.com/docs/api-reference/responses/create
 */
import { fail, type WeirError } from "../src/base/errors.ts";
import { invalidType, invalidValue, missing, readInput } from "./responses-items.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { parseObject, prompted, type SimulatedRequest, type Tool, wholeNumber } from "./simulated-request.ts";

export interface ResponsesRequest extends SimulatedRequest {
  /** Reasoning must include its encrypted content. */
  readonly encrypted: boolean;
  readonly logprobs: boolean;
  /** The body; the answer repeats many of its members. */
  readonly json: JsonObject;
}

const FIELDS = [
  "access_programs",
  "background",
  "client_metadata",
  "context_management",
  "conversation",
  "image",
  "include",
  "input",
  "instructions",
  "max_output_tokens",
  "max_tool_calls",
  "metadata",
  "model",
  "moderation",
  "parallel_tool_calls",
  "previous_response_id",
  "prompt",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "reasoning",
  "safety_identifier",
  "service_tier",
  "simulator",
  "store",
  "stream",
  "stream_options",
  "temperature",
  "text",
  "tool_choice",
  "tools",
  "top_logprobs",
  "top_p",
  "truncation",
  "user",
];
const MODES = ["none", "auto", "required"] as const;
const FORMATS = ["text", "json_object", "json_schema"];

const refused = (param: string, message: string): WeirError => fail("invalid_value", message, { param });

/** @throws WeirError `invalid_json` or `invalid_value`, as the provider would refuse the request */
export function readResponses(body: Buffer): ResponsesRequest {
  const json = parseObject(body);
  const unknown = Object.keys(json).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) throw refused(unknown, `Unknown parameter: '${unknown}'.`);
  if (typeof json.model !== "string" || json.model === "") throw missing("model");
  if (json.previous_response_id != null)
    throw refused(
      "previous_response_id",
      `Previous response with id '${String(json.previous_response_id)}' not found.`,
    );
  checkInstructions(json.instructions);
  checkRange(json, "temperature", 2);
  checkRange(json, "top_p", 1);
  const { texts, lastUserText, unsignedTurn } = readInput(json.input, json.store !== false);
  const tools = readTools(json.tools);
  const include = readInclude(json.include);
  const instructions = typeof json.instructions === "string" ? [json.instructions] : [];
  const request = prompted(json, [...instructions, ...texts], lastUserText);
  return {
    model: json.model,
    stream: json.stream === true,
    includeUsage: true,
    n: 1,
    maxTokens: wholeNumber(json, "max_output_tokens") ?? Number.POSITIVE_INFINITY,
    tools,
    toolChoice: readToolChoice(json.tool_choice, tools),
    format: readFormat(json.text, request.prompt),
    ...(unsignedTurn === undefined ? {} : { unsignedTurn }),
    ...request,
    encrypted: include.includes("reasoning.encrypted_content"),
    logprobs: include.includes("message.output_text.logprobs"),
    json,
  };
}

function checkInstructions(instructions: unknown): void {
  if (instructions === undefined || instructions === null || typeof instructions === "string") return;
  throw invalidType("instructions", "a string");
}

function checkRange(json: JsonObject, name: string, most: number): void {
  const value = json[name];
  if (value === undefined || value === null) return;
  if (typeof value !== "number") throw invalidType(name, "a decimal");
  if (value < 0)
    throw refused(name, `Invalid '${name}': decimal below minimum value. Expected a value >= 0.`);
  if (value > most)
    throw refused(name, `Invalid '${name}': decimal above maximum value. Expected a value <= ${most}.`);
}

function readInclude(include: unknown): unknown[] {
  if (include === undefined || include === null) return [];
  if (!Array.isArray(include)) throw invalidType("include", "an array of strings");
  return include;
}

/** The functions among the tools; the provider's own are ignored. */
function readTools(tools: unknown): Tool[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) throw invalidType("tools", "an array of objects");
  return tools.flatMap((tool: unknown, index) => {
    const at = `tools[${index}]`;
    if (!isObject(tool)) throw invalidType(at, "an object");
    if (tool.type === undefined) throw missing(`${at}.type`);
    if (tool.type !== "function") return [];
    if (tool.name === undefined) throw missing(`${at}.name`);
    if (typeof tool.name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(tool.name))
      throw refused(`${at}.name`, `Invalid '${at}.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.`);
    return [{ name: tool.name, parameters: tool.parameters ?? { type: "object" } }];
  });
}

function readToolChoice(choice: unknown, tools: readonly Tool[]): SimulatedRequest["toolChoice"] {
  if (choice === undefined || choice === null) return "auto";
  const mode = MODES.find((name) => name === choice);
  if (mode !== undefined) return mode;
  if (!isObject(choice)) throw invalidValue("tool_choice", choice, MODES);
  if (choice.type === "allowed_tools") return choice.mode === "required" ? "required" : "auto";
  if (choice.type !== "function") return "auto";
  const { name } = choice;
  if (typeof name !== "string") throw missing("tool_choice.name");
  if (tools.some((tool) => tool.name === name)) return { name };
  throw refused("tool_choice", `Tool choice '${name}' not found in 'tools' parameter.`);
}

function readFormat(text: unknown, prompt: string): SimulatedRequest["format"] {
  const format = isObject(text) ? text.format : undefined;
  if (format === undefined || format === null) return "text";
  if (!isObject(format)) throw invalidType("text.format", "an object");
  switch (format.type) {
    case "text":
      return "text";
    case "json_object":
      if (!/json/i.test(prompt))
        throw refused(
          "input",
          "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
        );
      return { schema: { type: "object", properties: { answer: { type: "string" } } } };
    case "json_schema":
      if (typeof format.name !== "string") throw missing("text.format.name");
      if (!isObject(format.schema)) throw missing("text.format.schema");
      return { schema: format.schema };
    default:
      throw invalidValue("text.format.type", format.type, FORMATS);
  }
}
