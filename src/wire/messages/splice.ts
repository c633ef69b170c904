/**
 * Messages between a client and an upstream that both speak messages: `id` and `model` of the answer are replaced, `svc` is
 * added, every other byte is passed on unchanged. No parameter that changes behaviour is added to a request (T53).
 */
import type { Endpoint } from "../../base/endpoint.ts";
import { acceptedBy } from "../accepts/bounds.ts";
import { idEdits, messagesIds } from "../accepts/spliced-ids.ts";
import type { Billed } from "../extras/sift.ts";
import { NO_ORG_KEY, type OrgKey, type Outgoing, type Passage } from "../format.ts";
import { append } from "../json/append.ts";
import { type Member, memberOf } from "../json/json.ts";
import { opaquePaths } from "../json/opaque.ts";
import { type JsonObject, objectOf, stringOf } from "../neutral/reader.ts";
import { readErrorBody } from "../neutral/upstream-error.ts";
import { type CallForm, someNeedEdits } from "../relay/call-edits.ts";
import { limitSplice } from "../relay/lowered.ts";
import { spliced, spliceOf, without } from "../relay/splice.ts";
import { type AnswerReading, type Ending, splicedAnswer } from "../relay/spliced-answer.ts";
import { withoutForeign } from "./foreign.ts";
import { isErrorBody, messagesReport, noMessage, readMessagesReply } from "./read-reply.ts";
import type { MessagesRequest } from "./request.ts";
import { messagesRestating } from "./restating.ts";
import { CALL_BLOCK, MessagesSpliceStream } from "./splice-stream.ts";
import { readStop } from "./stop.ts";
import { readMessagesUsage, writeMessagesUsage } from "./usage.ts";

/**
 * The body for one endpoint: the client's bytes without our extension and other makers' thinking, with the upstream's model
 * name and the provider's quirks.
 * @param left members that are left out, too
 */
export function spliceMessagesRequest(
  request: MessagesRequest,
  endpoint: Endpoint,
  billed: Billed = "platform",
  orgKey: OrgKey = NO_ORG_KEY,
  left: readonly string[] = [],
): Outgoing {
  const splice = without(left, request, spliceOf(request, endpoint, "messages", billed));
  if (request.outputLimit !== undefined) limitSplice(request, endpoint, ["max_tokens"], splice);
  const messages = memberOf(request.members, "messages") as Member;
  if (request.hasThinking) append(splice.edits, withoutForeign(request.bytes, messages));
  if (request.hasForeignIds) {
    const accepted = acceptedBy("messages", endpoint);
    append(splice.edits, idEdits(request.bytes, messages, messagesIds, accepted, orgKey));
  }
  return spliced(request, splice);
}

const CALLS: CallForm = { ...CALL_BLOCK, paths: opaquePaths([["content", "*"]]) };

const MESSAGE: AnswerReading = {
  error: (value, bytes) => (isErrorBody(value) ? readErrorBody(bytes) : undefined),
  ending,
  usage: readMessagesUsage,
  report: messagesReport,
  reply: readMessagesReply,
  writeUsage: writeMessagesUsage,
  calls: CALLS,
};

function ending({ content, stop_reason: reason }: JsonObject): Ending {
  if (!Array.isArray(content)) throw noMessage();
  return {
    stopReason: readStop(stringOf(reason), undefined).reason,
    toolCalls: content.filter((block) => objectOf(block).type === "tool_use").length,
    hasOddCalls: someNeedEdits(content, CALLS),
  };
}

export const messagesSplice: Passage<MessagesRequest> = {
  write: (request, endpoint, billed, orgKey) => spliceMessagesRequest(request, endpoint, billed, orgKey),
  looksThrough: ({ hasThinking, hasForeignIds }) => hasThinking || hasForeignIds,
  whole: (body, _request, identity) => splicedAnswer(body, MESSAGE, identity),
  stream: (_request, identity) => new MessagesSpliceStream(identity),
  restating: messagesRestating,
};

/** Members that are not part of the prompt: the provider refuses them in a count. */
const OF_THE_ANSWER: readonly string[] = [
  "max_tokens",
  "stream",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "metadata",
  "service_tier",
];

/**
 * The passage of a count writes only the request: the answer is a number. Clients often send the body of the call that they are about
 * to make.
 */
export const messagesCountSplice: Passage<MessagesRequest> = {
  ...messagesSplice,
  write: (request, endpoint, billed, orgKey) =>
    spliceMessagesRequest(request, endpoint, billed, orgKey, OF_THE_ANSWER),
};
