/**
 * A whole chat completion, spliced: `id` and `model` are ours, `svc` is added, every other byte is the upstream's.
 */
import { fail } from "../../errors.ts";
import type { Usage } from "../../usage.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../contract.ts";
import { applyEdits, type Edit, type Member, setMember, skim } from "../json.ts";
import { svcJson } from "../svc.ts";
import { readErrorBody } from "../upstream-error.ts";
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
  /** latin1 text of the upstream's body. */
  readonly text: string;
  readonly members: readonly Member[];
}

/** @throws WeirError `upstream_invalid_response` where the body is no chat completion. */
export function readChatReply(bytes: Buffer): ChatReply {
  const text = bytes.toString("latin1");
  const { members, value } = parse(text);
  if (value.error || value.object === "error") {
    return { facts: NOTHING, error: readErrorBody(bytes), text, members };
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
    text,
    members,
  };
}

/** The body for the client, as bytes. `usage` is written where the upstream reported none. */
export function writeChatReply(
  reply: ChatReply,
  identity: { id: string; model: string },
  usage: Usage,
  svc: SvcReply,
): Buffer {
  const { text, members } = reply;
  const edits: Edit[] = [
    setMember(text, members, "id", JSON.stringify(identity.id)),
    setMember(text, members, "model", JSON.stringify(identity.model)),
  ];
  if (reply.facts.usage === undefined) {
    edits.push(setMember(text, members, "usage", JSON.stringify(writeChatUsage(usage))));
  }
  edits.push(setMember(text, members, "svc", svcJson(svc)));
  return Buffer.from(applyEdits(text, edits), "latin1");
}

const NOTHING: ReplyFacts = {
  usage: undefined,
  stopReason: "",
  toolCalls: 0,
  outputBytes: 0,
  unreportedBytes: 0,
};

function parse(text: string): { members: readonly Member[]; value: Record<string, unknown> } {
  try {
    const { members, skeleton } = skim(text);
    return { members, value: JSON.parse(skeleton) as Record<string, unknown> };
  } catch (cause) {
    throw notJson(cause);
  }
}

const notJson = (cause: unknown) =>
  fail("upstream_invalid_response", "The provider's answer is not valid JSON.", { cause });

/** Counted as in a stream, from the whole body: long strings are not in the skeleton. */
function textBytes(bytes: Buffer): number {
  const capture = new ChatCapture(0);
  try {
    const { choices } = JSON.parse(bytes.toString()) as { choices: readonly Choice[] };
    capture.take(choices.map((choice, index) => ({ index, delta: choice?.message })));
  } catch (cause) {
    throw notJson(cause);
  }
  return capture.textBytes;
}
