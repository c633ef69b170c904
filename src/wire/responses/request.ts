/**
 * Reads from a responses body what the gateway must know, and inserts a conversation's history into it by position: neither
 * prompt nor history is parsed for that.
 */
import { fail } from "../../base/errors.ts";
import { sharedConcat } from "../../base/shared-memory.ts";
import { CALL_ID } from "../accepts/bounds.ts";
import { type BodyRules, promptTextsOf, type ReadBody, readBody, SVC_MEMBER } from "../body.ts";
import { estimatePromptTokens } from "../estimate.ts";
import { bodyTable } from "../extras/tables.ts";
import type { ClientRequest, PromptText } from "../format.ts";
import { editedParts } from "../json/edited-bytes.ts";
import { type Edit, memberOf, removeMembers, setMember, utf8Of } from "../json/json.ts";
import { isNoImageAddress } from "../media/uncounted.ts";
import { LARGE_BODY_BYTES } from "../neutral/contract.ts";
import { holdsOpaque } from "../neutral/opaque.ts";
import { isObject } from "../neutral/reader.ts";
import { type Reference, referencesIn } from "./references.ts";
import { type ResponsesRequestBody, responsesRequestSchema } from "./schema.ts";

/** Members that no model reads. All others count as prompt, unknown ones included. */
const NO_PROMPT: readonly string[] = [
  "model",
  "svc",
  "stream",
  "metadata",
  "client_metadata",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "previous_response_id",
  "conversation",
  "include",
  "stream_options",
  "store",
  "background",
  "max_output_tokens",
  "max_tool_calls",
  "temperature",
  "top_p",
  "top_logprobs",
  "parallel_tool_calls",
  "service_tier",
  "truncation",
];

export interface ResponsesRequest extends ClientRequest {
  /** Whether the answer shall be kept for `GET /v1/responses/{id}` and `previous_response_id`. */
  readonly store: boolean;
  /** The client said so itself: `store` is in its body, and not null. */
  readonly isStoreSaid: boolean;
  /** The client asked for an answer that comes later. Its body tells that to no upstream: see `background.ts`. */
  readonly isBackground: boolean;
  /** The client asked for events: those of an answer that comes later are made in any case. */
  readonly isStreamAsked: boolean;
  /** As the client sent it. It stays here when the input is expanded, after which the body no longer has it. */
  readonly previousResponseId: string | undefined;
  /** The same for `conversation`. */
  readonly conversationId: string | undefined;
  /** The provider whose answer the request continues by one of both; undefined if it continues none. */
  readonly historyBy: string | undefined;
  /** The input has reasoning items. */
  readonly hasReasoning: boolean;
  /** Calls or results have ids that OpenAI would refuse, perhaps of another maker's model. */
  readonly hasForeignIds: boolean;
  /** References of the input to items of earlier responses. Found as the body is read, which for a large one is in a thread. */
  readonly references: readonly Reference[];
  /** The input is a list of nothing. */
  readonly isInputEmpty: boolean;
  /** The client asked for the reasoning, which this format has as summaries. */
  readonly wantsSummary: boolean;
}

const RULES: BodyRules<ResponsesRequestBody> = {
  ...SVC_MEMBER,
  schema: responsesRequestSchema,
  noPrompt: NO_PROMPT,
  extras: bodyTable("responses"),
  media: ["input"],
};

/** @throws WeirError 400 with a JSON pointer to the field at fault. */
export function readResponsesRequest(bytes: Buffer): ResponsesRequest {
  const read = readBody(bytes, RULES);
  refuseUnsupported(read.value);
  refuseForgotten(read.value);
  const { input, prompt, previous_response_id: previous, conversation } = read.value;
  if (input == null && prompt == null && previous == null && conversation == null)
    throw fail("invalid_value", "/input is required.", { param: "/input" });
  return requestOf(bytes, read);
}

/** What of a prompt is to be counted, which need have no input. @throws as {@link readResponsesRequest} */
export function readResponsesCount(bytes: Buffer): ResponsesRequest {
  const read = readBody(bytes, RULES);
  refuseUnsupported(read.value);
  return requestOf(bytes, read);
}

