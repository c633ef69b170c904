/** Chat completions as a format that clients speak: spliced to upstreams of the same dialect, else translated. */
import { errorEnvelope } from "../../errors.ts";
import { type ClientFormat, type GenerationFormat, OPENAI_HABITS, type Passage } from "../format.ts";
import { KEEP_ALIVE, sseData } from "../sse.ts";
import { chatNeutral } from "./neutral-request.ts";
import { readSplicedChat, writeSplicedChat } from "./reply.ts";
import { type ChatRequest, promptTexts, readChatRequest, spliceChatRequest } from "./request.ts";
import { ChatStream } from "./stream.ts";
import { writeChatReply } from "./write-reply.ts";
import { ChatStreamWriter } from "./writer.ts";

const includesUsage = ({ includeUsage }: ChatRequest): boolean => includeUsage !== false;

const passage: Passage<ChatRequest> = {
  write: spliceChatRequest,
  whole(body, _request, identity) {
    const reply = readSplicedChat(body);
    return {
      facts: reply.facts,
      error: reply.error,
      write: (usage, svc) => writeSplicedChat(reply, identity, usage, svc),
    };
  },
  stream(request, { id, model, maxEventBytes, maxCaptureBytes }) {
    const { choices } = request.facts;
    const includeUsage = includesUsage(request);
    return new ChatStream({ id, model, includeUsage, choices, maxEventBytes, maxCaptureBytes });
  },
};

const generation: GenerationFormat<ChatRequest> = {
  neutral: chatNeutral,
  writeReply: (reply, _request, identity, usage, svc) => writeChatReply(reply, identity, usage, svc),
  streamWriter: (request, identity) => new ChatStreamWriter(identity, includesUsage(request)),
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
  splice: { dialect: "chat", passage },
  generation,
  errorBody: errorEnvelope,
  errorEvent: (error, requestId) => sseData(errorEnvelope(error, requestId)),
};
