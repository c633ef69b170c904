/**
 * How a stream of responses fails: `response.failed`, which has the error in its response. Codex reads errors nowhere else, OpenAI's SDKs
 * throw on the event `error` alone: so a stream that has begun ends with both.
 */
import type { WeirError } from "../../base/errors.ts";
import type { AnswerNames, Charged } from "../format.ts";
import { sseEvent } from "../neutral/sse.ts";
import type { ResponsesRequest } from "./request.ts";
import { failedResponse, ResponseObject } from "./response-object.ts";

/**
 * `response.failed`, latin1 text; before it `response.created` where nothing was sent yet.
 * @param sequence number of the first of the events @param charged as of {@link failedResponse}
 */
export function failedEvents(
  error: WeirError,
  request: ResponsesRequest,
  names: AnswerNames,
  sequence: number,
  charged?: Charged,
): { readonly text: string; readonly next: number } {
  let next = sequence;
  const event = (type: string, response: string) =>
    sseEvent(type, `{"type":"${type}","sequence_number":${next++},"response":${response}}`);
  const begun =
    next === 0 ? event("response.created", new ResponseObject(request, names).begun("in_progress")) : "";
  return { text: begun + event("response.failed", failedResponse(error, request, names, charged)), next };
}
