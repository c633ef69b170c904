/**
 * The messages request as far as the gateway must understand it (Anthropic API reference, "Create a Message").
 * Everything else passes through unread, so the schemas are loose.
 */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import * as call from "../call-fields.ts";
import { isObject } from "../neutral/reader.ts";
import { hasUsualContent, unread } from "../neutral/unread.ts";
import { svcReplySchema, svcSchema } from "../svc-schema.ts";

const block = call.typed;

export const messagesRequestSchema = z.looseObject({
  model: call.model("weir/sim-small"),
  max_tokens: call.maxTokens.meta({ examples: [256] }),
  messages: call.messagesOf(call.message),
  system: unread(z.union([z.string(), z.array(block)]))
    .optional()
    .describe("What the model is told before the conversation."),
  stream: call.stream.nullish(),
  temperature: unread(call.temperature).optional(),
  top_p: unread(call.topP).optional(),
  top_k: unread(z.number().describe(call.TOP_K)).optional(),
  stop_sequences: unread(z.array(z.string()).describe(call.STOP)).optional(),
  tools: z
    .array(unread(z.looseObject({})))
    .nullish()
    .describe(call.TOOLS),
  tool_choice: unread(block).optional().describe(call.TOOL_CHOICE),
  thinking: unread(block).optional().describe("Whether and how much the model reasons before it answers."),
  output_config: unread(
    z.looseObject({
      format: block.nullish().describe("The schema of the answer."),
      effort: z.string().nullish().describe("How much the model reasons."),
    }),
  )
    .optional()
    .describe("Shape and effort of the answer."),
  output_format: unread(block).optional().describe("The name that `output_config.format` had as a beta."),
  metadata: unread(z.looseObject({}))
    .optional()
    .describe("What you want to find the call by. It is not sent to providers of other formats."),
  svc: svcSchema.optional(),
});

export type MessagesRequestBody = z.output<typeof messagesRequestSchema>;

/** The body of `POST /v1/messages/count_tokens`: a messages request that needs no `max_tokens`. */
export const messagesCountSchema = messagesRequestSchema.partial({ max_tokens: true });

export type MessagesCountBody = z.output<typeof messagesCountSchema>;

/**
 * True only for requests that the schema accepts unchanged, in a fraction of the time that the schema takes, which copies
 * the whole body. If false, the schema decides, and gives the errors.
 */
export function isUsualRequest(body: unknown): body is MessagesRequestBody {
  if (!isObject(body)) return false;
  if (body.svc !== undefined || typeof body.model !== "string" || body.model === "") return false;
  const { messages, tools, max_tokens: bound } = body;
  return (
    Array.isArray(messages) &&
    messages.length > 0 &&
    messages.every(hasUsualContent) &&
    Number.isSafeInteger(bound) &&
    (bound as number) >= 0 &&
    (body.stream === undefined || typeof body.stream === "boolean") &&
    (tools === undefined || Array.isArray(tools))
  );
}

/** The answer's shape, for the OpenAPI document. */
export const messagesReplySchema = z.looseObject({
  id: field.id,
  type: call.kindOf("message"),
  role: z.literal("assistant").describe("Always `assistant`."),
  model: field.modelId,
  content: z.array(block).describe(call.CONTENT),
  stop_reason: call.finishReason,
  stop_sequence: z.string().nullable().describe("The text that ended the answer."),
  usage: z
    .looseObject({
      input_tokens: z.int().describe("Tokens of the prompt that were not read from or written to a cache."),
      output_tokens: call.outputTokens,
    })
    .describe(call.USAGE),
  svc: svcReplySchema,
});
