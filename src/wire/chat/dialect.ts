/** Chat completions as an upstream's dialect. */
import type { GenerationDialect } from "../format.ts";
import { readChatAnswer } from "./read-reply.ts";
import { ChatStreamReader } from "./reader.ts";
import { writeChatBody } from "./write-request.ts";

export const chatDialect: GenerationDialect = {
  name: "chat",
  writeRequest: writeChatBody,
  readReply: readChatAnswer,
  streamReader: (maxEventBytes) => new ChatStreamReader(maxEventBytes),
};
