/**
 * The chat-completions request as far as the gateway must understand it (OpenAI API reference, "Create chat
 * completion"). Everything else passes through unread, so the schemas are loose.
 */
import { z } from "zod";
import { contentOf, unread } from "../neutral/unread.ts";
import { svcReplySchema, svcSchema } from "../svc-schema.ts";

const typed = z.looseObject({ type: z.string() });

const message = z.looseObject({
  role: unread(z.string().meta({ examples: ["user"] })).optional(),
  content: contentOf(typed).meta({ examples: ["Hello"] }),
});

const tokens = z.int().positive();

export const chatRequestSchema = z.looseObject({
  model: z
    .string()
    .min(1)
    .meta({ examples: ["weir/sim-small"] }),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: tokens.nullish(),
  max_completion_tokens: tokens.nullish(),
  n: z.int().min(1).max(128).nullish(),
  /** An option of vLLM and others; if present, at least `n`. */
  best_of: z.int().min(1).max(128).nullish(),
  temperature: unread(z.number()).optional(),
  top_p: unread(z.number()).optional(),
  stop: unread(z.union([z.string(), z.array(z.string())])).optional(),
  tools: z.array(unread(typed)).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: z.looseObject({ type: unread(z.string()).optional() }).nullish(),
  user: unread(z.string()).optional(),
  svc: svcSchema.optional(),
});

export type ChatRequestBody = z.output<typeof chatRequestSchema>;

/**
 * True only for requests that the schema accepts unchanged, in a fraction of the time that the schema takes, which copies
 * the whole body. If false, the schema decides, and gives the errors.
 */
export function isUsualRequest(body: unknown): body is ChatRequestBody {
  if (!isObject(body)) return false;
  if (body.svc !== undefined || typeof body.model !== "string" || body.model === "") return false;
  const { messages, tools, stream_options: options, response_format: format } = body;
  return (
    Array.isArray(messages) &&
    messages.length > 0 &&
    messages.every(isUsualMessage) &&
    isFlag(body.stream) &&
    (options === undefined || (isObject(options) && isFlag(options.include_usage))) &&
    isCountWithin(Number.MAX_SAFE_INTEGER, body.max_tokens) &&
    isCountWithin(Number.MAX_SAFE_INTEGER, body.max_completion_tokens) &&
    isCountWithin(128, body.n) &&
    isCountWithin(128, body.best_of) &&
    (tools === undefined || Array.isArray(tools)) &&
    isFlag(body.parallel_tool_calls) &&
    (format === undefined || isObject(format))
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isFlag = (value: unknown): boolean => value === undefined || typeof value === "boolean";

const isCountWithin = (most: number, value: unknown): boolean =>
  value === undefined || (Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= most);

const isUsualMessage = (value: unknown): boolean =>
  isObject(value) &&
  (typeof value.content === "string" || value.content == null || typeof value.content === "object");

/** The answer's shape, for the OpenAPI document. */
export const chatReplySchema = z.looseObject({
  id: z.string(),
  object: z.literal("chat.completion"),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      message: z.looseObject({ role: z.string(), content: z.string().nullish() }),
      finish_reason: z.string().nullable(),
    }),
  ),
  usage: z.looseObject({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
  }),
  svc: svcReplySchema,
});
