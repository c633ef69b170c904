/**
 * The messages request as far as the gateway must understand it (Anthropic API reference, "Create a Message").
 * Everything else passes through unread, so the schemas are loose.
 */
import { z } from "zod";
import { contentOf, unread } from "../neutral/unread.ts";
import { svcReplySchema, svcSchema } from "../svc-schema.ts";

const block = z.looseObject({ type: z.string() });

const message = z.looseObject({
  role: unread(z.string().meta({ examples: ["user"] })).optional(),
  content: contentOf(block).meta({ examples: ["Hello"] }),
});

export const messagesRequestSchema = z.looseObject({
  model: z
    .string()
    .min(1)
    .meta({ examples: ["weir/sim-small"] }),
  /** 0 fills the prompt cache and generates nothing. */
  max_tokens: z
    .int()
    .nonnegative()
    .meta({ examples: [256] }),
  messages: z.array(message).min(1),
  system: unread(z.union([z.string(), z.array(block)])).optional(),
  stream: z.boolean().nullish(),
  temperature: unread(z.number()).optional(),
  top_p: unread(z.number()).optional(),
  top_k: unread(z.number()).optional(),
  stop_sequences: unread(z.array(z.string())).optional(),
  tools: z.array(unread(z.looseObject({}))).nullish(),
  tool_choice: unread(block).optional(),
  thinking: unread(block).optional(),
  output_config: unread(z.looseObject({ format: block.nullish(), effort: z.string().nullish() })).optional(),
  /** The beta's name of `output_config.format`. */
  output_format: unread(block).optional(),
  metadata: unread(z.looseObject({})).optional(),
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
    messages.every(isUsualMessage) &&
    Number.isSafeInteger(bound) &&
    (bound as number) >= 0 &&
    (body.stream === undefined || typeof body.stream === "boolean") &&
    (tools === undefined || Array.isArray(tools))
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isUsualMessage = (value: unknown): boolean =>
  isObject(value) &&
  (typeof value.content === "string" || value.content == null || typeof value.content === "object");

/** The answer's shape, for the OpenAPI document. */
export const messagesReplySchema = z.looseObject({
  id: z.string(),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string(),
  content: z.array(block),
  stop_reason: z.string().nullable(),
  stop_sequence: z.string().nullable(),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
  svc: svcReplySchema,
});
