/** The wire formats that model calls come in, as the documentation shows them. */
import type { z } from "zod";
import { chatReplySchema, chatRequestSchema } from "../wire/chat/schema.ts";

export interface Format {
  readonly operationId: string;
  readonly summary: string;
  readonly request: z.ZodType;
  readonly reply: z.ZodType;
}

export type FormatName = "chat";

export const FORMATS: Readonly<Record<FormatName, Format>> = {
  chat: {
    operationId: "createChatCompletion",
    summary: "Chat completion, whole or streamed",
    request: chatRequestSchema,
    reply: chatReplySchema,
  },
};
