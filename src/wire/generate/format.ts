/** The native format: `POST /v1/svc/generate`. */
import { errorEnvelope } from "../../base/errors.ts";
import { type ClientFormat, OPENAI_CLIENTS } from "../format.ts";
import { opaquePaths } from "../json/opaque.ts";
import { sseEvent } from "../neutral/sse.ts";
import { generateNeutral } from "./neutral-request.ts";
import { promptTexts, readGenerateRequest } from "./request.ts";
import { takesMedia, writeGenerateReply } from "./write-reply.ts";
import { GenerateStreamWriter } from "./writer.ts";

const CARRIES = opaquePaths([
  ["tools", "*", "parameters"],
  ["format", "schema"],
]);

export const generateFormat: ClientFormat = {
  ...OPENAI_CLIENTS,
  name: "generate",
  key: "generate",
  task: "generate",
  idPrefix: "",
  promptAt: "/messages",
  read: readGenerateRequest,
  promptTexts: promptTexts,
  splice: undefined,
  generation: {
    carries: CARRIES,
    takesMedia,
    neutral: generateNeutral,
    writeReply: (reply, _, identity, usage, svc) => writeGenerateReply(reply, identity, usage, svc),
    streamWriter: (_, identity) => new GenerateStreamWriter(identity),
  },
  errorEvent: (error, requestId) => sseEvent("error", errorEnvelope(error, requestId)),
};
