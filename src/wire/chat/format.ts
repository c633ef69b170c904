/** Chat completions as a format that clients speak: spliced to upstreams of the same dialect, else translated. */

import { type ClientFormat, OPENAI_CLIENTS } from "../format.ts";
import { opaquePaths } from "../json/opaque.ts";
import { takesMedia } from "./media.ts";
import { chatNeutral } from "./neutral-request.ts";
import { type ChatRequest, promptTexts, readChatRequest } from "./request.ts";
import { chatSplice } from "./splice.ts";
import { writeChatReply } from "./write-reply.ts";
import { ChatStreamWriter } from "./writer.ts";

/** Some clients send arguments as the object itself, and tools in the shape of other formats. */
const CARRIES = opaquePaths([
  ["tools", "*", "function", "parameters"],
  ["tools", "*", "parameters"],
  ["tools", "*", "input_schema"],
  ["functions", "*", "parameters"],
  ["response_format", "json_schema", "schema"],
  ["messages", "*", "tool_calls", "*", "function", "arguments"],
  ["messages", "*", "function_call", "arguments"],
]);

export const chatFormat: ClientFormat<ChatRequest> = {
  ...OPENAI_CLIENTS,
  name: "chat",
  key: "chat",
  task: "generate",
  idPrefix: "chatcmpl-",
  promptAt: "/messages",
  read: readChatRequest,
  promptTexts,
  splice: { dialect: "chat", passage: chatSplice },
  generation: {
    carries: CARRIES,
    takesMedia,
    neutral: chatNeutral,
    writeReply: (reply, _request, identity, usage, svc) => writeChatReply(reply, identity, usage, svc),
    streamWriter: (request, identity) => new ChatStreamWriter(identity, request.includeUsage !== false),
  },
};