function requestOf(
  bytes: Buffer,
  { read, value: body, proseBytes, hasNoImage }: ReadBody<ResponsesRequestBody>,
): ResponsesRequest {
  const seen = lookThrough(body, read.hasOpaque);
  return {
    ...read,
    store: body.store ?? true,
    isStoreSaid: body.store != null,
    isBackground: body.background === true,
    isStreamAsked: body.stream === true,
    previousResponseId: previousIdOf(bytes, read.members),
    conversationId: conversationIdOf(body),
    historyBy: undefined,
    hasReasoning: seen.reasoning > 0,
    hasForeignIds: seen.foreignIds > 0,
    references: referencesIn(bytes, read.members, body.input),
    isInputEmpty: Array.isArray(body.input) && body.input.length === 0,
    wantsSummary: wantsSummary(body.reasoning),
    facts: {
      model: body.model,
      stream: body.stream ?? false,
      choices: 1,
      maxTokens: body.max_output_tokens ?? undefined,
      promptTokens: estimatePromptTokens(proseBytes, seen.images),
      hasTools: (body.tools?.length ?? 0) > 0,
      parallelTools: body.parallel_tool_calls === true,
      hasImages: seen.images > 0,
      imageCount: seen.images,
      hasAudio: seen.audio > 0,
      hasSchema: body.text?.format?.type === "json_schema",
      // A stored template may have any length.
      hasUncounted: hasNoImage || seen.audio + seen.others > 0 || body.prompt != null,
      searchUnits: 0,
    },
  };
}

/** See {@link promptTextsOf}. */
export const promptTexts = (request: ResponsesRequest): PromptText[] => promptTextsOf(request, NO_PROMPT);

/**
 * The body with a conversation's items before its own input, and without the member that named it. A text input becomes the
 * user's message.
 * @param request as read from `bytes`
 * @param history JSON text of items, the inside of an array; may be empty.
 */
export function expandInput(bytes: Buffer, request: ResponsesRequest, history: string): Buffer {
  const { members } = request;
  const edits: Edit[] = removeMembers(members, NAMES_OF_HISTORY);
  const input = memberOf(members, "input");
  const first = input === undefined ? "" : String.fromCharCode(bytes[input.valueStart] ?? 0);
  if (input !== undefined && first === '"') {
    const before = `[${history}${history === "" ? "" : ","}${USER_HEAD}`;
    edits.push({ start: input.valueStart, end: input.valueStart, text: before });
    edits.push({ start: input.valueEnd, end: input.valueEnd, text: USER_TAIL });
  } else if (input !== undefined && first === "[") {
    const before = `[${history}${history === "" || request.isInputEmpty ? "" : ","}`;
    edits.push({ start: input.valueStart, end: input.valueStart + 1, text: before });
  } else {
    edits.push(setMember("", members, "input", `[${history}]`));
  }
  const parts = editedParts(bytes, edits);
  // A large body is read in a thread: a buffer that is not shared would be copied to it.
  return bytes.length + history.length > LARGE_BODY_BYTES ? sharedConcat(parts) : Buffer.concat(parts);
}

/** JSON text of the request's input items, the inside of an array, which becomes history. */
export function inputItems({ bytes, members }: ResponsesRequest): string {
  const input = memberOf(members, "input");
  if (input === undefined) return "";
  const { valueStart, valueEnd } = input;
  if (bytes[valueStart] === QUOTE) return `${USER_HEAD}${bytes.toString("utf8", valueStart, valueEnd)}}`;
  if (bytes[valueStart] !== OPEN_ARRAY) return "";
  // Without the white space of its ends, which may be megabytes: skipping these in bytes takes half of what it takes in a string.
  let start = valueStart + 1;
  let end = valueEnd - 1;
  while (start < end && (bytes[start] as number) <= SPACE) start++;
  while (end > start && (bytes[end - 1] as number) <= SPACE) end--;
  return bytes.toString("utf8", start, end);
}

const NAMES_OF_HISTORY: readonly string[] = ["previous_response_id", "conversation"];
const SPACE = 32;
const QUOTE = 34;
const OPEN_ARRAY = 91;

