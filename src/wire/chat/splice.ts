/**
 * Chat between a client and an upstream that both speak it: `id` and `model` of the answer are replaced, `svc` is added,
 * every other byte is passed on unchanged. No parameter that changes behaviour is added to a request (T53).
 */
import type { Endpoint, ProviderQuirks } from "../../base/endpoint.ts";
import type { Usage } from "../../base/usage.ts";
import type { Billed } from "../extras/sift.ts";
import type { AnswerIdentity, Outgoing, Passage, WholeAnswer } from "../format.ts";
import { type Member, memberOf } from "../json/json.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../neutral/contract.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { readErrorBody } from "../neutral/upstream-error.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import { textBytesOf } from "../relay/capture.ts";
import { limitEdits } from "../relay/output-limit.ts";
import { NO_FACTS, patchedReply, type ReplyText, readReplyText, spliced, spliceOf } from "../relay/splice.ts";
import { chatReport, isErrorBody, noCompletion, readChatReply } from "./read-reply.ts";
import type { ChatRequest } from "./request.ts";
import { ChatSpliceStream } from "./splice-stream.ts";
import { readStop } from "./stop.ts";
import { readChatUsage, writeChatUsage } from "./usage.ts";

export const chatSplice: Passage<ChatRequest> = {
  write: spliceChatRequest,
  whole: (body, _request, identity) => new SplicedCompletion(body, identity),
  stream: (request, identity) => new ChatSpliceStream(request, identity),
};

class SplicedCompletion implements WholeAnswer {
  readonly facts: ReplyFacts;
  readonly error: UpstreamError | undefined;
  readonly #reply: ReplyText;
  readonly #identity: AnswerIdentity;

  constructor(bytes: Buffer, identity: AnswerIdentity) {
    this.#identity = identity;
    this.#reply = readReplyText(bytes);
    const { value } = this.#reply;
    const isError = isErrorBody(value);
    this.error = isError ? readErrorBody(bytes) : undefined;
    this.facts = isError ? NO_FACTS : factsOf(value, bytes);
  }

  write(usage: Usage, svc: SvcReply): Buffer {
    const missing = this.facts.usage === undefined ? { usage: JSON.stringify(writeChatUsage(usage)) } : {};
    return patchedReply(this.#reply, this.#identity, svc, missing);
  }
}

function factsOf(value: JsonObject, bytes: Buffer): ReplyFacts {
  if (!Array.isArray(value.choices)) throw noCompletion();
  const usage = readChatUsage(value.usage);
  // Counted in the whole body: the value that the other facts are read from has no long strings.
  const outputBytes = usage === undefined ? textBytesOf(readChatReply(parseReply(bytes))) : 0;
  const choices = value.choices.map(objectOf);
  const calls = choices.map(({ message }) => callsIn(objectOf(message)));
  const [first] = choices;
  return {
    usage,
    stopReason: first === undefined ? "" : readStop(stringOf(first.finish_reason), calls[0] !== 0).reason,
    toolCalls: calls.reduce((sum, count) => sum + count, 0),
    outputBytes,
    unreportedBytes: outputBytes,
    report: chatReport(value),
  };
}

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
): Outgoing {
  const { quirks } = endpoint.provider;
  const splice = spliceOf(request, endpoint, "chat", billed);
  const { edits, remove } = splice;
  if (!quirks.streamUsage) remove.push("stream_options");
  else if (!remove.includes("stream_options") && request.usageSwitch !== undefined) {
    edits.push(request.usageSwitch);
  }
  edits.push(...limitEdits(request, boundNames(quirks.maxTokensField)));
  const field = request.maxTokensField;
  if (
    quirks.maxTokensField !== "either" &&
    field !== undefined &&
    field !== quirks.maxTokensField &&
    !remove.includes(field)
  ) {
    const bound = memberOf(request.members, field) as Member;
    edits.push({ start: bound.start, end: bound.keyEnd, text: `"${quirks.maxTokensField}"` });
    // If both members are present, the one that would now be repeated is removed.
    remove.push(quirks.maxTokensField);
  }
  return spliced(request, splice);
}
