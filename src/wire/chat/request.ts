/**
 * Reads from a chat-completions body what the gateway must know, and the edit that makes a stream report its usage.
 */
import { type BodyRules, promptTextsOf, type ReadBody, readBody, SVC_MEMBER } from "../body.ts";
import { estimatePromptTokens } from "../estimate.ts";
import { bodyTable } from "../extras/tables.ts";
import type { ClientRequest, PromptText } from "../format.ts";
import { type Edit, type Member, memberOf, setMember, skim } from "../json/json.ts";
import { isNoImageAddress } from "../media/uncounted.ts";
import { NO_EXTRAS } from "../neutral/asked-extras.ts";
import { NO_OPTIONS } from "../neutral/contract.ts";
import { holdsOpaque } from "../neutral/opaque.ts";
import { isObject, type JsonObject, listOf, objectOf } from "../neutral/reader.ts";
import { type PlainRequest, plainReader } from "./plain-request.ts";
import { type ChatRequestBody, chatRequestSchema, isUsualRequest } from "./schema.ts";

/**
 * Members that no model reads. All others count as prompt, unknown ones included: an upstream may read them as prompt
 * (`functions`, `documents`, `prediction`), and then bills them.
 */
const NO_PROMPT: readonly string[] = [
  "model",
  "svc",
  "stream",
  "stream_options",
  "metadata",
  "user",
  "logit_bias",
];

export interface ChatRequest extends ClientRequest {
  /** `stream_options.include_usage`; undefined if the client did not set it. */
  readonly includeUsage: boolean | undefined;
  /** The edit that asks the upstream for its usage; undefined if the client asks for it, or for no stream. */
  readonly usageSwitch: Edit | undefined;
  /** The member in which the client sent the output bound. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens" | undefined;
  /** The length of the longest id of a call or a result, UTF-8 bytes; infinite for an empty one, 0 where the conversation has none. */
  readonly longestCallId: number;
}

/** What a body says of itself beside its messages and tools. */
type OwnFacts = Pick<
  ChatRequestBody,
  | "model"
  | "stream"
  | "stream_options"
  | "max_tokens"
  | "max_completion_tokens"
  | "n"
  | "best_of"
  | "parallel_tool_calls"
>;

const RULES: BodyRules<ChatRequestBody> = {
  ...SVC_MEMBER,
  schema: chatRequestSchema,
  isUsual: isUsualRequest,
  noPrompt: NO_PROMPT,
  extras: bodyTable("chat"),
  media: ["messages"],
};

const plainRequest = plainReader(NO_PROMPT);

/** @throws WeirError 400 with a JSON pointer to the field at fault. */
export function readChatRequest(bytes: Buffer): ChatRequest {
  const plain = plainRequest(bytes);
  if (plain !== undefined && !hasSwitch(plain)) {
    const { members, elided, proseBytes } = plain;
    const read = { bytes, members, elided, hasOpaque: false, svc: NO_OPTIONS, extras: NO_EXTRAS };
    return requestOf({ read, text: "", value: plain, proseBytes, hasNoImage: false }, NO_MEDIA);
  }
  const body = readBody(bytes, RULES);
  const { value, read } = body;
  return requestOf(body, mediaOf(value.messages, read.hasOpaque), value);
}

/** Whether it has the member that a stream's edit changes, which is found in its text. */
const hasSwitch = ({ stream, stream_options: options }: PlainRequest): boolean =>
  stream === true && options !== undefined && options.include_usage !== true;

function requestOf(
  {
    read,
    text,
    value: body,
    proseBytes,
    hasNoImage,
  }: Omit<ReadBody<OwnFacts>, "value"> & { readonly value: OwnFacts },
  media: Media,
  { tools, response_format: format }: Pick<ChatRequestBody, "tools" | "response_format"> = NO_TOOLS,
): ChatRequest {
  const stream = body.stream ?? false;
  const includeUsage = body.stream_options?.include_usage ?? undefined;
  const { bytes, members, elided, hasOpaque, svc, extras } = read;
  return {
    bytes,
    members,
    elided,
    hasOpaque,
    svc,
    extras,
    includeUsage,
    usageSwitch: stream && includeUsage !== true ? usageSwitchOf(text, members) : undefined,
    maxTokensField: boundField(body),
    longestCallId: media.longestCallId,
    facts: {
      model: body.model,
      stream,
      // Providers that know `best_of` generate and bill so many answers.
      choices: Math.max(body.n ?? 1, body.best_of ?? 1),
      maxTokens: maxTokensOf(body),
      promptTokens: estimatePromptTokens(proseBytes, media.images),
      hasTools: (tools?.length ?? 0) > 0,
      parallelTools: body.parallel_tool_calls === true,
      hasImages: media.images > 0,
      imageCount: media.images,
      hasAudio: media.audio > 0,
      hasSchema: format?.type === "json_schema",
      hasUncounted: hasNoImage || media.audio + media.others > 0,
      searchUnits: 0,
    },
  };
}

