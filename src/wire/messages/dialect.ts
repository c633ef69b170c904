/** Anthropic messages as a dialect of upstreams. */
import type { GenerationDialect } from "../format.ts";
import { readMessagesReply } from "./read-reply.ts";
import { MessagesStreamReader } from "./reader.ts";
import { writeMessagesRequest } from "./write-request.ts";

export const messagesDialect: GenerationDialect = {
  name: "messages",
  writeRequest: writeMessagesRequest,
  readReply: readMessagesReply,
  streamReader: (maxEventBytes) => new MessagesStreamReader(maxEventBytes),
};
