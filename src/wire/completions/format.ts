/** The legacy completions format: `POST /v1/completions`. */
import { errorEnvelope } from "../../base/errors.ts";
import { type ClientFormat, OPENAI_HABITS } from "../format.ts";
import { KEEP_ALIVE, sseData } from "../neutral/sse.ts";
import { completionsNeutral } from "./neutral-request.ts";
import { type CompletionsRequest, promptTexts, readCompletionsRequest } from "./request.ts";
import { writeCompletionsReply } from "./write-reply.ts";
import { CompletionsStreamWriter } from "./writer.ts";

export const completionsFormat: ClientFormat<CompletionsRequest> = {
  name: "completions",
  key: "completions",
  habits: OPENAI_HABITS,
  errorSchema: "Error",
  task: "generate",
  idPrefix: "cmpl-",
  promptAt: "/prompt",
  keepAlive: KEEP_ALIVE,
  read: readCompletionsRequest,
  promptTexts: promptTexts,
  splice: undefined,
  generation: {
    neutral: completionsNeutral,
    writeReply: (reply, _, identity, usage, svc) => writeCompletionsReply(reply, identity, usage, svc),
    streamWriter: ({ includeUsage }, identity) => new CompletionsStreamWriter(identity, includeUsage),
  },
  errorBody: errorEnvelope,
  errorEvent: (error, requestId) => sseData(errorEnvelope(error, requestId)),
};
