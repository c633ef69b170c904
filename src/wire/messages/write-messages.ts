/**
 * A conversation as the `system` and `messages` of a messages request. System messages become the system prompt, neighbours
 * of one role become one message, and tool results come first in theirs: the dialect refuses other orders.
 */

import { NOTHING_SAID } from "../accepts/texts.ts";
import type {
  CacheMark,
  Citation,
  DocumentPart,
  ImagePart,
  NeutralRequest,
  Part,
  TextPart,
  ToolResultPart,
} from "../neutral/neutral.ts";
import { notCarried, refuseStores } from "../neutral/not-carried.ts";
import type { OptionTaker } from "../neutral/options.ts";
import { argumentsObject } from "../neutral/tool-arguments.ts";
import { putResultsFirst, turnsOf } from "../neutral/turns.ts";
import { writeDocumentCitation } from "./citations.ts";
import { sealText } from "./seals.ts";

type Drop = (at: string) => void;

type Block = NonNullable<ReturnType<typeof blockOf>>;
type SystemBlock = NonNullable<ReturnType<typeof textBlock>>;

/** @throws WeirError 400 where no message is left, a call's arguments are no object, or the dialect has no place for media. */
export function writeMessages({ messages: turns }: NeutralRequest, options: OptionTaker) {
  const drop = (at: string) => void options.drop(at);
  const system: SystemBlock[] = [];
  const hoist = (part: TextPart, at: string) => {
    const block = textBlock(part, at, drop);
    if (block !== undefined) system.push(block);
  };
  const messages = turnsOf(turns, options, hoist, ({ parts, at }) =>
    parts.flatMap((part) => blockOf(part, at, drop) ?? []),
  );
  putResultsFirst(messages, isResult);
  return { system, messages };
}

export const isResult = (block: Block): boolean => block.type === "tool_result";

export const isThinking = ({ type }: Block): boolean => type === "thinking" || type === "redacted_thinking";

/** The part as a block; undefined if the dialect has none for it. */
export function blockOf(part: Part, at: string, drop: Drop) {
  switch (part.type) {
    case "text":
    case "image":
    case "document":
      return plainBlock(part, at, drop);
    case "refusal":
      return part.text === "" ? undefined : { type: "text" as const, text: part.text };
    case "reasoning":
      // Anthropic refuses reasoning without its own seal.
      if (part.seal?.by !== "anthropic") return undefined;
      return part.isRedacted === true
        ? { type: "redacted_thinking" as const, data: sealText(part.seal) }
        : { type: "thinking" as const, thinking: part.text, signature: sealText(part.seal) };
    case "tool_call":
      return {
        type: "tool_use" as const,
        id: part.id,
        name: part.name,
        input: argumentsObject(part.arguments).placed,
        ...cacheControl(part.cache),
      };
    case "tool_result":
      return toolResultBlock(part, at, drop);
    default:
      throw notCarried(part);
  }
}

/** A part that a tool's result may contain, too. */
function plainBlock(part: TextPart | ImagePart | DocumentPart, at: string, drop: Drop) {
  if (part.type === "text") return textBlock(part, at, drop);
  return part.type === "image" ? imageBlock(part, at, drop) : documentBlock(part);
}

export const cacheControl = (cache: CacheMark | undefined) =>
  cache && {
    cache_control: { type: "ephemeral" as const, ...(cache.ttl !== undefined && { ttl: cache.ttl }) },
  };

/** The dialect refuses empty text. */
function textBlock({ text, citations, cache }: TextPart, at: string, drop: Drop) {
  if (text === "") return undefined;
  const cited = citations === undefined ? [] : documentCitations(citations, at, drop);
  return {
    type: "text" as const,
    text,
    ...(cited.length > 0 && { citations: cited }),
    ...cacheControl(cache),
  };
}

/** Citations of web pages are dropped: they need a key that only Anthropic's own search gives. */
function documentCitations(citations: readonly Citation[], at: string, drop: Drop) {
  return citations.flatMap((citation) => {
    if (citation.type === "document") return [writeDocumentCitation(citation)];
    drop(at);
    return [];
  });
}

/** https://docs.claude.com/en/docs/build-with-claude/vision */
const IMAGES: readonly string[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

function imageBlock(part: ImagePart, at: string, drop: Drop) {
  const { source, detail, cache } = part;
  if (source.kind === "data" && !IMAGES.includes(source.mediaType)) throw notCarried(part);
  refuseStores(part);
  if (detail !== undefined && detail !== "auto") drop(at);
  return { type: "image" as const, source: mediaSource(source), ...cacheControl(cache) };
}

function mediaSource(source: ImagePart["source"]) {
  switch (source.kind) {
    case "data":
      return { type: "base64" as const, media_type: source.mediaType, data: source.data };
    case "url":
      return { type: "url" as const, url: source.url };
    case "file":
      return { type: "file" as const, file_id: source.id };
  }
}

const PDF = "application/pdf";

function documentBlock(part: DocumentPart) {
  const { source, name, context, citations, cache } = part;
  if (source.kind === "data" && source.mediaType !== PDF) throw notCarried(part);
  refuseStores(part);
  return {
    type: "document" as const,
    source:
      source.kind === "text"
        ? { type: "text" as const, media_type: "text/plain" as const, data: source.text }
        : mediaSource(source),
    ...(name !== undefined && { title: name }),
    ...(context !== undefined && { context }),
    ...(citations === true && { citations: { enabled: true } }),
    ...cacheControl(cache),
  };
}

function toolResultBlock(part: ToolResultPart, at: string, drop: Drop) {
  const content = part.parts.flatMap((inner) => plainBlock(inner, at, drop) ?? []);
  // "tool_result: content cannot be empty if `is_error` is true" (bytedance/trae-agent#230).
  if (part.isError && content.length === 0) content.push({ type: "text", text: NOTHING_SAID });
  return {
    type: "tool_result" as const,
    tool_use_id: part.id,
    ...(content.length > 0 && { content }),
    ...(part.isError && { is_error: true }),
    ...cacheControl(part.cache),
  };
}
