/**
 * Chat between a client and an upstream that both speak it: `id` and `model` of the answer are replaced, `svc` is added,
 * every other byte is passed on unchanged. No parameter that changes behaviour is added to a request (T53).
 */
import type { Endpoint, ProviderQuirks } from "../../base/endpoint.ts";
import { acceptedBy } from "../accepts/bounds.ts";
import { chatIds, idEdits } from "../accepts/spliced-ids.ts";
import type { Billed } from "../extras/sift.ts";
import { NO_ORG_KEY, type OrgKey, type Outgoing, type Passage } from "../format.ts";
import { append } from "../json/append.ts";
import { type Member, memberOf } from "../json/json.ts";
import { Shapes } from "../json/shape.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { readErrorBody } from "../neutral/upstream-error.ts";
import { CHAT_CALLS, someNeedEdits } from "../relay/call-edits.ts";
import { limitSplice } from "../relay/lowered.ts";
import { spliced, spliceOf } from "../relay/splice.ts";
import { type AnswerReading, type Ending, SET_MEMBERS, splicedAnswer } from "../relay/spliced-answer.ts";
import { chatReport, isErrorBody, noCompletion, readChatReply } from "./read-reply.ts";
import type { ChatRequest } from "./request.ts";
import { chatRestating } from "./restating.ts";
import { ChatSpliceStream } from "./splice-stream.ts";
import { readStop, unusableChoice } from "./stop.ts";
import { readChatUsage, writeChatUsage } from "./usage.ts";

const COMPLETION: AnswerReading = {
  error: (value, bytes) => (isErrorBody(value) ? readErrorBody(bytes) : undefined),
  ending,
  usage: readChatUsage,
  report: chatReport,
  reply: readChatReply,
  writeUsage: writeChatUsage,
  calls: CHAT_CALLS,
  shapes: new Shapes(["object", "error", "finish_reason", "service_tier"], SET_MEMBERS),
};

/**
 * Whether the upstream may refuse an id of the conversation, which models of other makers may have given: a client could not go on
 * there with it.
 */
function looksForIds({ longestCallId }: ChatRequest, endpoint: Endpoint): boolean {
  if (longestCallId === 0) return false;
  const { callId, refusesOthersIds } = acceptedBy("chat", endpoint);
  return callId !== undefined && (refusesOthersIds === true || longestCallId > callId.most);
}

export const chatSplice: Passage<ChatRequest> = {
  write: spliceChatRequest,
  looksThrough: looksForIds,
  whole: (body, _request, identity) => splicedAnswer(body, COMPLETION, identity),
  stream: (request, identity) => new ChatSpliceStream(request, identity),
  restating: chatRestating,
};

function ending({ choices }: JsonObject): Ending {
  if (!Array.isArray(choices) || choices.length === 0) throw noCompletion();
  let stopReason: Ending["stopReason"] = "";
  let toolCalls = 0;
  let error: Ending["error"];
  for (let index = 0; index < choices.length; index++) {
    const { message, finish_reason: reason } = objectOf(choices[index]);
    // A chunk of a stream has none.
    if (!isObject(message)) throw noCompletion();
    const calls = callsIn(message);
    const stop = readStop(stringOf(reason), calls > 0).reason;
    if (index === 0) stopReason = stop;
    if (stop === "other") error ??= unusableChoice(objectOf(choices[index]));
    toolCalls += calls;
  }
  return { stopReason, toolCalls, hasOddCalls: toolCalls > 0 && hasOddCalls(choices), error };
}

const hasOddCalls = (choices: readonly unknown[]): boolean =>
  someNeedEdits(
    choices.flatMap((choice) => listOf(objectOf(objectOf(choice).message).tool_calls)),
    CHAT_CALLS,
  );

const callsIn = ({ tool_calls: calls, function_call: functionCall }: JsonObject): number =>
  listOf(calls).length + (isObject(functionCall) ? 1 : 0);

/** Names of the output bound, that which the provider takes first. */
const boundNames = (field: ProviderQuirks["maxTokensField"]): [string, string] =>
  field === "max_completion_tokens" ? [field, "max_tokens"] : ["max_tokens", "max_completion_tokens"];

/** The body for one endpoint: the client's bytes, except for the members changed here and by the provider's quirks. */
export function spliceChatRequest(
  request: ChatRequest,
  endpoint: Endpoint,
  billed: Billed = "platform",
  orgKey: OrgKey = NO_ORG_KEY,
): Outgoing {
  const { streamUsage, maxTokensField } = endpoint.provider.quirks;
  const splice = spliceOf(request, endpoint, "chat", billed);
  const { edits, remove } = splice;
  if (!streamUsage) remove.push("stream_options");
  else if (!remove.includes("stream_options") && request.usageSwitch !== undefined) {
    edits.push(request.usageSwitch);
  }
  if (request.outputLimit !== undefined) limitSplice(request, endpoint, boundNames(maxTokensField), splice);
  const field = request.maxTokensField;
  const isOther = maxTokensField !== "either" && field !== maxTokensField;
  if (isOther && field !== undefined && !remove.includes(field)) {
    const bound = memberOf(request.members, field) as Member;
    edits.push({ start: bound.start, end: bound.keyEnd, text: `"${maxTokensField}"` });
    // If both members are present, the one that would now be repeated is removed.
    remove.push(maxTokensField);
  }
  if (looksForIds(request, endpoint)) {
    const messages = memberOf(request.members, "messages") as Member;
    append(edits, idEdits(request.bytes, messages, chatIds, acceptedBy("chat", endpoint), orgKey));
  }
  return spliced(request, splice);
}
