/**
 * Reads from a messages body what the gateway must know.
 */
import { fail } from "../../base/errors.ts";
import { CALL_ID } from "../accepts/bounds.ts";
import { type BodyRules, promptTextsOf, type ReadBody, readBody, SVC_MEMBER } from "../body.ts";
import { estimatePromptTokens } from "../estimate.ts";
import { bodyTable } from "../extras/tables.ts";
import type { ClientRequest, PromptText } from "../format.ts";
import { isNoImageAddress, saysNoImage } from "../media/uncounted.ts";
import { holdsOpaque } from "../neutral/opaque.ts";
import { isObject, type JsonObject, listOf, objectOf } from "../neutral/reader.ts";
import {
  isUsualRequest,
  type MessagesCountBody,
  type MessagesRequestBody,
  messagesCountSchema,
  messagesRequestSchema,
} from "./schema.ts";

/** Members that no model reads. All others count as prompt, unknown ones included. */
const NO_PROMPT: readonly string[] = [
  "model",
  "svc",
  "stream",
  "metadata",
  "service_tier",
  "thinking",
  "cache_control",
  "context_management",
  "diagnostics",
  "inference_geo",
  "speed",
  "thread",
];

export interface MessagesRequest extends ClientRequest {
  /** The messages have thinking blocks, perhaps of another maker. */
  readonly hasThinking: boolean;
  /** Calls or results have ids that Anthropic would refuse, perhaps of another maker's model, or calls share one. */
  readonly hasForeignIds: boolean;
}

const RULES: BodyRules<MessagesRequestBody> = {
  ...SVC_MEMBER,
  schema: messagesRequestSchema,
  isUsual: isUsualRequest,
  noPrompt: NO_PROMPT,
  extras: bodyTable("messages"),
  media: ["messages"],
};

const { isUsual: _, ...COUNT_RULES } = { ...RULES, schema: messagesCountSchema };

/** @throws WeirError 400 with a JSON pointer to the field at fault. */
export const readMessagesRequest = (bytes: Buffer): MessagesRequest => read(readBody(bytes, RULES));

/** The same for a count of tokens, which needs no `max_tokens`. */
export const readMessagesCount = (bytes: Buffer): MessagesRequest =>
  read(readBody<MessagesCountBody>(bytes, COUNT_RULES));

function read({ read, value: body, proseBytes, hasNoImage }: ReadBody<MessagesCountBody>): MessagesRequest {
  refuseThread(body);
  const media: Media = {
    images: 0,
    hasUncounted: false,
    hasThinking: false,
    hasForeignIds: false,
    calls: new Set(),
  };
  countMedia(body.system, media, read.hasOpaque);
  for (const { content } of body.messages) countMedia(content, media, read.hasOpaque);
  return {
    ...read,
    hasThinking: media.hasThinking,
    hasForeignIds: media.hasForeignIds,
    facts: {
      model: body.model,
      stream: body.stream ?? false,
      choices: 1,
      maxTokens: body.max_tokens,
      promptTokens: estimatePromptTokens(proseBytes, media.images),
      hasTools: (body.tools?.length ?? 0) > 0,
      parallelTools: objectOf(body.tool_choice).disable_parallel_tool_use === false,
      hasImages: media.images > 0,
      imageCount: media.images,
      hasAudio: false,
      hasSchema: hasSchema(body),
      hasUncounted: hasNoImage || media.hasUncounted,
      searchUnits: 0,
    },
  };
}

/** See {@link promptTextsOf}. */
export const promptTexts = (request: MessagesRequest): PromptText[] => promptTextsOf(request, NO_PROMPT);

/**
 * A conversation that is stored upstream belongs to one credential there, and its later requests do not contain their
 * prompt. SDKs that ask for one continue without it when they get this error code.
 */
function refuseThread(body: MessagesCountBody): void {
  if (body.thread === undefined || body.thread === null) return;
  throw fail("unsupported_option", "Threads are not offered: send the whole conversation in each request.", {
    param: "/thread",
    details: { error_code: "thread_unsupported_request" },
  });
}

const hasSchema = ({ output_config: config, output_format: format }: MessagesCountBody): boolean =>
  objectOf(objectOf(config).format).type === "json_schema" || objectOf(format).type === "json_schema";

interface Media {
  images: number;
  /** Documents and files: their tokens are unknown here. */
  hasUncounted: boolean;
  hasThinking: boolean;
  hasForeignIds: boolean;
  /** Ids of calls. */
  readonly calls: Set<unknown>;
}

/** @param hasOpaque some text was taken for media: outside of images its tokens are unknown */
function countMedia(content: unknown, media: Media, hasOpaque: boolean): void {
  for (const block of isObject(content) ? [content] : listOf(content)) {
    if (!isObject(block)) {
      if (Array.isArray(block)) media.hasUncounted = true;
      continue;
    }
    switch (block.type) {
      case "image":
        media.images++;
        if (isOther(objectOf(block.source))) media.hasUncounted = true;
        break;
      case "tool_use":
        if (!isTakenId(block.id) || media.calls.has(block.id)) media.hasForeignIds = true;
        media.calls.add(block.id);
        countOther(block, media, hasOpaque);
        break;
      case "tool_result":
        if (!isTakenId(block.tool_use_id)) media.hasForeignIds = true;
        countMedia(block.content, media, hasOpaque);
        break;
      case "document":
        countDocument(block, media, hasOpaque);
        break;
      case "container_upload":
        media.hasUncounted = true;
        break;
      case "thinking":
      case "redacted_thinking":
        media.hasThinking = true;
        if (hasOpaque && holdsOpaque(block)) media.hasUncounted = true;
        break;
      default:
        countOther(block, media, hasOpaque);
    }
  }
}

/** The source of an image block that is none. */
const isOther = ({ media_type: label, url, file_id: id }: JsonObject): boolean =>
  saysNoImage(label) || isNoImageAddress(url) || isNoImageAddress(id);

/** Whether any upstream of this dialect takes it; an endpoint's own bound is looked at when the body is written. */
const isTakenId = (id: unknown): boolean => typeof id !== "string" || CALL_ID.taken.test(id);

/** Text, tool calls, and blocks of unknown types, whose source may be of any size. */
function countOther(block: JsonObject, media: Media, hasOpaque: boolean): void {
  const isNameless = typeof block.type !== "string" && typeof block.text !== "string";
  if (isNameless || isObject(block.source) || (hasOpaque && holdsOpaque(block))) media.hasUncounted = true;
  else if (typeof block.content === "object") countMedia(block.content, media, hasOpaque);
}

function countDocument(block: JsonObject, media: Media, hasOpaque: boolean): void {
  const source = objectOf(block.source);
  if (source.type === "content") countMedia(source.content, media, hasOpaque);
  else if (source.type !== "text" || (hasOpaque && holdsOpaque(source))) media.hasUncounted = true;
}
