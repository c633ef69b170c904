/** A medium as each format's clients say it in each place, and as each dialect is told it. */
import type { Json } from "../../support/conformance/ask.ts";

export type Client = "chat" | "responses" | "messages" | "generate";
export type Target = "chat" | "responses" | "messages" | "gemini" | "converse";
export type Place = "user" | "result" | "assistant";

export interface Medium {
  readonly as: "image" | "document" | "audio" | "text";
  readonly type: string;
  /** Base64; of a text the text itself. */
  readonly data: string;
}

const url = ({ type, data }: Medium): string =>
  data.startsWith("data:") ? data : `data:${type};base64,${data}`;

function partOf(client: Client, medium: Medium): object {
  const isImage = medium.as === "image";
  switch (client) {
    case "chat":
      return isImage
        ? { type: "image_url", image_url: { url: url(medium) } }
        : { type: "file", file: { filename: "a file", file_data: url(medium) } };
    case "responses":
      return isImage
        ? { type: "input_image", detail: "auto", image_url: url(medium) }
        : { type: "input_file", filename: "a file", file_data: url(medium) };
    case "messages":
      return { type: medium.as, source: { type: "base64", media_type: medium.type, data: medium.data } };
    case "generate":
      return { type: medium.as, media_type: medium.type, data: medium.data };
  }
}

/** Undefined where the format has no such place. */
export function asked(client: Client, medium: Medium, place: Place): object | undefined {
  const part = partOf(client, medium);
  const said = { role: "user", content: "q" };
  if (place === "user") {
    if (client !== "responses") return { messages: [{ role: "user", content: [part] }] };
    return { input: [{ type: "message", role: "user", content: [part] }] };
  }
  if (place === "assistant") {
    if (client === "responses") {
      return { input: [said, { role: "assistant", content: [part] }, { role: "user", content: "and?" }] };
    }
    return { messages: [said, { role: "assistant", content: [part] }, { role: "user", content: "and?" }] };
  }
  switch (client) {
    case "chat":
      return {
        messages: [
          said,
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "c1", content: [part] },
        ],
      };
    case "responses":
      return {
        input: [
          said,
          { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
          { type: "function_call_output", call_id: "c1", output: [part] },
        ],
      };
    case "messages":
      return {
        messages: [
          said,
          { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "f", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: [part] }] },
        ],
      };
    case "generate":
      return {
        messages: [
          said,
          { role: "assistant", content: [{ type: "tool_call", id: "c1", name: "f", arguments: "{}" }] },
          { role: "user", content: [{ type: "tool_result", id: "c1", content: [part] }] },
        ],
      };
  }
}

/** All media that a dialect's body has, wherever they stand, and texts but for those of {@link asked}. */
export const told = (to: Target, body: Json): Medium[] =>
  found(body[to === "responses" ? "input" : to === "gemini" ? "contents" : "messages"]);

/** Bedrock is told a text beside a document. */
const OWN_TEXTS = ["q", "and?", "", "{}", "f", "c1", "(empty)"];

function found(value: Json): Medium[] {
  if (Array.isArray(value)) return value.flatMap(found);
  if (typeof value !== "object" || value === null) return [];
  const one = mediumOf(value);
  return one === undefined ? Object.values(value).flatMap(found) : [one];
}

function mediumOf(part: Json): Medium | undefined {
  if (typeof part.image_url?.url === "string") return ofUrl("image", part.image_url.url);
  if (part.type === "input_image") return ofUrl("image", part.image_url);
  if (typeof part.file?.file_data === "string") return ofUrl("document", part.file.file_data);
  if (part.type === "input_file") return ofUrl("document", part.file_data);
  if (part.input_audio !== undefined) {
    const type = part.input_audio.format === "mp3" ? "audio/mpeg" : `audio/${part.input_audio.format}`;
    return { as: "audio", type, data: part.input_audio.data };
  }
  if (part.source?.type === "base64")
    return { as: part.type, type: part.source.media_type, data: part.source.data };
  if (part.source?.type === "text") return textOf(part.source.data);
  if (part.inlineData !== undefined) {
    const { mimeType: type, data } = part.inlineData;
    const kind = type.slice(0, type.indexOf("/"));
    return { as: kind === "application" ? "document" : kind, type, data };
  }
  for (const as of ["image", "audio", "document"] as const) {
    const block = part[as];
    if (block?.source === undefined) continue;
    if (block.format === "txt") return textOf(Buffer.from(block.source.bytes, "base64").toString());
    const format = block.format === "mp3" ? "mpeg" : block.format;
    return { as, type: `${as === "document" ? "application" : as}/${format}`, data: block.source.bytes };
  }
  if (part.functionResponse?.response?.result !== undefined && part.functionResponse.parts === undefined) {
    return textOf(part.functionResponse.response.result);
  }
  if (part.role === "tool" || part.role === "user") {
    if (typeof part.content === "string") return textOf(part.content);
  }
  if (part.type === "function_call_output" && typeof part.output === "string") return textOf(part.output);
  return typeof part.text === "string" ? textOf(part.text) : undefined;
}

const textOf = (data: string): Medium | undefined =>
  OWN_TEXTS.includes(data) ? undefined : { as: "text", type: "", data };

function ofUrl(as: Medium["as"], address: string): Medium {
  const [, type = "", data = ""] = /^data:([^;,]*);base64,(.*)$/s.exec(address) ?? [];
  return { as, type, data };
}
