/** OpenAI's responses format as clients speak it. */

import { type ClientFormat, OPENAI_CLIENTS } from "../format.ts";
import { OPENAI_HABITS } from "../habits.ts";
import { opaquePaths } from "../json/opaque.ts";
import { responsesBackground } from "./background.ts";
import { responsesErrorEvent } from "./errors.ts";
import { failedEvents } from "./failed.ts";
import { responsesHistory } from "./history.ts";
import { takesMedia } from "./image-item.ts";
import { responsesNeutral } from "./neutral-request.ts";
import { promptTexts, type ResponsesRequest, readResponsesCount, readResponsesRequest } from "./request.ts";
import { responsesCountSplice, responsesSplice } from "./splice.ts";
import { writeResponsesReply } from "./write-reply.ts";
import { ResponsesStreamWriter } from "./writer.ts";

/** Some clients send tools in the shape of other formats. */
const CARRIES = opaquePaths([
  ["tools", "*", "parameters"],
  ["tools", "*", "input_schema"],
  ["tools", "*", "function", "parameters"],
  ["tools", "*", "tools", "*", "parameters"],
  ["input", "*", "tools", "*", "parameters"],
  ["input", "*", "tools", "*", "tools", "*", "parameters"],
  ["input", "*", "arguments"],
  ["input", "*", "action"],
  ["input", "*", "operation"],
  ["input", "*", "input"],
  ["text", "format", "schema"],
]);

export const responsesFormat: ClientFormat<ResponsesRequest> = {
  ...OPENAI_CLIENTS,
  name: "responses",
  key: "responses",
  habits: { ...OPENAI_HABITS, featuresHeader: "openai-beta" },
  task: "generate",
  idPrefix: "resp_",
  promptAt: "/input",
  read: readResponsesRequest,
  promptTexts,
  history: responsesHistory,
  background: responsesBackground,
  splice: { dialect: "responses", passage: responsesSplice },
  generation: {
    carries: CARRIES,
    takesMedia,
    neutral: responsesNeutral,
    writeReply: writeResponsesReply,
    streamWriter: (request, identity) => new ResponsesStreamWriter(request, identity),
  },
  errorEvent: responsesErrorEvent,
  failedEvents,
};

/** What `POST /v1/responses/input_tokens` takes. */
export const responsesCountFormat: ClientFormat<ResponsesRequest> = {
  ...responsesFormat,
  key: "responses_count",
  habits: { ...responsesFormat.habits, countObject: "response.input_tokens" },
  read: readResponsesCount,
  splice: { dialect: "responses", passage: responsesCountSplice },
};
