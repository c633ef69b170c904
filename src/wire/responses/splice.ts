/**
 * Responses from a client to an upstream that speaks responses: `id` and `model` are ours, `svc` is added, every other byte
 * is as it came. The upstream knows nothing of our ids: `previous_response_id` stays here, and so does reasoning that
 * another maker sealed (T49).
 */
import type { Endpoint } from "../../endpoint.ts";
import { fail } from "../../errors.ts";
import type { Usage } from "../../usage.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../contract.ts";
import type { AnswerIdentity, Outgoing, Passage, WholeAnswer } from "../format.ts";
import { fragmentOf } from "../fragment.ts";
import { applyEdits, type Edit, editedParts, type Member, memberOf, removeMembers, skim } from "../json.ts";
import { quirkEdits } from "../quirks.ts";
import { type JsonObject, listOf, objectOf } from "../reader.ts";
import { parseReply } from "../upstream-reply.ts";
import { errorOf, isCall, stopOf } from "./answer.ts";
import { withoutForeign } from "./items.ts";
import { responseEdits, settledEdits } from "./patch.ts";
import { readResponsesReply } from "./read-reply.ts";
import type { ResponsesRequest } from "./request.ts";
import { ResponsesSpliceStream } from "./splice-stream.ts";
import { readResponsesUsage } from "./usage.ts";

export const responsesSplice: Passage<ResponsesRequest> = {
  write: writeSpliced,
  whole: (body, request, identity) => new SplicedResponse(body, request, identity),
  stream: (request, identity) => new ResponsesSpliceStream(identity, request.previousResponseId),
};

function writeSpliced(request: ResponsesRequest, endpoint: Endpoint): Outgoing {
  const { members, bytes, svc } = request;
  const model = memberOf(members, "model") as Member;
  const quirks = quirkEdits(members, svc, endpoint.provider, "responses");
  const foreign = request.hasReasoning ? foreignEdits(request) : NO_FOREIGN;
  const edits: Edit[] = [
    { start: model.valueStart, end: model.valueEnd, text: JSON.stringify(endpoint.upstreamModel) },
    ...foreign.edits,
    ...quirks.edits,
    ...removeMembers(members, ["svc", "previous_response_id", ...quirks.remove]),
  ];
  return { parts: editedParts(bytes, edits), dropped: [...quirks.dropped, ...foreign.dropped] };
}

interface Foreign {
  readonly edits: readonly Edit[];
  readonly dropped: readonly string[];
}

const NO_FOREIGN: Foreign = { edits: [], dropped: [] };

function foreignEdits({ bytes, members }: ResponsesRequest): Foreign {
  const input = memberOf(members, "input");
  if (input === undefined) return NO_FOREIGN;
  const from = input.valueStart;
  const { edits, indexes } = withoutForeign(bytes.toString("latin1", from, input.valueEnd));
  return {
    edits: edits.map(({ start, end, text }) => ({ start: from + start, end: from + end, text })),
    dropped: indexes.map((index) => `/input/${index}`),
  };
}

class SplicedResponse implements WholeAnswer {
  readonly facts: ReplyFacts;
  readonly error: UpstreamError | undefined;
  readonly #text: string;
  readonly #members: readonly Member[];
  readonly #request: ResponsesRequest;
  readonly #identity: AnswerIdentity;

  constructor(bytes: Buffer, request: ResponsesRequest, identity: AnswerIdentity) {
    this.#text = bytes.toString("latin1");
    this.#request = request;
    this.#identity = identity;
    const { members, value } = parse(this.#text);
    this.#members = members;
    // Read again in full: of the other value long strings are missing, and it is latin1.
    this.error = errorOf(value) && errorOf(objectOf(parseReply(bytes)));
    this.facts = this.error === undefined ? factsOf(value, bytes) : NOTHING;
  }

  write(usage: Usage, svc: SvcReply): Buffer {
    const text = this.#text;
    const members = this.#members;
    const edits = responseEdits(text, members, this.#identity, this.#request.previousResponseId);
    edits.push(...settledEdits(text, members, this.facts.usage !== undefined, usage, svc));
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

function parse(text: string): { members: readonly Member[]; value: JsonObject } {
  try {
    const { members, skeleton } = skim(text);
    return { members, value: objectOf(JSON.parse(skeleton)) };
  } catch (cause) {
    throw fail("upstream_invalid_response", "The provider's answer is not valid JSON.", { cause });
  }
}

function factsOf(value: JsonObject, bytes: Buffer): ReplyFacts {
  if (!Array.isArray(value.output)) {
    throw fail("upstream_invalid_response", "The provider's answer is not a response.");
  }
  const items = value.output.map(objectOf);
  const toolCalls = items.filter(isCall).length;
  const contents = items.flatMap(({ content }) => listOf(content).map(objectOf));
  const held = { calls: toolCalls > 0, refusal: contents.some(({ type }) => type === "refusal") };
  const usage = readResponsesUsage(value.usage);
  const outputBytes = usage === undefined ? textBytes(bytes) : 0;
  const stopReason = stopOf(value, held).reason;
  return { usage, stopReason, toolCalls, outputBytes, unreportedBytes: outputBytes };
}

/** Counted as in a stream, from the whole body: long strings are not in the value that the facts are read from. */
function textBytes(bytes: Buffer): number {
  let count = 0;
  for (const { parts } of readResponsesReply(parseReply(bytes)).choices) {
    for (const part of parts)
      count += fragmentOf(part.type === "tool_call" ? part.arguments : part.text).length;
  }
  return count;
}
