/** Anthropic messages as a dialect of upstreams. */
import type { GenerationDialect } from "../format.ts";
import { opaquePaths } from "../json/opaque.ts";
import { readMessagesReply } from "./read-reply.ts";
import { MessagesStreamReader } from "./reader.ts";
import { messagesRestating } from "./restating.ts";
import { writeMessagesRequest } from "./write-request.ts";

const CARRIES = opaquePaths([["content", "*", "input"]]);

export const messagesDialect: GenerationDialect = {
  name: "messages",
  carries: CARRIES,
  writeRequest: writeMessagesRequest,
  readReply: readMessagesReply,
  streamReader: (maxEventBytes) => new MessagesStreamReader(maxEventBytes),
  restating: messagesRestating,
};
