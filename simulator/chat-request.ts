/**
 * Reads the fields of an OpenAI chat-completions request that the simulator acts on; it ignores the others.
 * Shapes: https://platform.openai.com/docs/api-reference/chat/create
 */
import { fail } from "../src/base/errors.ts";
import { isObject } from "./schema.ts";
import {
  contentText,
  parseObject,
  prompted,
  type SimulatedRequest,
  type Tool,
  wholeNumber,
} from "./simulated-request.ts";

/** @throws WeirError `invalid_json` or `invalid_value`, as a provider would refuse the request */
export function readChatRequest(body: Buffer): SimulatedRequest {
  const json = parseObject(body);
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
  const lastUser = messages.findLast((message) => isObject(message) && message.role === "user");
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
    stopSequences: [json.stop].flat().filter((stop) => typeof stop === "string"),
    ...prompted(json, messages.map(textOf), textOf(lastUser)),
  };
}

const textOf = (message: unknown): string => (isObject(message) ? contentText(message.content) : "");

function readTool(tool: unknown): Tool[] {
  if (!isObject(tool) || !isObject(tool.function) || typeof tool.function.name !== "string") return [];
  return [{ name: tool.function.name, parameters: tool.function.parameters ?? { type: "object" } }];
}

function readToolChoice(choice: unknown): SimulatedRequest["toolChoice"] {
  if (choice === "none" || choice === "required") return choice;
  if (isObject(choice) && isObject(choice.function) && typeof choice.function.name === "string") {
    return { name: choice.function.name };
  }
  return "auto";
}

function readFormat(format: unknown): SimulatedRequest["format"] {
  if (!isObject(format)) return "text";
  if (format.type === "json_object")
    return { schema: { type: "object", properties: { answer: { type: "string" } } } };
  if (format.type !== "json_schema") return "text";
  return { schema: isObject(format.json_schema) ? (format.json_schema.schema ?? {}) : {} };
}
