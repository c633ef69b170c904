/**
 * The chat-completions request as far as the gateway must understand it (OpenAI API reference, "Create chat
 * completion"). Everything else passes through unread, so the schemas are loose.
 */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import * as call from "../call-fields.ts";
import { isObject } from "../neutral/reader.ts";
import { hasUsualContent, unread } from "../neutral/unread.ts";
import { svcReplySchema, svcSchema } from "../svc-schema.ts";

export const chatRequestSchema = z.looseObject({
  model: call.model("weir/sim-small"),
  messages: call.messagesOf(call.message),
  stream: call.stream.nullish(),
  stream_options: call.streamOptions,
  max_tokens: call.maxTokens.nullish(),
  max_completion_tokens: z
    .int()
    .nonnegative()
    .nullish()
    .describe("As `max_tokens`; the larger of both is held"),
  n: call.choices.nullish(),
  /** An option of vLLM and others; if present, at least `n`. */
  best_of: z
    .int()
    .min(1)
    .max(128)
    .nullish()
    .describe("So many answers are made, of which the provider keeps the best; all are billed."),
  temperature: unread(call.temperature).optional(),
  top_p: unread(call.topP).optional(),
  stop: unread(call.stop).optional(),
  tools: z.array(unread(call.typed)).nullish().describe(call.TOOLS),
  parallel_tool_calls: call.parallelTools.nullish(),
  response_format: call.format,
  user: unread(call.user).optional(),
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
    messages.every(hasUsualContent) &&
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

const isFlag = (value: unknown): boolean => value === undefined || typeof value === "boolean";

const isCountWithin = (most: number, value: unknown): boolean =>
  value === undefined || (Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= most);

/** The answer's shape, for the OpenAPI document. */
export const chatReplySchema = z.looseObject({
  id: field.id,
  object: field.objectOf("chat.completion"),
  created: call.created,
  model: field.modelId,
  choices: z
    .array(
      z.looseObject({
        index: call.index,
        message: z
          .looseObject({
            role: z.string().describe(call.ROLE),
            content: z.string().nullish().describe(call.CONTENT),
          })
          .describe("The answer."),
        finish_reason: call.finishReason,
      }),
    )
    .describe(call.ANSWERS),
  usage: call.completionUsage,
  svc: svcReplySchema,
});
