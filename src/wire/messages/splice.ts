/**
 * Messages from a client to an upstream that speaks messages: `id` and `model` are ours, `svc` is added, every other byte
 * is as it came.
 */
import type { Usage } from "../../usage.ts";
import { textBytesOf } from "../capture.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../contract.ts";
import type { AnswerIdentity, Passage, WholeAnswer } from "../format.ts";
import { type JsonObject, listOf, objectOf, stringOf } from "../reader.ts";
import { NO_FACTS, patchedReply, type ReplyText, readReplyText } from "../splice.ts";
import { readErrorBody } from "../upstream-error.ts";
import { parseReply } from "../upstream-reply.ts";
import { isErrorBody, noMessage, readMessagesReply } from "./read-reply.ts";
import { type MessagesRequest, spliceMessagesCount, spliceMessagesRequest } from "./request.ts";
import { MessagesSpliceStream } from "./splice-stream.ts";
import { readStop } from "./stop.ts";
import { readMessagesUsage, writeMessagesUsage } from "./usage.ts";

export const messagesSplice: Passage<MessagesRequest> = {
  write: spliceMessagesRequest,
  looksThrough: ({ hasThinking }) => hasThinking,
  whole: (body, _request, identity) => new SplicedMessage(body, identity),
  stream: (_request, identity) => new MessagesSpliceStream(identity),
};

/** Of a count only the request is written: its answer is a number. */
export const messagesCountSplice: Passage<MessagesRequest> = {
  ...messagesSplice,
  write: spliceMessagesCount,
};

class SplicedMessage implements WholeAnswer {
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
    const missing =
      this.facts.usage === undefined ? { usage: JSON.stringify(writeMessagesUsage(usage)) } : {};
    return patchedReply(this.#reply, this.#identity, svc, missing);
  }
}

function factsOf(value: JsonObject, bytes: Buffer): ReplyFacts {
  if (!Array.isArray(value.content)) throw noMessage();
  const usage = readMessagesUsage(value.usage);
  // From the whole body: long strings are not in the value that the facts are read from.
  const outputBytes = usage === undefined ? textBytesOf(readMessagesReply(parseReply(bytes))) : 0;
  const calls = listOf(value.content).filter((block) => objectOf(block).type === "tool_use");
  return {
    usage,
    stopReason: readStop(stringOf(value.stop_reason), undefined).reason,
    toolCalls: calls.length,
    outputBytes,
    unreportedBytes: outputBytes,
  };
}