const USER_HEAD = '{"type":"message","role":"user","content":';
const USER_TAIL = "}]";

function refuseUnsupported(body: ResponsesRequestBody): void {
  if (body.conversation != null && body.previous_response_id != null) {
    const message =
      "Send one of `previous_response_id` and `conversation`: each says what the request goes on from.";
    throw fail("invalid_value", message, { param: "/conversation" });
  }
}

/** An answer that comes later is asked for by its id: it must be kept. As OpenAI refuses it. */
function refuseForgotten({ background, store }: ResponsesRequestBody): void {
  if (background !== true || store !== false) return;
  const message =
    'Background responses require store to be enabled: leave out `store: false`. With svc.on_disconnect "detach" in place of background, the call goes on without its client.';
  throw fail("unsupported_option", message, { param: "/background" });
}

/** Decoded from the bytes, because the schema's value is latin1. */
function previousIdOf(bytes: Buffer, members: ClientRequest["members"]): string | undefined {
  const member = memberOf(members, "previous_response_id");
  if (member === undefined) return undefined;
  const id: unknown = JSON.parse(bytes.toString("utf8", member.valueStart, member.valueEnd));
  return typeof id === "string" ? id : undefined;
}

/** The value is latin1. */
function conversationIdOf({ conversation }: ResponsesRequestBody): string | undefined {
  if (conversation == null) return undefined;
  return utf8Of(typeof conversation === "string" ? conversation : conversation.id);
}

/** The member of the current name or of the older one. */
function wantsSummary(reasoning: unknown): boolean {
  const { summary, generate_summary: before } = isObject(reasoning) ? reasoning : {};
  return typeof (summary ?? before) === "string";
}

interface Seen {
  images: number;
  audio: number;
  /** Files and items that are stored at the provider. */
  others: number;
  reasoning: number;
  /** Ids of calls that are not taken. */
  foreignIds: number;
}

/** Does not check items and parts: the upstream or the translation does. */
function lookThrough({ input, instructions }: ResponsesRequestBody, hasOpaque: boolean): Seen {
  const seen: Seen = { images: 0, audio: 0, others: 0, reasoning: 0, foreignIds: 0 };
  if (Array.isArray(input)) for (const item of input) countItem(item, seen, hasOpaque);
  if (Array.isArray(instructions)) for (const item of instructions) countItem(item, seen, hasOpaque);
  return seen;
}

function countItem(item: unknown, seen: Seen, hasOpaque: boolean): void {
  if (!isObject(item)) return;
  const { type, content, output, call_id: id } = item;
  if (type === "reasoning") seen.reasoning++;
  if (typeof id === "string" && !CALL_ID.taken.test(id)) seen.foreignIds++;
  // Some providers accept a part in place of an item.
  count(item, seen, false);
  // An image that a model made is one more image of the prompt.
  if (type === "image_generation_call") seen.images++;
  else if (hasOpaque && holdsOpaque({ ...item, content: undefined, output: undefined })) seen.others++;
  for (const parts of [content, output]) {
    if (Array.isArray(parts)) for (const part of parts) count(part, seen, hasOpaque);
    else count(parts, seen, hasOpaque);
  }
}

/** Found by type, or by the part's members: providers accept parts without a type. */
function count(part: unknown, seen: Seen, hasOpaque: boolean): void {
  if (typeof part !== "object" || part === null) return;
  if (!isObject(part)) {
    seen.others++;
    return;
  }
  const { type } = part;
  const isImage = type === "input_image" || type === "computer_screenshot" || "image_url" in part;
  const isAudio = type === "input_audio" || "input_audio" in part;
  if (isImage) seen.images++;
  if (isImage && (isNoImageAddress(part.image_url) || isNoImageAddress(part.file_id))) seen.others++;
  if (isAudio) seen.audio++;
  if (isImage || isAudio) return;
  const isFile =
    type === "input_file" ||
    part.file_id != null ||
    part.file_url != null ||
    part.file_data != null ||
    part.video_url != null;
  if (isFile || (hasOpaque && holdsOpaque(part))) seen.others++;
}
