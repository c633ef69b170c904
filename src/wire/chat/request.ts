/**
 * Reads a chat-completions body for what the gateway must know, and writes it for an upstream of the same dialect by
 * patching bytes: model name, usage switch, our own extension. No parameter that changes behaviour is added (T53).
 */
import type { Endpoint } from "../../endpoint.ts";
import { type BodyRules, promptTextsOf, readBody, SVC_MEMBER } from "../body.ts";
import { estimatePromptTokens } from "../estimate.ts";
import type { ClientRequest, Outgoing, PromptText } from "../format.ts";
import { type Edit, type Member, memberOf, setMember, skim } from "../json.ts";
import { holdsOpaque } from "../opaque.ts";
import { isObject } from "../reader.ts";
import { spliced, spliceOf } from "../splice.ts";
import { type ChatRequestBody, chatRequestSchema, isUsualRequest } from "./schema.ts";

/**
 * Members that no model gets to read. All others count as prompt, those we do not know included: an upstream may
 * take them for one (`functions`, `documents`, `prediction`), and it will bill what it took.
 */
const NO_PROMPT: readonly string[] = [
  ...["model", "svc", "stream", "stream_options", "metadata", "user", "logit_bias"],
];

export interface ChatRequest extends ClientRequest {
  /** What the client asked; undefined where it said nothing. */
  readonly includeUsage: boolean | undefined;
  /** What asks the upstream for its usage; undefined where the client asks already, or for no stream. */
  readonly usageSwitch: Edit | undefined;
  /** The name the client used for the output bound. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens" | undefined;
}

const RULES: BodyRules<ChatRequestBody> = {
  ...SVC_MEMBER,
  schema: chatRequestSchema,
  isUsual: isUsualRequest,
  noPrompt: NO_PROMPT,
  media: ["messages"],
};

/** @throws WeirError 400 with a JSON pointer to the field at fault. */
export function readChatRequest(bytes: Buffer): ChatRequest {
  const { text, value: body, proseBytes, ...read } = readBody(bytes, RULES);
  const media = mediaOf(body.messages, read.hasOpaque);
  const stream = body.stream ?? false;
  const includeUsage = body.stream_options?.include_usage ?? undefined;
  return {
    ...read,
    includeUsage,
    usageSwitch: stream && includeUsage !== true ? usageSwitchOf(text, read.members) : undefined,
    maxTokensField: boundField(body),
    facts: {
      model: body.model,
      stream,
      choices: body.n ?? 1,
      maxTokens: maxTokensOf(body),
      promptTokens: estimatePromptTokens(proseBytes, media.images),
      hasTools: (body.tools?.length ?? 0) > 0,
      parallelTools: body.parallel_tool_calls === true,
      hasImages: media.images > 0,
      imageCount: media.images,
      hasAudio: media.audio > 0,
      hasSchema: body.response_format?.type === "json_schema",
      hasUncounted: media.audio + media.others > 0,
      searchUnits: 0,
    },
  };
}

/** See {@link promptTextsOf}. */
export const promptTexts = (request: ChatRequest): PromptText[] => promptTextsOf(request, NO_PROMPT);

/** The body for one endpoint: the client's bytes but for the fields named here and the provider's own ways. */
export function spliceChatRequest(request: ChatRequest, endpoint: Endpoint): Outgoing {
  const { quirks } = endpoint.provider;
  const splice = spliceOf(request, endpoint, "chat");
  const { edits, remove } = splice;
  if (!quirks.streamUsage) remove.push("stream_options");
  else if (!remove.includes("stream_options") && request.usageSwitch !== undefined) {
    edits.push(request.usageSwitch);
  }
  const field = request.maxTokensField;
  if (
    quirks.maxTokensField !== "either" &&
    field !== undefined &&
    field !== quirks.maxTokensField &&
    !remove.includes(field)
  ) {
    const bound = memberOf(request.members, field) as Member;
    edits.push({ start: bound.start, end: bound.keyEnd, text: `"${quirks.maxTokensField}"` });
    // Where both names stand, the one that would now stand twice goes.
    remove.push(quirks.maxTokensField);
  }
  return spliced(request, splice);
}

/** Beside what else the client's `stream_options` hold, whose bytes pass as they came (T53). */
function usageSwitchOf(text: string, members: readonly Member[]): Edit {
  const options = memberOf(members, "stream_options");
  if (options === undefined) {
    // At the very front: there it stands inside no run of members that are taken out.
    const { start } = members[0] as Member;
    return { start, end: start, text: `"stream_options":{"include_usage":true},` };
  }
  const { valueStart, valueEnd } = options;
  const value = text.slice(valueStart, valueEnd);
  if (value === "null") return { start: valueStart, end: valueEnd, text: `{"include_usage":true}` };
  const edit = setMember(value, skim(value, "/stream_options").members, "include_usage", "true");
  return { start: valueStart + edit.start, end: valueStart + edit.end, text: edit.text };
}

/** The larger where both names stand: which one an upstream obeys is not ours to know, and the hold must cover it. */
function maxTokensOf(body: ChatRequestBody): number | undefined {
  const newer = body.max_completion_tokens ?? undefined;
  const older = body.max_tokens ?? undefined;
  return newer === undefined || older === undefined ? (newer ?? older) : Math.max(newer, older);
}

function boundField(body: ChatRequestBody): ChatRequest["maxTokensField"] {
  if (body.max_completion_tokens != null) return "max_completion_tokens";
  return body.max_tokens == null ? undefined : "max_tokens";
}

interface Media {
  readonly images: number;
  readonly audio: number;
  /** Files and video, and what looks like media where there should be none. */
  readonly others: number;
}

/** By its type, or by the member of that name: providers take parts that do not say their type. */
const isPart = (part: unknown, kind: string): boolean =>
  isObject(part) && (part.type === kind || kind in part);

function mediaOf(messages: ChatRequestBody["messages"], hasOpaque: boolean): Media {
  let images = 0;
  let audio = 0;
  let others = 0;
  for (const message of messages) {
    const { content } = message;
    if (hasOpaque && holdsOpaque({ ...message, content: undefined })) others++;
    if (typeof content !== "object" || content === null) continue;
    for (const part of Array.isArray(content) ? content : [content]) {
      if (isPart(part, "image_url")) images++;
      else if (isPart(part, "input_audio")) audio++;
      else if (isPart(part, "file") || isPart(part, "video_url")) others++;
      else if (hasOpaque && holdsOpaque(part)) others++;
    }
  }
  return { images, audio, others };
}
