/**
 * Responses that go on without their client (`background: true`): what upstreams are told of them, which is nothing, and the objects and events
 * that the gateway writes of a call before its upstream answers and where it does not answer to its end.
 * https://developers.openai.com/api/docs/guides/background; what that does not say is in docs/decisions.md ("Background responses").
 */

import { sharedConcat } from "../../base/shared-memory.ts";
import type { AnswerNames, Background } from "../format.ts";
import { editedParts } from "../json/edited-bytes.ts";
import { applyEdits, latin1Json, membersOf, removeMembers, setMember } from "../json/json.ts";
import { LARGE_BODY_BYTES } from "../neutral/contract.ts";
import { sseEvent } from "../neutral/sse.ts";
import { svcJson } from "../svc.ts";
import type { ResponsesRequest } from "./request.ts";
import { failedResponse, ResponseObject } from "./response-object.ts";
import { writeResponsesUsage } from "./usage.ts";

/** Events that come before those of the upstream: created and queued. */
export const EVENTS_BEFORE = 2;

/** The number of the first event that is written of an upstream's answer. */
export const firstSequence = ({ isBackground }: Pick<ResponsesRequest, "isBackground">): number =>
  isBackground ? EVENTS_BEFORE : 0;

export const responsesBackground: Background<ResponsesRequest> = {
  isAsked: ({ isBackground }) => isBackground,
  isStreamed: ({ isStreamAsked }) => isStreamAsked,
  asStream({ bytes, members }) {
    const edits = [...removeMembers(members, ["background"]), setMember("", members, "stream", "true")];
    const parts = editedParts(bytes, edits);
    // A large body is read in a thread: a buffer that is not shared would be copied to it.
    return bytes.length > LARGE_BODY_BYTES ? sharedConcat(parts) : Buffer.concat(parts);
  },
  continuing: (read, { isStreamAsked, previousResponseId, conversationId, historyBy }) => ({
    ...read,
    isBackground: true,
    isStreamAsked,
    previousResponseId,
    conversationId,
    historyBy,
  }),
  begin(request, names) {
    const response = queued(request, names);
    const events = ["created", "queued"].map((state, number) =>
      lifecycle(`response.${state}`, number, response),
    );
    return { text: events.join(""), next: events.length };
  },
  queued,
  inProgress: (response) => withMembers(response, { status: '"in_progress"' }),
  cancelled: (request, names, { usage, svc }) => new ResponseObject(request, names).cancelled(usage, svc),
  failed: failedResponse,
  brokenOff: (response, { code, message }, charged) =>
    withMembers(response, {
      status: '"failed"',
      error: latin1Json({ code, message }),
      ...(charged && {
        usage: JSON.stringify(writeResponsesUsage(charged.usage)),
        svc: svcJson(charged.svc),
      }),
    }),
  // There is no event of its own for it, and the status within tells.
  endedEvent: (response, sequence) => lifecycle("response.failed", sequence, response),
};

function queued(request: ResponsesRequest, names: AnswerNames): string {
  return new ResponseObject(request, names).begun("queued");
}

/** The object with other members. @param members JSON by name */
function withMembers(object: string, members: Readonly<Record<string, string>>): string {
  const own = membersOf(object);
  if (own === undefined) return object;
  return applyEdits(
    object,
    Object.entries(members).map(([name, value]) => setMember(object, own, name, value)),
  );
}

const lifecycle = (type: string, number: number, response: string): string =>
  sseEvent(type, `{"type":"${type}","sequence_number":${number},"response":${response}}`);
