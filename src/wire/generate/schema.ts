/**
 * The native request and answer (specification, "Native inference", `svc-version` 2026-09-09). It is ours, so what is not
 * known is refused; its parts are those of the neutral contract in the words of the wire.
 */
import { z } from "zod";
import { svcSchema } from "../svc-schema.ts";

const cache = z.strictObject({ ttl: z.enum(["5m", "1h"]).optional() });

/** What only its maker can read: sent back as it came. */
const seal = z.strictObject({ by: z.enum(["anthropic", "google", "openai"]), data: z.string() });

/** One of `data` (base64, with `media_type`), `url` and `file_id`. */
const media = {
  data: z.string().optional(),
  media_type: z.string().max(100).optional(),
  url: z.string().optional(),
  file_id: z.string().optional(),
};

const text = z.strictObject({
  type: z.literal("text"),
  text: z.string().meta({ examples: ["Hello"] }),
  cache: cache.optional(),
  seal: seal.optional(),
  citations: z.array(z.looseObject({ type: z.enum(["url", "document"]) })).optional(),
});
const image = z.strictObject({
  type: z.literal("image"),
  ...media,
  detail: z.string().optional(),
  cache: cache.optional(),
});
const document = z.strictObject({
  type: z.literal("document"),
  ...media,
  text: z.string().optional(),
  name: z.string().optional(),
  context: z.string().optional(),
  citations: z.boolean().optional(),
  cache: cache.optional(),
});
const recording = z.strictObject({ type: z.enum(["audio", "video"]), ...media });
const toolCall = z.strictObject({
  type: z.literal("tool_call"),
  id: z.string().min(1),
  name: z.string().min(1),
  arguments: z.string().describe("JSON text of an object."),
  seal: seal.optional(),
  cache: cache.optional(),
});
const toolResult = z.strictObject({
  type: z.literal("tool_result"),
  id: z.string().min(1).describe("Id of the call."),
  name: z.string().optional(),
  content: z.union([z.string(), z.array(z.discriminatedUnion("type", [text, image, document]))]),
  is_error: z.boolean().optional(),
  cache: cache.optional(),
});
const reasoning = z.strictObject({
  type: z.literal("reasoning"),
  text: z.string(),
  summary: z.boolean().optional(),
  redacted: z.boolean().optional(),
  seal: seal.optional(),
});
const refusal = z.strictObject({ type: z.literal("refusal"), text: z.string() });

const part = z.discriminatedUnion("type", [
  text,
  image,
  document,
  recording,
  toolCall,
  toolResult,
  reasoning,
  refusal,
]);

export type NativePart = z.output<typeof part>;

const message = z.strictObject({
  role: z.enum(["system", "user", "assistant"]).meta({ examples: ["user"] }),
  content: z.union([z.string(), z.array(part)]).meta({ examples: ["Hello"] }),
});

const tokens = z.int().positive();

const generation = z.strictObject({
  max_tokens: tokens.optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  top_k: z.int().optional(),
  stop: z.union([z.string(), z.array(z.string())]).optional(),
  seed: z.int().optional(),
  frequency_penalty: z.number().optional(),
  presence_penalty: z.number().optional(),
  logit_bias: z.record(z.string(), z.number()).optional(),
  logprobs: z.int().min(0).max(20).optional().describe("Alternatives told of each token."),
  candidates: z.int().min(1).max(128).optional(),
  reasoning: z
    .strictObject({
      effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).optional(),
      budget_tokens: z.int().positive().optional(),
      adaptive: z.boolean().optional(),
      show: z.boolean().optional(),
    })
    .optional(),
  verbosity: z.string().optional(),
  service_tier: z.string().optional(),
  cache_key: z.string().optional(),
});

const tool = z.strictObject({
  name: z.string().min(1),
  description: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()).optional().describe("JSON schema of an object."),
  strict: z.boolean().optional(),
  cache: cache.optional(),
});

export const generateRequestSchema = z.strictObject({
  model: z
    .string()
    .min(1)
    .meta({ examples: ["weir/sim-small"] }),
  messages: z.array(message).min(1),
  stream: z.boolean().optional(),
  generation: generation.optional(),
  tools: z.array(tool).optional(),
  tool_choice: z
    .union([z.enum(["auto", "none", "required"]), z.strictObject({ name: z.string().min(1) })])
    .optional(),
  parallel_tools: z.boolean().optional(),
  format: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("text") }),
      z.strictObject({ type: z.literal("json") }),
      z.strictObject({
        type: z.literal("json_schema"),
        name: z.string().optional(),
        description: z.string().optional(),
        schema: z.record(z.string(), z.unknown()),
        strict: z.boolean().optional(),
      }),
    ])
    .optional(),
  ...svcSchema.shape,
});

export type GenerateBody = z.output<typeof generateRequestSchema>;

const usage = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cache_read_tokens: z.int(),
  cache_write_tokens: z.int(),
  reasoning_tokens: z.int(),
});

export const generateReplySchema = z.object({
  id: z.string(),
  model: z.string(),
  candidates: z.array(
    z.looseObject({
      index: z.int(),
      content: z.array(z.looseObject({ type: z.string() })),
      stop: z.looseObject({ reason: z.string() }),
    }),
  ),
  usage,
  cost: z.looseObject({ total_micro_usd: z.int() }),
  provider_meta: z.object({ provider: z.string(), endpoint_id: z.string() }),
  warnings: z.array(z.string()),
});