/** See {@link promptTextsOf}. */
export const promptTexts = (request: ChatRequest): PromptText[] => promptTextsOf(request, NO_PROMPT);

/** Adds `include_usage` to the client's `stream_options`; its other members are passed on unchanged (T53). */
export function usageSwitchOf(text: string, members: readonly Member[]): Edit {
  const options = memberOf(members, "stream_options");
  if (options === undefined) {
    // As the first member: there it is inside no run of members that are removed.
    const { start } = members[0] as Member;
    return { start, end: start, text: `"stream_options":{"include_usage":true},` };
  }
  const { valueStart, valueEnd } = options;
  const value = text.slice(valueStart, valueEnd);
  if (value === "null") return { start: valueStart, end: valueEnd, text: `{"include_usage":true}` };
  const edit = setMember(value, skim(value, "/stream_options").members, "include_usage", "true");
  return { start: valueStart + edit.start, end: valueStart + edit.end, text: edit.text };
}

/** The larger if both members are set: it is unknown which one an upstream obeys, and the hold must cover it. */
function maxTokensOf(body: OwnFacts): number | undefined {
  const newer = body.max_completion_tokens ?? undefined;
  const older = body.max_tokens ?? undefined;
  return newer === undefined || older === undefined ? (newer ?? older) : Math.max(newer, older);
}

function boundField(body: OwnFacts): ChatRequest["maxTokensField"] {
  if (body.max_completion_tokens != null) return "max_completion_tokens";
  return body.max_tokens == null ? undefined : "max_tokens";
}

interface Media {
  images: number;
  audio: number;
  /** Files, video, parts of a provider's own type, and data that looks like media where none is allowed. */
  others: number;
  longestCallId: number;
}

const NO_MEDIA: Media = Object.freeze({ images: 0, audio: 0, others: 0, longestCallId: 0 });
const NO_TOOLS = Object.freeze({ tools: undefined, response_format: undefined });

/** Types of parts that have only the tokens of their text. */
const TEXT_PARTS: ReadonlySet<unknown> = new Set([
  "text",
  "input_text",
  "output_text",
  "refusal",
  "thinking",
  "reasoning",
  "reference",
]);

/** Found by type, or by the member of that name: providers accept parts without a type. */
const isPart = (part: JsonObject, kind: string): boolean => part.type === kind || kind in part;

const isText = ({ type, text }: JsonObject): boolean =>
  type == null ? typeof text === "string" : TEXT_PARTS.has(type);

function mediaOf(messages: ChatRequestBody["messages"], hasOpaque: boolean): Media {
  const media: Media = { images: 0, audio: 0, others: 0, longestCallId: 0 };
  for (const message of messages) {
    const { content, images, tool_calls: calls, tool_call_id: result } = message;
    if (calls !== undefined) for (const call of listOf(calls)) noteId(objectOf(call).id, media);
    if (result !== undefined) noteId(result, media);
    // The id of an earlier audio answer.
    if (message.audio != null) media.others++;
    // Those of an earlier answer.
    for (const image of listOf(images)) countPart(image, media, hasOpaque);
    if (hasOpaque && holdsOpaque({ ...message, content: undefined, images: undefined })) media.others++;
    if (Array.isArray(content)) for (const part of content) countPart(part, media, hasOpaque);
    else countPart(content, media, hasOpaque);
  }
  return media;
}

function noteId(id: unknown, media: Media): void {
  if (typeof id !== "string") return;
  // The text of a very long one was left out, and an empty one is refused, too.
  const length = id === "" ? Number.POSITIVE_INFINITY : id.length;
  if (length > media.longestCallId) media.longestCallId = length;
}

function countPart(part: unknown, media: Media, hasOpaque: boolean): void {
  if (typeof part !== "object" || part === null) return;
  if (!isObject(part)) {
    media.others++;
    return;
  }
  const isImage = isPart(part, "image_url");
  const isAudio = isPart(part, "input_audio");
  const isFile = isPart(part, "file") || isPart(part, "video_url");
  if (isImage) {
    media.images++;
    const { image_url: image } = part;
    if (isNoImageAddress(isObject(image) ? image.url : image)) media.others++;
  }
  if (isAudio) media.audio++;
  if (isFile) media.others++;
  else if (!isImage && !isAudio && (!isText(part) || (hasOpaque && holdsOpaque(part)))) media.others++;
}
