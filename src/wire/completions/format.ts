/** The legacy completions format, `POST /v1/completions`: spliced to upstreams of the same dialect, else translated. */
import { type ClientFormat, OPENAI_CLIENTS } from "../format.ts";
import { NO_PATHS } from "../json/opaque.ts";
import { completionsNeutral } from "./neutral-request.ts";
import { type CompletionsRequest, promptTexts, readCompletionsRequest } from "./request.ts";
import { completionsSplice } from "./splice.ts";
import { writeCompletionsReply } from "./write-reply.ts";
import { CompletionsStreamWriter } from "./writer.ts";

export const completionsFormat: ClientFormat<CompletionsRequest> = {
  ...OPENAI_CLIENTS,
  name: "completions",
  key: "completions",
  task: "generate",
  idPrefix: "cmpl-",
  promptAt: "/prompt",
  read: readCompletionsRequest,
  promptTexts: promptTexts,
  splice: { dialect: "completions", passage: completionsSplice },
  generation: {
    carries: NO_PATHS,
    neutral: completionsNeutral,
    writeReply: (reply, _, identity, usage, svc) => writeCompletionsReply(reply, identity, usage, svc),
    streamWriter: ({ includeUsage }, identity) => new CompletionsStreamWriter(identity, includeUsage),
  },
};
