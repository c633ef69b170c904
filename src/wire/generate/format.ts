/** The native format: `POST /v1/svc/generate`. */
import { errorEnvelope } from "../../base/errors.ts";
import { type ClientFormat, OPENAI_HABITS } from "../format.ts";
import { KEEP_ALIVE, sseEvent } from "../neutral/sse.ts";
import { generateNeutral } from "./neutral-request.ts";
import { promptTexts, readGenerateRequest } from "./request.ts";
import { writeGenerateReply } from "./write-reply.ts";
import { GenerateStreamWriter } from "./writer.ts";

export const generateFormat: ClientFormat = {
  name: "generate",
  key: "generate",
  habits: OPENAI_HABITS,
  errorSchema: "Error",
  task: "generate",
  idPrefix: "",
  promptAt: "/messages",
  keepAlive: KEEP_ALIVE,
  read: readGenerateRequest,
  promptTexts: promptTexts,
  splice: undefined,
  generation: {
    neutral: generateNeutral,
    writeReply: (reply, _, identity, usage, svc) => writeGenerateReply(reply, identity, usage, svc),
    streamWriter: (_, identity) => new GenerateStreamWriter(identity),
  },
  errorBody: errorEnvelope,
  errorEvent: (error, requestId) => sseEvent("error", errorEnvelope(error, requestId)),
};
