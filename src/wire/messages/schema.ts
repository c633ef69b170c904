/**
 * The messages request as far as the gateway must understand it (Anthropic API reference, "Create a Message").
 * Everything else passes through unread, so the schemas are loose.
 */
import { z } from "zod";
import { svcReplySchema, svcSchema } from "../svc-schema.ts";

const block = z.looseObject({ type: z.string() });
const content = z.union([z.string(), z.array(block)]);

const message = z.looseObject({
  role: z.string().meta({ examples: ["user"] }),
  content: content.meta({ examples: ["Hello"] }),
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
  system: content.nullish(),
  stream: z.boolean().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.number().nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  tools: z.array(z.looseObject({})).nullish(),
  tool_choice: block.nullish(),
  thinking: block.nullish(),
  output_config: z.looseObject({ format: block.nullish(), effort: z.string().nullish() }).nullish(),
  /** The name that `output_config.format` had as a beta. */
  output_format: block.nullish(),
  metadata: z.looseObject({}).nullish(),
  svc: svcSchema.optional(),
});

export type MessagesRequestBody = z.output<typeof messagesRequestSchema>;

/** Of `POST /v1/messages/count_tokens`: what would be asked, without how long the answer may be. */
export const messagesCountSchema = messagesRequestSchema.partial({ max_tokens: true });

export type MessagesCountBody = z.output<typeof messagesCountSchema>;

/**
 * True for the usual request, and only where the schema accepts it as it stands: told in a fraction of the time that
 * the schema takes, which copies the whole body. False says nothing: the schema must be asked, for its errors too.
 */
export function isUsualRequest(body: unknown): body is MessagesRequestBody {
  if (!isObject(body)) return false;
  if (body.svc !== undefined || typeof body.model !== "string" || body.model === "") return false;
  const { messages, system, tools, max_tokens: bound, stop_sequences: stop, output_config: config } = body;
  return (
    Array.isArray(messages) &&
    messages.length > 0 &&
    messages.every(isUsualMessage) &&
    Number.isSafeInteger(bound) &&
    (bound as number) >= 0 &&
    (system === undefined || isContent(system)) &&
    (body.stream === undefined || typeof body.stream === "boolean") &&
    isNumberOrAbsent(body.temperature) &&
    isNumberOrAbsent(body.top_p) &&
    isNumberOrAbsent(body.top_k) &&
    (stop === undefined || (Array.isArray(stop) && stop.every((text) => typeof text === "string"))) &&
    (tools === undefined || (Array.isArray(tools) && tools.every(isObject))) &&
    isBlockOrAbsent(body.tool_choice) &&
    isBlockOrAbsent(body.thinking) &&
    config === undefined &&
    body.output_format === undefined &&
    (body.metadata === undefined || isObject(body.metadata))
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isBlock = (value: unknown): boolean => isObject(value) && typeof value.type === "string";

const isBlockOrAbsent = (value: unknown): boolean => value === undefined || isBlock(value);

const isNumberOrAbsent = (value: unknown): boolean => value === undefined || Number.isFinite(value);

const isContent = (value: unknown): boolean =>
  typeof value === "string" || (Array.isArray(value) && value.every(isBlock));

const isUsualMessage = (value: unknown): boolean =>
  isObject(value) && typeof value.role === "string" && isContent(value.content);

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
