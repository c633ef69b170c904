/** OpenAI's responses format as clients speak it. */
import { errorEnvelope } from "../../base/errors.ts";
import { type ClientFormat, OPENAI_HABITS } from "../format.ts";
import { KEEP_ALIVE } from "../neutral/sse.ts";
import { responsesErrorEvent } from "./errors.ts";
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
  errorEvent: responsesErrorEvent,
};
