/** Chat completions as an upstream's dialect. */
import type { GenerationDialect } from "../format.ts";
import { opaquePaths } from "../json/opaque.ts";
import { readChatReply } from "./read-reply.ts";
import { ChatStreamReader } from "./reader.ts";
import { chatRestating } from "./restating.ts";
import { writeChatRequest } from "./write-request.ts";

/** Some servers send arguments as the object itself. */
const CARRIES = opaquePaths([
  ["choices", "*", "message", "tool_calls", "*", "function", "arguments"],
  ["choices", "*", "message", "function_call", "arguments"],
]);

export const chatDialect: GenerationDialect = {
  name: "chat",
  carries: CARRIES,
  takesOnlyData: ["document", "audio"],
  writeRequest: writeChatRequest,
  readReply: readChatReply,
  streamReader: (maxEventBytes) => new ChatStreamReader(maxEventBytes),
  restating: chatRestating,
};
