/** Chat completions as a format that clients speak: spliced to upstreams of the same dialect, else translated. */
import { errorEnvelope } from "../../base/errors.ts";
import { type ClientFormat, type GenerationFormat, OPENAI_HABITS } from "../format.ts";
import { KEEP_ALIVE, sseData } from "../neutral/sse.ts";
import { chatNeutral } from "./neutral-request.ts";
import { type ChatRequest, promptTexts, readChatRequest } from "./request.ts";
import { chatSplice } from "./splice.ts";
import { writeChatReply } from "./write-reply.ts";
import { ChatStreamWriter } from "./writer.ts";

const generation: GenerationFormat<ChatRequest> = {
  neutral: chatNeutral,
  writeReply: (reply, _request, identity, usage, svc) => writeChatReply(reply, identity, usage, svc),
  streamWriter: (request, identity) => new ChatStreamWriter(identity, request.includeUsage !== false),
};

export const chatFormat: ClientFormat<ChatRequest> = {
  name: "chat",
  key: "chat",
  habits: OPENAI_HABITS,
  errorSchema: "Error",
  task: "generate",
  idPrefix: "chatcmpl-",
  promptAt: "/messages",
  keepAlive: KEEP_ALIVE,
  read: readChatRequest,
  promptTexts,
  splice: { dialect: "chat", passage: chatSplice },
  generation,
  errorBody: errorEnvelope,
  errorEvent: (error, requestId) => sseData(errorEnvelope(error, requestId)),
};
