/**
 * Completions between a client and an upstream that both speak them: `id` and `model` of the answer are replaced, `svc` is added,
 * every other byte is passed on unchanged. So whatever continues a text passes: `suffix`, `echo`, `logprobs`, token ids.
 */
import type { Endpoint } from "../../base/endpoint.ts";
import { chatReport, isErrorBody } from "../chat/read-reply.ts";
import { readStop } from "../chat/stop.ts";
import { readChatUsage, writeChatUsage } from "../chat/usage.ts";
import type { Billed } from "../extras/sift.ts";
import type { Outgoing, Passage, WholeAnswer } from "../format.ts";
import { Shapes } from "../json/shape.ts";
import { type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { readErrorBody } from "../neutral/upstream-error.ts";
import { limitSplice } from "../relay/lowered.ts";
import { spliced, spliceOf } from "../relay/splice.ts";
import { type AnswerReading, SET_MEMBERS, splicedAnswer } from "../relay/spliced-answer.ts";
import { replyOfChat } from "./chat-shaped.ts";
import { generatedFacts } from "./echo.ts";
import { noTextCompletion, readCompletionsReply } from "./read-reply.ts";
import type { CompletionsRequest } from "./request.ts";
import { completionsRestating } from "./restating.ts";
import { CompletionsSpliceStream } from "./splice-stream.ts";

const COMPLETION: AnswerReading = {
  error: (value, bytes) => (isErrorBody(value) ? readErrorBody(bytes) : undefined),
  ending,
  usage: readChatUsage,
  report: chatReport,
  reply: readCompletionsReply,
  writeUsage: writeChatUsage,
  shapes: new Shapes(["object", "error", "finish_reason", "service_tier"], SET_MEMBERS),
};

export const completionsSplice: Passage<CompletionsRequest> = {
  write: spliceCompletionsRequest,
  whole(body, request, identity): WholeAnswer {
    const answer = splicedAnswer(replyOfChat(body) ?? body, COMPLETION, identity);
    return { ...answer, facts: generatedFacts(answer.facts, request) };
  },
  stream: (request, identity) => new CompletionsSpliceStream(request, identity),
  restating: completionsRestating,
};

function ending(value: JsonObject): ReturnType<AnswerReading["ending"]> {
  const [first] = listOf(value.choices);
  if (first === undefined) throw noTextCompletion();
  return { stopReason: readStop(stringOf(objectOf(first).finish_reason), false).reason, toolCalls: 0 };
}

function spliceCompletionsRequest(
  request: CompletionsRequest,
  endpoint: Endpoint,
  billed: Billed = "platform",
): Outgoing {
  const splice = spliceOf(request, endpoint, "completions", billed);
  const { edits, remove } = splice;
  if (!endpoint.provider.quirks.streamUsage) remove.push("stream_options");
  else if (!remove.includes("stream_options") && request.usageSwitch !== undefined)
    edits.push(request.usageSwitch);
  if (request.outputLimit !== undefined) limitSplice(request, endpoint, ["max_tokens"], splice);
  return spliced(request, splice);
}
