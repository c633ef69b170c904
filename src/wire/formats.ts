/** The formats that clients speak, by name. */
import { chatFormat } from "./chat/format.ts";
import { completionsFormat } from "./completions/format.ts";
import { embeddingsFormat, embedFormat } from "./embed/format.ts";
import type { ClientFormat, FormatKey, FormatName } from "./format.ts";
import { generateFormat } from "./generate/format.ts";
import { messagesCountFormat, messagesFormat } from "./messages/format.ts";
import { rerankFormat } from "./rerank/format.ts";
import { responsesCountFormat, responsesFormat } from "./responses/format.ts";

export const FORMATS: Readonly<Record<FormatName, ClientFormat>> = Object.freeze({
  chat: chatFormat,
  completions: completionsFormat,
  responses: responsesFormat,
  messages: messagesFormat,
  generate: generateFormat,
  embeddings: embeddingsFormat,
  embed: embedFormat,
  rerank: rerankFormat,
});

export function formatOf(key: FormatKey): ClientFormat {
  if (key === "messages_count") return messagesCountFormat;
  return key === "responses_count" ? responsesCountFormat : FORMATS[key];
}
