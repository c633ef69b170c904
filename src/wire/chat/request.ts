/**
 * Reads a chat-completions body for what the gateway must know, and writes it for an upstream of the same dialect by
 * patching bytes: model name, usage switch, our own extension. No parameter that changes behaviour is added (T53).
 */
import { isUtf8 } from "node:buffer";
import { pointerTo } from "../../document.ts";
import type { Endpoint } from "../../endpoint.ts";
import { fail } from "../../errors.ts";
import { NO_OPTIONS, type RequestFacts, type SvcOptions } from "../contract.ts";
import { estimatePromptTokens } from "../estimate.ts";
import {
  type Edit,
  editedParts,
  type Member,
  memberOf,
  removeMembers,
  setMember,
  skim,
  utf8Of,
} from "../json.ts";
import { type ChatRequestBody, chatRequestSchema, isUsualRequest } from "./schema.ts";

/**
 * Members that no model gets to read. All others count as prompt, those we do not know included: an upstream may
 * take them for one (`functions`, `documents`, `prediction`), and it will bill what it took.
 */
const NO_PROMPT: readonly string[] = ["model", "svc", "stream_options", "metadata", "user", "logit_bias"];

export interface ChatRequest {
  /** As received; never changed. */
  readonly bytes: Buffer;
  readonly members: readonly Member[];
  readonly facts: RequestFacts;
  readonly svc: SvcOptions;
  /** Holds data URLs or base64, which no tokenizer counts as its provider does. */
  readonly hasOpaque: boolean;
  /** What the client asked; undefined where it said nothing. */
  readonly includeUsage: boolean | undefined;
  /** What asks the upstream for its usage; undefined where the client asks already, or for no stream. */
  readonly usageSwitch: Edit | undefined;
  /** The name the client used for the output bound. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens" | undefined;
}

/** @throws WeirError 400 with a JSON pointer to the field at fault. */
export function readChatRequest(bytes: Buffer): ChatRequest {
  if (!isUtf8(bytes)) throw fail("invalid_json", "The body is not valid UTF-8.");
  const text = bytes.toString("latin1");
  const { members, skeleton } = skim(text);
  const body = check(inUtf8(parse(skeleton, skeleton === text), bytes, members));
  const promptBytes = promptBytesOf(members);
  const opaqueBytes = memberOf(members, "messages")?.opaqueBytes ?? 0;
  const media = mediaOf(body.messages);
  const stream = body.stream ?? false;
  const includeUsage = body.stream_options?.include_usage ?? undefined;
  return {
    bytes,
    members,
    hasOpaque: opaqueBytes > 0,
    includeUsage,
    usageSwitch: stream && includeUsage !== true ? usageSwitchOf(text, members) : undefined,
    maxTokensField: boundField(body),
    svc: body.svc === undefined ? NO_OPTIONS : readSvc(body.svc),
    facts: {
      model: body.model,
      stream,
      choices: body.n ?? 1,
      maxTokens: maxTokensOf(body),
      promptTokens: estimatePromptTokens(promptBytes - opaqueBytes, media.images),
      hasTools: (body.tools?.length ?? 0) > 0,
      parallelTools: body.parallel_tool_calls === true,
      hasImages: media.images > 0,
      imageCount: media.images,
      hasAudio: media.audio > 0,
      hasSchema: body.response_format?.type === "json_schema",
    },
  };
}

/** What a tokenizer must read for an exact count: the JSON of all that becomes prompt, an upper bound of its text. */
export function promptTexts({ bytes, members }: ChatRequest): string[] {
  return members
    .filter(({ key }) => !NO_PROMPT.includes(key))
    .map(({ valueStart, valueEnd }) => bytes.toString("utf8", valueStart, valueEnd));
}

/** The body for one endpoint: the client's bytes but for the fields named here. */
export const writeChatRequest = (request: ChatRequest, endpoint: Endpoint): Buffer =>
  Buffer.concat(chatRequestParts(request, endpoint));

/** The same as parts of the client's own bytes: a large body is not copied once more. */
export function chatRequestParts(request: ChatRequest, endpoint: Endpoint): Uint8Array[] {
  const { members, bytes } = request;
  const { quirks } = endpoint.provider;
  const model = memberOf(members, "model") as Member;
  const edits: Edit[] = [
    { start: model.valueStart, end: model.valueEnd, text: JSON.stringify(endpoint.upstreamModel) },
  ];
  const removed = ["svc"];
  if (!quirks.streamUsage) removed.push("stream_options");
  else if (request.usageSwitch !== undefined) edits.push(request.usageSwitch);
  const field = request.maxTokensField;
  if (quirks.maxTokensField !== "either" && field !== undefined && field !== quirks.maxTokensField) {
    const bound = memberOf(members, field) as Member;
    edits.push({ start: bound.start, end: bound.keyEnd, text: `"${quirks.maxTokensField}"` });
    // Where both names stand, the one that would now stand twice goes.
    removed.push(quirks.maxTokensField);
  }
  edits.push(...removeMembers(members, removed));
  return editedParts(bytes, edits);
}

/** @param whole the text is the body itself, so that a position in it means something to the caller. */
function parse(text: string, whole: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const at = whole ? /position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1] : undefined;
    throw fail("invalid_json", `The body is not valid JSON${at === undefined ? "" : ` (near byte ${at})`}.`);
  }
}

