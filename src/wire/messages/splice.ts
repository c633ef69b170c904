/**
 * Messages from a client to an upstream that speaks messages: `id` and `model` are ours, `svc` is added, every other byte
 * is as it came.
 */
import { fail } from "../../errors.ts";
import type { Usage } from "../../usage.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../contract.ts";
import type { AnswerIdentity, Passage, WholeAnswer } from "../format.ts";
import { fragmentOf } from "../fragment.ts";
import { applyEdits, type Member, setMember, skim } from "../json.ts";
import { type JsonObject, listOf, objectOf, stringOf } from "../reader.ts";
import { svcJson } from "../svc.ts";
import { readErrorBody } from "../upstream-error.ts";
import { parseReply } from "../upstream-reply.ts";
import { isErrorBody, noMessage, readMessagesReply } from "./read-reply.ts";
import { type MessagesRequest, spliceMessagesRequest } from "./request.ts";
import { MessagesSpliceStream } from "./splice-stream.ts";
import { readStop } from "./stop.ts";
import { readMessagesUsage, writeMessagesUsage } from "./usage.ts";

export const messagesSplice: Passage<MessagesRequest> = {
  write: spliceMessagesRequest,
  whole: (body, _request, identity) => new SplicedMessage(body, identity),
  stream: (_request, identity) => new MessagesSpliceStream(identity),
};

class SplicedMessage implements WholeAnswer {
  readonly facts: ReplyFacts;
  readonly error: UpstreamError | undefined;
  readonly #text: string;
  readonly #members: readonly Member[];
  readonly #identity: AnswerIdentity;

  constructor(bytes: Buffer, identity: AnswerIdentity) {
    this.#text = bytes.toString("latin1");
    this.#identity = identity;
    const { members, value } = parse(this.#text);
    this.#members = members;
    if (isErrorBody(value)) {
      this.error = readErrorBody(bytes);
      this.facts = NOTHING;
    } else {
      this.facts = factsOf(value, bytes);
    }
  }

  write(usage: Usage, svc: SvcReply): Buffer {
    const text = this.#text;
    const members = this.#members;
    const edits = [
      setMember(text, members, "id", JSON.stringify(this.#identity.id)),
      setMember(text, members, "model", JSON.stringify(this.#identity.model)),
    ];
    if (this.facts.usage === undefined) {
      edits.push(setMember(text, members, "usage", JSON.stringify(writeMessagesUsage(usage))));
    }
    edits.push(setMember(text, members, "svc", svcJson(svc)));
    return Buffer.from(applyEdits(text, edits), "latin1");
  }
}

const NOTHING: ReplyFacts = {
  usage: undefined,
  stopReason: "",
  toolCalls: 0,
  outputBytes: 0,
  unreportedBytes: 0,
};

/** Without the long strings, which no fact needs. */
function parse(text: string): { members: readonly Member[]; value: JsonObject } {
  try {
    const { members, skeleton } = skim(text);
    return { members, value: objectOf(JSON.parse(skeleton)) };
  } catch (cause) {
    throw fail("upstream_invalid_response", "The provider's answer is not valid JSON.", { cause });
  }
}

function factsOf(value: JsonObject, bytes: Buffer): ReplyFacts {
  if (!Array.isArray(value.content)) throw noMessage();
  const usage = readMessagesUsage(value.usage);
  const outputBytes = usage === undefined ? textBytes(bytes) : 0;
  const calls = listOf(value.content).filter((block) => objectOf(block).type === "tool_use");
  return {
    usage,
    stopReason: readStop(stringOf(value.stop_reason), undefined).reason,
    toolCalls: calls.length,
    outputBytes,
    unreportedBytes: outputBytes,
  };
}

/** Counted as in a stream, from the whole body: long strings are not in the skeleton. */
function textBytes(bytes: Buffer): number {
  let count = 0;
  for (const { parts } of readMessagesReply(parseReply(bytes)).choices) {
    for (const part of parts)
      count += fragmentOf(part.type === "tool_call" ? part.arguments : part.text).length;
  }
  return count;
}
