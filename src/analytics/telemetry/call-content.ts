/**
 * Prompts and answers in the shape of the GenAI conventions (`gen_ai.input.messages` and its like), as JSON. Only the kind of images,
 * sound and documents is told, or their address.
 */
import type { Attributes } from "@opentelemetry/api";
import type { Candidate } from "../requests/answer.ts";
import type { RecordedContent } from "./contract.ts";

type Json = Readonly<Record<string, unknown>>;

export function contentAttributes({ request, candidates }: RecordedContent): Attributes {
  const messages = inputOf(request);
  const system = messages.filter(({ role }) => role === "system").flatMap(({ parts }) => parts);
  const input = messages.filter(({ role }) => role !== "system");
  const tools = listOf(request?.tools);
  return {
    ...(system.length > 0 && { "gen_ai.system_instructions": JSON.stringify(system) }),
    ...(input.length > 0 && { "gen_ai.input.messages": JSON.stringify(input) }),
    ...(tools.length > 0 && { "gen_ai.tool.definitions": JSON.stringify(tools.map(toolOf)) }),
    ...(candidates.length > 0 && { "gen_ai.output.messages": JSON.stringify(candidates.map(outputOf)) }),
  };
}

interface Message {
  readonly role: string;
  readonly parts: readonly Json[];
}

/** The input of a request in canonical form: messages, or the texts that are embedded. */
function inputOf(request: Json | undefined): Message[] {
  if (request === undefined) return [];
  const messages = listOf(request.messages).map(({ role, content }) => ({
    role: textOf(role),
    parts: listOf(content).map(partOf),
  }));
  if (messages.length > 0) return messages;
  const input = Array.isArray(request.input) ? request.input : [];
  const parts = input
    .filter((text) => typeof text === "string")
    .map((text) => ({ type: "text", content: text }));
  return parts.length === 0 ? [] : [{ role: "user", parts }];
}

const outputOf = ({ content, stop }: Candidate): Json => ({
  role: "assistant",
  parts: content.map(partOf),
  finish_reason: stop.reason,
});

const toolOf = ({ name, description, parameters }: Json): Json => ({
  type: "function",
  name,
  description,
  parameters,
});

function partOf(part: Json): Json {
  const { type, id, name } = part;
  switch (type) {
    case "text":
    case "reasoning":
      return { type, content: textOf(part.text) };
    case "refusal":
      return { type: "text", content: textOf(part.text) };
    case "tool_call":
      return { type, id, name, arguments: part.arguments };
    case "tool_result":
      return { type: "tool_call_response", id, response: listOf(part.content).map(partOf) };
    default:
      return typeof part.url === "string"
        ? { type: "uri", modality: type, mime_type: part.media_type, uri: part.url }
        : { type: textOf(type), mime_type: part.media_type };
  }
}

const listOf = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : [];

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
