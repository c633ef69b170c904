/** Anthropic messages as a format of clients. */
import type { ClientFormat } from "../format.ts";
import { opaquePaths } from "../json/opaque.ts";
import { sseEvent } from "../neutral/sse.ts";
import { messagesErrorBody, messagesErrorEvent, messagesErrorWords } from "./errors.ts";
import { messagesNeutral } from "./neutral-request.ts";
import { type MessagesRequest, promptTexts, readMessagesCount, readMessagesRequest } from "./request.ts";
import { messagesCountSplice, messagesSplice } from "./splice.ts";
import { writeMessagesReply } from "./write-reply.ts";
import { MessagesStreamWriter } from "./writer.ts";

const CARRIES = opaquePaths([
  ["tools", "*", "input_schema"],
  ["messages", "*", "content", "*", "input"],
  ["output_config", "format", "schema"],
  ["output_format", "schema"],
]);

export const messagesFormat: ClientFormat<MessagesRequest> = {
  name: "messages",
  key: "messages",
  habits: {
    sendsApiKey: true,
    featuresHeader: "anthropic-beta",
    ratePrefix: "anthropic-ratelimit",
    readsBareCounts: true,
    // Anthropic's `metadata` has only the user's id; OpenAI's may have anything.
    userMembers: ["metadata"],
  },
  errorSchema: "MessagesError",
  task: "generate",
  idPrefix: "msg_",
  promptAt: "/messages",
  keepAlive: sseEvent("ping", '{"type":"ping"}'),
  read: readMessagesRequest,
  promptTexts,
  splice: { dialect: "messages", passage: messagesSplice },
  generation: {
    carries: CARRIES,
    neutral: messagesNeutral,
    writeReply: (reply, _request, identity, usage, svc) => writeMessagesReply(reply, identity, usage, svc),
    streamWriter: (_request, identity) => new MessagesStreamWriter(identity),
  },
  errorBody: messagesErrorBody,
  errorWords: messagesErrorWords,
  errorEvent: messagesErrorEvent,
};

/** What `POST /v1/messages/count_tokens` takes. */
export const messagesCountFormat: ClientFormat<MessagesRequest> = {
  ...messagesFormat,
  key: "messages_count",
  read: readMessagesCount,
  splice: { dialect: "messages", passage: messagesCountSplice },
};
