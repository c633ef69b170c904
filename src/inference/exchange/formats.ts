/** The model calls of the gateway, by name: path, format, and documentation. Each is a POST by a key with the scope `inference`, some also by a person. */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import type { Group } from "../../base/operation/group.ts";
import { chatReplySchema, chatRequestSchema } from "../../wire/chat/schema.ts";
import { completionsReplySchema, completionsRequestSchema } from "../../wire/completions/schema.ts";
import {
  embeddingsReplySchema,
  embeddingsRequestSchema,
  embedReplySchema,
  embedRequestSchema,
} from "../../wire/embed/schema.ts";
import type { ClientFormat, FormatKey } from "../../wire/format.ts";
import { FORMATS } from "../../wire/formats.ts";
import { generateReplySchema, generateRequestSchema } from "../../wire/generate/schema.ts";
import { messagesCountFormat } from "../../wire/messages/format.ts";
import {
  messagesCountSchema,
  messagesReplySchema,
  messagesRequestSchema,
} from "../../wire/messages/schema.ts";
import { rerankReplySchema, rerankRequestSchema } from "../../wire/rerank/schema.ts";
import { responsesCountFormat } from "../../wire/responses/format.ts";
import {
  responsesCountReplySchema,
  responsesReplySchema,
  responsesRequestSchema,
} from "../../wire/responses/schema.ts";
import type { Inquiry } from "./inquiry/inquire.ts";

export interface CallKind {
  readonly operationId: string;
  readonly summary: string;
  readonly path: `/${string}`;
  /** Heading of the documentation. */
  readonly group: Group;
  readonly format: ClientFormat;
  /** Set if the route answers a question about a call and makes none. */
  readonly inquiry?: Inquiry;
  /** Set if people may ask it in a session, as their key of the playground would; the query then says for which project. */
  readonly query?: typeof ofPlayground;
  readonly request: z.ZodType;
  readonly reply: z.ZodType;
}

/** Which key of the playground a person asks for; a key has its project. */
const ofPlayground = z.object({
  project_id: z
    .string()
    .max(100)
    .optional()
    .describe("In a session: the project that the call would be of. A key has its own."),
  environment: z
    .enum(["live", "test"])
    .optional()
    .describe("In a session. Default: live, but test in a test project."),
});

export type CallName = FormatKey | "count_tokens" | "dry_run";

export const CALLS: Readonly<Record<CallName, CallKind>> = {
  chat: {
    operationId: "createChatCompletion",
    summary: "Chat completion, whole or streamed",
    path: "/v1/chat/completions",
    group: "Inference",
    format: FORMATS.chat,
    request: chatRequestSchema,
    reply: chatReplySchema,
  },
  completions: {
    operationId: "createCompletion",
    summary: "Text completion, whole or streamed",
    path: "/v1/completions",
    group: "Inference",
    format: FORMATS.completions,
    request: completionsRequestSchema,
    reply: completionsReplySchema,
  },
  responses: {
    operationId: "createResponse",
    summary: "Response with typed items, whole or streamed",
    path: "/v1/responses",
    group: "Inference",
    format: FORMATS.responses,
    request: responsesRequestSchema,
    reply: responsesReplySchema,
  },
  messages: {
    operationId: "createMessage",
    summary: "Message, whole or streamed",
    path: "/v1/messages",
    group: "Inference",
    format: FORMATS.messages,
    request: messagesRequestSchema,
    reply: messagesReplySchema,
  },
  generate: {
    operationId: "generate",
    summary: "Generation in the native format, whole or streamed",
    path: "/v1/svc/generate",
    group: "Native inference",
    format: FORMATS.generate,
    request: generateRequestSchema,
    reply: generateReplySchema,
  },
  embeddings: {
    operationId: "createEmbeddings",
    summary: "Embeddings",
    path: "/v1/embeddings",
    group: "Inference",
    format: FORMATS.embeddings,
    request: embeddingsRequestSchema,
    reply: embeddingsReplySchema,
  },
  embed: {
    operationId: "embed",
    summary: "Embeddings in the native format",
    path: "/v1/svc/embed",
    group: "Native inference",
    format: FORMATS.embed,
    request: embedRequestSchema,
    reply: embedReplySchema,
  },
  rerank: {
    operationId: "rerank",
    summary: "Documents ranked by relevance to a query",
    path: "/v1/svc/rerank",
    group: "Native inference",
    format: FORMATS.rerank,
    request: rerankRequestSchema,
    reply: rerankReplySchema,
  },
  messages_count: {
    operationId: "countMessageTokens",
    summary: "Tokens of a message's prompt",
    path: "/v1/messages/count_tokens",
    group: "Inference",
    format: messagesCountFormat,
    inquiry: "count_tokens",
    request: messagesCountSchema,
    reply: z.looseObject({
      input_tokens: z.int().describe("Tokens of the prompt."),
      source: z
        .literal("estimated")
        .optional()
        .describe("Where no provider of the model counts: the number is an estimate."),
    }),
  },
  responses_count: {
    operationId: "countResponseTokens",
    summary: "Tokens of a response's prompt",
    path: "/v1/responses/input_tokens",
    group: "Inference",
    format: responsesCountFormat,
    inquiry: "count_tokens",
    request: responsesRequestSchema,
    reply: responsesCountReplySchema,
  },
  count_tokens: {
    operationId: "countTokens",
    summary: "Tokens of a native prompt, and how they were counted",
    path: "/v1/svc/count_tokens",
    group: "Native inference",
    format: FORMATS.generate,
    inquiry: "count_tokens",
    query: ofPlayground,
    request: generateRequestSchema,
    reply: z.object({
      input_tokens: z.int().describe("Tokens of the prompt."),
      source: z
        .enum(["exact", "provider", "estimated"])
        .describe("Who counted: the provider, or the gateway by a tokenizer or an estimate."),
      tokenizer: z.string().describe("The tokenizer that counted; empty where the provider counted."),
    }),
  },
  dry_run: {
    operationId: "dryRun",
    summary: "The plan and the reservation of a call that is not made",
    path: "/v1/svc/dry_run",
    group: "Native inference",
    format: FORMATS.generate,
    inquiry: "dry_run",
    query: ofPlayground,
    request: generateRequestSchema,
    reply: z.object({
      plan: z
        .array(
          z.object({
            endpoint_id: field.endpointId,
            provider: field.providerId,
            score: z.number().describe("What the order goes by; higher is better."),
            reason: z.string().describe("Why it stands there."),
          }),
        )
        .describe("The endpoints that would be asked, in order."),
      excluded: field.excluded,
      trace: field.trace,
      warnings: field.warnings,
      reserve_micro: z.int().describe("What would be held, micro-USD."),
      price_version: field.priceVersion,
    }),
  },
};
