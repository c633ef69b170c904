/**
 * Responses between a client and an upstream that both speak it: `id` and `model` of the answer are replaced, `svc` is
 * added, every other byte is passed on unchanged. The upstream does not know our ids: `previous_response_id` is removed
 * from the request, and so is reasoning that another maker sealed (T49).
 */
import type { Endpoint } from "../../base/endpoint.ts";
import { acceptedBy } from "../accepts/bounds.ts";
import { idEdits, responsesIds } from "../accepts/spliced-ids.ts";
import type { Billed } from "../extras/sift.ts";
import { NO_ORG_KEY, type OrgKey, type Outgoing, type Passage } from "../format.ts";
import { append } from "../json/append.ts";
import { latin1Json, type Member, memberOf, moved } from "../json/json.ts";
import { type JsonObject, listOf, objectOf } from "../neutral/reader.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import { someNeedEdits } from "../relay/call-edits.ts";
import { limitSplice } from "../relay/lowered.ts";
import { type RequestSplice, spliced, spliceOf, without } from "../relay/splice.ts";
import { type AnswerReading, type Ending, splicedAnswer } from "../relay/spliced-answer.ts";
import { EVENTS_BEFORE } from "./background.ts";
import { conversationJson } from "./echo.ts";
import { withoutForeign } from "./foreign.ts";
import { isCall } from "./kinds.ts";
import {
  noResponse,
  nothingIn,
  readResponseError,
  readResponsesReply,
  responsesReport,
} from "./read-reply.ts";
import type { ResponsesRequest } from "./request.ts";
import { responsesRestating } from "./restating.ts";
import { CALLS, ResponsesSpliceStream } from "./splice-stream.ts";
import { readStop } from "./stop.ts";
import { readResponsesUsage, writeResponsesUsage } from "./usage.ts";

const RESPONSE: AnswerReading = {
  // Parsed again in full: the other value has no long strings, and is latin1.
  error: (value, bytes) => readResponseError(value) && readResponseError(objectOf(parseReply(bytes))),
  ending,
  usage: readResponsesUsage,
  report: responsesReport,
  reply: readResponsesReply,
  writeUsage: writeResponsesUsage,
  calls: CALLS,
};

export const responsesSplice: Passage<ResponsesRequest> = {
  write: (request, endpoint, billed, orgKey) => writeSpliced(request, endpoint, billed, orgKey),
  looksThrough: ({ hasReasoning, hasForeignIds }) => hasReasoning || hasForeignIds,
  whole: (body, request, identity) => splicedAnswer(body, RESPONSE, identity, historyMembers(request)),
  stream(request, identity) {
    const others = historyMembers(request);
    if (!request.isBackground) return new ResponsesSpliceStream(identity, others);
    // Its client was told when it was made before an upstream was asked.
    const told = { ...others, background: "true", created_at: String(identity.createdS) };
    return new ResponsesSpliceStream(identity, told, EVENTS_BEFORE);
  },
  restating: responsesRestating,
};

/** What the client went on from, as members of the response: the upstream did not get them, and sends null. JSON by name. */
function historyMembers({
  previousResponseId: previous,
  conversationId: conversation,
}: ResponsesRequest): Readonly<Record<string, string>> | undefined {
  if (previous !== undefined) return { previous_response_id: latin1Json(previous) };
  return conversation === undefined ? undefined : { conversation: conversationJson(conversation) };
}

/** Members that are not part of the prompt: the provider's count does not know them. */
const OF_THE_ANSWER: readonly string[] = [
  "stream",
  "stream_options",
  "store",
  "include",
  "background",
  "max_output_tokens",
  "max_tool_calls",
  "temperature",
  "top_p",
  "top_logprobs",
  "metadata",
  "client_metadata",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "service_tier",
];

/**
 * The passage of a count writes only the request: the answer is a number. Clients send the body of the call that they are about to make.
 */
export const responsesCountSplice: Passage<ResponsesRequest> = {
  ...responsesSplice,
  write: (request, endpoint, billed, orgKey) =>
    writeSpliced(request, endpoint, billed, orgKey, OF_THE_ANSWER),
};

function writeSpliced(
  request: ResponsesRequest,
  endpoint: Endpoint,
  billed: Billed = "platform",
  orgKey: OrgKey = NO_ORG_KEY,
  left: readonly string[] = [],
): Outgoing {
  const splice = without(left, request, spliceOf(request, endpoint, "responses", billed));
  splice.remove.push("previous_response_id");
  if (request.outputLimit !== undefined) limitSplice(request, endpoint, ["max_output_tokens"], splice);
  const input = memberOf(request.members, "input");
  if (input !== undefined) {
    if (request.hasReasoning) removeForeign(request, input, endpoint, splice);
    if (request.hasForeignIds) {
      const accepted = acceptedBy("responses", endpoint);
      append(splice.edits, idEdits(request.bytes, input, responsesIds, accepted, orgKey));
    }
  }
  return spliced(request, splice);
}

function removeForeign(
  { bytes, historyBy }: ResponsesRequest,
  input: Member,
  { provider }: Endpoint,
  splice: RequestSplice,
): void {
  const from = input.valueStart;
  // Only the provider that sealed or stored reasoning can read it, even among providers of one maker.
  const isMoved = historyBy !== undefined && historyBy !== provider.id;
  const { edits, indexes } = withoutForeign(bytes.toString("latin1", from, input.valueEnd), isMoved);
  append(splice.edits, moved(edits, from));
  for (const index of indexes) splice.dropped.push(`/input/${index}`);
}

function ending(value: JsonObject): Ending {
  if (!Array.isArray(value.output)) throw noResponse();
  const items = value.output.map(objectOf);
  const toolCalls = items.filter(isCall).length;
  const contents = items.flatMap(({ content }) => listOf(content).map(objectOf));
  const held = { calls: toolCalls > 0, refusal: contents.some(({ type }) => type === "refusal") };
  const hasOddCalls = someNeedEdits(items, CALLS);
  return { stopReason: readStop(value, held).reason, toolCalls, hasOddCalls, error: nothingIn(value) };
}