function check(value: unknown): ChatRequestBody {
  if (typeof value === "object" && value !== null && "models" in value) {
    throw fail("unsupported_option", "Model fallback lists are not offered: one model a request.", {
      param: "/models",
    });
  }
  if (isUsualRequest(value)) return value;
  const parsed = chatRequestSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  if (issue === undefined) throw fail("invalid_value", "The body is not a chat completion request.");
  if (issue.code === "unrecognized_keys") {
    const pointer = pointerTo([...issue.path, issue.keys[0] ?? ""]);
    throw fail("invalid_value", `Unknown option at ${pointer}.`, { param: pointer });
  }
  const pointer = pointerTo(issue.path);
  const missing = issue.code === "invalid_type" && issue.input === undefined && !present(value, issue.path);
  throw fail("invalid_value", missing ? `${pointer} is required.` : `${pointer}: ${issue.message}.`, {
    param: pointer,
  });
}

function present(value: unknown, path: readonly PropertyKey[]): boolean {
  let at: unknown = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !(key in at)) return false;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return true;
}

/** What leaves this file as text is read again from the bytes: the skeleton is latin1 and lacks its long strings. */
function inUtf8(value: unknown, bytes: Buffer, members: readonly Member[]): unknown {
  const body = value as Record<string, unknown>;
  const again = (member: Member) => parse(bytes.toString("utf8", member.valueStart, member.valueEnd), false);
  const svc = memberOf(members, "svc");
  if (svc !== undefined) body.svc = again(svc);
  const { model } = body;
  // Empty: it was too long for the skeleton, or is what it seems.
  if (typeof model === "string" && (model === "" || utf8Of(model) !== model))
    body.model = again(memberOf(members, "model") as Member);
  return body;
}

/** Beside what else the client's `stream_options` hold, whose bytes pass as they came (T53). */
function usageSwitchOf(text: string, members: readonly Member[]): Edit {
  const options = memberOf(members, "stream_options");
  if (options === undefined) {
    const { start } = memberOf(members, "model") as Member;
    return { start, end: start, text: `"stream_options":{"include_usage":true},` };
  }
  const { valueStart, valueEnd } = options;
  const value = text.slice(valueStart, valueEnd);
  if (value === "null") return { start: valueStart, end: valueEnd, text: `{"include_usage":true}` };
  const edit = setMember(value, skim(value, "/stream_options").members, "include_usage", "true");
  return { start: valueStart + edit.start, end: valueStart + edit.end, text: edit.text };
}

function readSvc(svc: NonNullable<ChatRequestBody["svc"]>): SvcOptions {
  const { providers, ...route } = svc.route ?? {};
  return {
    // Absent stays absent: the schema makes no undefined members.
    route: { ...route, ...providers } as SvcOptions["route"],
    app: svc.metadata?.app ?? "",
    userId: svc.metadata?.user_id ?? "",
    tags: svc.metadata?.tags ?? {},
    strict: svc.compat?.strict ?? false,
    onDisconnect: svc.on_disconnect,
  };
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

function promptBytesOf(members: readonly Member[]): number {
  let bytes = 0;
  for (const { key, valueStart, valueEnd } of members) {
    if (!NO_PROMPT.includes(key)) bytes += valueEnd - valueStart;
  }
  return bytes;
}

function mediaOf(messages: ChatRequestBody["messages"]): { images: number; audio: number } {
  let images = 0;
  let audio = 0;
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue;
    for (const { type } of content) {
      if (type === "image_url") images++;
      else if (type === "input_audio") audio++;
    }
  }
  return { images, audio };
}
