/**
 * Reads the fields of an OpenAI chat-completions request that the simulator acts on; it ignores the others.
 * Shapes: https://platform.openai.com/docs/api-reference/chat/create
 */
import { fail } from "../errors.ts";
import { directives, withoutDirectives } from "./instruction.ts";
import { isObject, type JsonObject } from "./schema.ts";

export interface Tool {
  readonly name: string;
  /** JSON Schema of the arguments. */
  readonly parameters: unknown;
}

export interface ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly n: number;
  /** `max_completion_tokens`, else `max_tokens`, else Infinity. */
  readonly maxTokens: number;
  readonly tools: readonly Tool[];
  readonly toolChoice: "none" | "auto" | "required" | { readonly name: string };
  readonly format: "text" | { readonly schema: unknown };
  /** All message text, in order. */
  readonly prompt: string;
  /** UTF-8 bytes of the prompt divided by four, rounded up. */
  readonly promptTokens: number;
  /** The last user message without its directives. */
  readonly lastUserText: string;
  /** The body's instruction objects, in the order in which they win. */
  readonly instructions: readonly unknown[];
  /** Names of the body's fields. */
  readonly fields: readonly string[];
}

/** @throws WeirError `invalid_json` or `invalid_value`, as a provider would refuse the request */
export function readChatRequest(body: Buffer): ChatRequest {
  const json = parse(body);
  const messages = json.messages;
  if (typeof json.model !== "string" || json.model === "") {
    throw fail("invalid_value", "you must provide a model parameter", { param: "model" });
  }
  if (!Array.isArray(messages) || messages.length === 0) {
    throw fail("invalid_value", "'messages' must be an array of at least one message.", {
      param: "messages",
    });
  }
  const stream = json.stream === true;
  if (json.stream_options != null && !stream) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    throw fail("invalid_value", message, { param: "stream_options" });
  }
  const prompt = messages.map(textOf).join("\n");
  const lastUser = messages.findLast((message) => isObject(message) && message.role === "user");
  const lastUserText = textOf(lastUser);
  return {
    model: json.model,
    stream,
    includeUsage: isObject(json.stream_options) && json.stream_options.include_usage === true,
    n: wholeNumber(json, "n", 128) ?? 1,
    maxTokens:
      wholeNumber(json, "max_completion_tokens") ??
      wholeNumber(json, "max_tokens") ??
      Number.POSITIVE_INFINITY,
    tools: Array.isArray(json.tools) ? json.tools.flatMap(readTool) : [],
    toolChoice: readToolChoice(json.tool_choice),
    format: readFormat(json.response_format),
    prompt,
    promptTokens: Math.ceil(Buffer.byteLength(prompt) / 4),
    lastUserText: withoutDirectives(lastUserText),
    instructions: [...(json.simulator === undefined ? [] : [json.simulator]), ...directives(lastUserText)],
    fields: Object.keys(json),
  };
}

function parse(body: Buffer): JsonObject {
  let json: unknown;
  try {
    json = JSON.parse(body.toString());
  } catch {
    throw fail("invalid_json", "We could not parse the JSON body of your request.");
  }
  if (!isObject(json)) throw fail("invalid_json", "The body of your request is not a JSON object.");
  return json;
}

function textOf(message: unknown): string {
  if (!isObject(message)) return "";
  if (typeof message.content === "string") return message.content;
  if (!Array.isArray(message.content)) return "";
  return message.content
    .map((part: unknown) => (isObject(part) && typeof part.text === "string" ? part.text : ""))
    .join("");
}

function wholeNumber(json: JsonObject, name: string, max = Number.MAX_SAFE_INTEGER): number | undefined {
  const value = json[name];
  if (value === undefined || value === null) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > max) {
    throw fail("invalid_value", `Invalid '${name}': expected an integer from 1 to ${max}.`, { param: name });
  }
  return value as number;
}

function readTool(tool: unknown): Tool[] {
  if (!isObject(tool) || !isObject(tool.function) || typeof tool.function.name !== "string") return [];
  return [{ name: tool.function.name, parameters: tool.function.parameters ?? { type: "object" } }];
}

function readToolChoice(choice: unknown): ChatRequest["toolChoice"] {
  if (choice === "none" || choice === "required") return choice;
  if (isObject(choice) && isObject(choice.function) && typeof choice.function.name === "string") {
    return { name: choice.function.name };
  }
  return "auto";
}

function readFormat(format: unknown): ChatRequest["format"] {
  if (!isObject(format)) return "text";
  if (format.type === "json_object")
    return { schema: { type: "object", properties: { answer: { type: "string" } } } };
  if (format.type !== "json_schema") return "text";
  return { schema: isObject(format.json_schema) ? (format.json_schema.schema ?? {}) : {} };
}
