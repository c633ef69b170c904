/**
 * A whole chat completion, spliced: `id` and `model` are ours, `svc` is added, every other byte is the upstream's.
 */
import { fail } from "../../errors.ts";
import type { Usage } from "../../usage.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../contract.ts";
import { listOf, objectOf } from "../reader.ts";
import { NO_FACTS, patchedReply, type ReplyText, readReplyText } from "../splice.ts";
import { readErrorBody } from "../upstream-error.ts";
import { parseReply } from "../upstream-reply.ts";
import { ChatCapture } from "./capture.ts";
import { readChatUsage, writeChatUsage } from "./usage.ts";

interface Choice {
  readonly finish_reason?: unknown;
  readonly message?: { readonly tool_calls?: unknown } | null;
}

export interface ChatReply {
  readonly facts: ReplyFacts;
  /** An error that came with status 200. */
  readonly error: UpstreamError | undefined;
  readonly reply: ReplyText;
}

/** @throws WeirError `upstream_invalid_response` where the body is no chat completion. */
export function readSplicedChat(bytes: Buffer): ChatReply {
  const reply = readReplyText(bytes);
  const { value } = reply;
  if (value.error || value.object === "error") {
    return { facts: NO_FACTS, error: readErrorBody(bytes), reply };
  }
  if (!Array.isArray(value.choices)) {
    throw fail("upstream_invalid_response", "The provider's answer is not a chat completion.");
  }
  const choices = value.choices as readonly Choice[];
  const usage = readChatUsage(value.usage);
  let toolCalls = 0;
  for (const choice of choices) {
    const calls = choice?.message?.tool_calls;
    if (Array.isArray(calls)) toolCalls += calls.length;
  }
  const reason = choices[0]?.finish_reason;
  const outputBytes = usage === undefined ? textBytes(bytes) : 0;
  return {
    facts: {
      usage,
      stopReason: typeof reason === "string" ? reason : "",
      toolCalls,
      outputBytes,
      unreportedBytes: outputBytes,
    },
    error: undefined,
    reply,
  };
}

/** The body for the client, as bytes. `usage` is written where the upstream reported none. */
export function writeSplicedChat(
  reply: ChatReply,
  identity: { id: string; model: string },
  usage: Usage,
  svc: SvcReply,
): Buffer {
  const missing =
    reply.facts.usage === undefined ? { usage: JSON.stringify(writeChatUsage(usage)) } : undefined;
  return patchedReply(reply.reply, identity, svc, missing);
}

/** Counted as in a stream, from the whole body: long strings are not in the skeleton. */
function textBytes(bytes: Buffer): number {
  const capture = new ChatCapture(0);
  const choices = listOf(objectOf(parseReply(bytes)).choices);
  capture.take(choices.map((choice, index) => ({ index, delta: objectOf(choice).message })));
  return capture.textBytes;
}
