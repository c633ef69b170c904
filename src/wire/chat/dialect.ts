/** Chat completions as an upstream's dialect. */
import type { GenerationDialect } from "../format.ts";
import { readChatReply } from "./read-reply.ts";
import { ChatStreamReader } from "./reader.ts";
import { writeChatRequest } from "./write-request.ts";

export const chatDialect: GenerationDialect = {
  name: "chat",
  writeRequest: writeChatRequest,
  readReply: readChatReply,
  streamReader: (maxEventBytes) => new ChatStreamReader(maxEventBytes),
};
