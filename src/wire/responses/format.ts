/** OpenAI's responses format as clients speak it. */
import { errorEnvelope, type WeirError } from "../../errors.ts";
import { type ClientFormat, OPENAI_HABITS } from "../format.ts";
import { KEEP_ALIVE, sseEvent } from "../sse.ts";
import { responsesHistory } from "./history.ts";
import { responsesNeutral } from "./neutral-request.ts";
import { promptTexts, type ResponsesRequest, readResponsesRequest } from "./request.ts";
import { responsesSplice } from "./splice.ts";
import { writeResponsesReply } from "./write-reply.ts";
import { ResponsesStreamWriter } from "./writer.ts";

export const responsesFormat: ClientFormat<ResponsesRequest> = {
  name: "responses",
  key: "responses",
  habits: { ...OPENAI_HABITS, featuresHeader: "openai-beta" },
  errorSchema: "Error",
  task: "generate",
  idPrefix: "resp_",
  promptAt: "/input",
  keepAlive: KEEP_ALIVE,
  read: readResponsesRequest,
  promptTexts,
  history: responsesHistory,
  splice: { dialect: "responses", passage: responsesSplice },
  generation: {
    neutral: responsesNeutral,
    writeReply: writeResponsesReply,
    streamWriter: (request, identity) => new ResponsesStreamWriter(request, identity),
  },
  errorBody: errorEnvelope,
  errorEvent,
};

/**
 * An error inside a stream. The envelope stands beside the event's own members: SDKs throw what is under `error`, where
 * there is such, and the event itself otherwise. Its number continues those of the events before it.
 */
function errorEvent(error: WeirError, requestId: string, sequence = 0): string {
  const { code, message, param = null } = error;
  const event = JSON.stringify({ type: "error", sequence_number: sequence, code, message, param });
  return sseEvent("error", `${event.slice(0, -1)},${errorEnvelope(error, requestId).slice(1)}`);
}
