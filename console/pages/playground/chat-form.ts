/** A native body in the format of chat completions, for programs that use OpenAI's SDKs. Pure. */
import { type Fields, isFields, type Message, type Part, textOf } from "./message.ts";
import type { Body } from "./request.ts";

export interface ChatForm {
  readonly body: Fields;
  /** What the format has no place for. */
  readonly leftOut: readonly string[];
}

/** Members of `generation` that chat completions has under another name. */
const NAMES: Readonly<Record<string, string>> = {
  candidates: "n",
  cache_key: "prompt_cache_key",
};
const ALIKE = [
  "max_tokens",
  "temperature",
  "top_p",
  "stop",
  "seed",
  "frequency_penalty",
  "presence_penalty",
  "logit_bias",
  "verbosity",
  "service_tier",
];
/** Options of the gateway, which chat completions has in `svc`. */
const SVC = [
  "route",
  "data_policy",
  "metadata",
  "compat",
  "provider_options",
  "on_disconnect",
  "hold",
  "hold_wait_ms",
];

export function chatForm(native: Body): ChatForm {
  const leftOut = new Set<string>();
  const messages = native.messages.flatMap((message) => messagesOf(message, leftOut));
  const body: Record<string, unknown> = { model: native.model, messages };
  addGeneration(body, isFields(native.generation) ? native.generation : {}, leftOut);
  const svc: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(native)) {
    if (["model", "messages", "generation"].includes(name)) continue;
    if (SVC.includes(name)) svc[name] = value;
    else if (name === "tools" && Array.isArray(value)) body.tools = value.filter(isFields).map(toolOf);
    else if (name === "tool_choice") body.tool_choice = choiceOf(value);
    else if (name === "parallel_tools") body.parallel_tool_calls = value;
    else if (name === "format" && isFields(value)) body.response_format = formatOf(value);
    else leftOut.add(name);
  }
  if (Object.keys(svc).length > 0) body.svc = svc;
  return { body, leftOut: [...leftOut] };
}

function addGeneration(body: Record<string, unknown>, generation: Fields, leftOut: Set<string>): void {
  for (const [name, value] of Object.entries(generation)) {
    if (ALIKE.includes(name)) body[name] = value;
    else if (NAMES[name] !== undefined) body[NAMES[name]] = value;
    else if (name === "reasoning" && isFields(value) && typeof value.effort === "string")
      body.reasoning_effort = value.effort;
    else if (name === "logprobs") Object.assign(body, { logprobs: true, top_logprobs: value });
    else leftOut.add(`generation.${name}`);
  }
}

/** One message is several where it answers calls of tools: each result is a message of its own. */
function messagesOf({ role, content }: Message, leftOut: Set<string>): readonly Fields[] {
  const results = content
    .filter(({ type }) => type === "tool_result")
    .map((part) => ({ role: "tool", tool_call_id: part.id, content: resultText(part, leftOut) }));
  const calls = content
    .filter(({ type }) => type === "tool_call")
    .map(({ id, name, arguments: given }) => ({
      id,
      type: "function",
      function: { name, arguments: given },
    }));
  const said = content.flatMap((part) => saidOf(part, leftOut));
  if (said.length === 0 && calls.length === 0) return results;
  const isText = said.every(({ type }) => type === "text");
  return [
    ...results,
    {
      role,
      content: isText ? said.map(({ text }) => text).join("\n\n") || null : said,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
}

function saidOf(part: Part, leftOut: Set<string>): readonly Fields[] {
  switch (part.type) {
    case "text":
    case "refusal":
      return [{ type: "text", text: textOf(part.text) }];
    case "image": {
      const url = addressOf(part);
      if (url !== undefined) return [{ type: "image_url", image_url: { url } }];
      break;
    }
    case "document": {
      const data = addressOf(part);
      if (typeof part.text === "string") return [{ type: "text", text: part.text }];
      if (data !== undefined && typeof part.data === "string")
        return [{ type: "file", file: { filename: textOf(part.name) || "document", file_data: data } }];
      break;
    }
    case "tool_call":
    case "tool_result":
      return [];
  }
  leftOut.add(`parts of the type ${part.type}`);
  return [];
}

function addressOf({ data, media_type: type, url }: Part): string | undefined {
  if (typeof data === "string") return `data:${textOf(type)};base64,${data}`;
  return typeof url === "string" ? url : undefined;
}

function resultText({ content }: Part, leftOut: Set<string>): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content.filter(isFields) : [];
  if (parts.some(({ type }) => type !== "text")) leftOut.add("pictures and documents in results of tools");
  return parts.map(({ text }) => textOf(text)).join("\n\n");
}

const toolOf = ({ cache: _, ...tool }: Fields): Fields => ({ type: "function", function: tool });

const choiceOf = (choice: unknown): unknown =>
  isFields(choice) ? { type: "function", function: { name: choice.name } } : choice;

function formatOf({ type, ...rest }: Fields): Fields {
  if (type === "json") return { type: "json_object" };
  if (type !== "json_schema") return { type };
  return { type, json_schema: { name: "answer", ...rest } };
}
