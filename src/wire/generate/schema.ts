/**
 * The native request and answer (specification, "Native inference", `svc-version` 2026-09-09). It is ours, so what is not
 * known is refused; its parts are those of the neutral contract in the words of the wire.
 */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import * as call from "../call-fields.ts";
import { svcSchema } from "../svc-schema.ts";

const cache = z
  .strictObject({ ttl: z.enum(["5m", "1h"]).optional().describe("For how long.") })
  .describe("The prompt up to here is to be cached by the provider.");

const seal = z
  .strictObject({
    by: z.enum(["anthropic", "google", "openai"]).describe("Whose it is."),
    data: z.string().describe("As it came."),
  })
  .describe("What only its maker can read: send it back as it came.");

/** One of `data` (base64, with `media_type`), `url` and `file_id`. */
const media = {
  data: z.string().optional().describe("The bytes, base64."),
  media_type: z.string().max(100).optional().describe("Media type of the bytes: `image/png`."),
  url: z.string().optional().describe("Where the provider can read it."),
  file_id: z.string().optional().describe("The provider's name for an uploaded file."),
};

const textField = z.string().describe("The text.");

const text = z.strictObject({
  type: call.kindOf("text"),
  text: textField.meta({ examples: ["Hello"] }),
  cache: cache.optional(),
  seal: seal.optional(),
  citations: z
    .array(z.looseObject({ type: z.enum(["url", "document"]).describe("What is quoted.") }))
    .optional()
    .describe("Where it is quoted from."),
});
const image = z.strictObject({
  type: call.kindOf("image"),
  ...media,
  detail: z.string().optional().describe("How closely the image is looked at."),
  cache: cache.optional(),
  seal: seal.optional(),
});
const document = z.strictObject({
  type: call.kindOf("document"),
  ...media,
  text: textField.optional(),
  name: z.string().optional().describe("The document's name."),
  context: z.string().optional().describe("What the document is about."),
  citations: z.boolean().optional().describe("Whether it may be quoted."),
  cache: cache.optional(),
});
const recording = z.strictObject({
  type: z.enum(["audio", "video"]).describe("What is recorded."),
  ...media,
});
const toolName = z.string().min(1).describe("The tool's name.");
const toolCall = z.strictObject({
  type: call.kindOf("tool_call"),
  id: z.string().min(1).describe("The call's id."),
  name: toolName,
  arguments: z.string().describe("JSON text of an object."),
  seal: seal.optional(),
  cache: cache.optional(),
});
const toolResult = z.strictObject({
  type: call.kindOf("tool_result"),
  id: z.string().min(1).describe("Id of the call."),
  name: z.string().optional().describe("The tool's name."),
  content: z
    .union([z.string(), z.array(z.discriminatedUnion("type", [text, image, document]))])
    .describe("What the tool returned: a text, or parts of several kinds."),
  is_error: z.boolean().optional().describe("The tool failed."),
  cache: cache.optional(),
});
const reasoning = z.strictObject({
  type: call.kindOf("reasoning"),
  text: textField,
  summary: z.boolean().optional().describe("It is a summary of the reasoning."),
  redacted: z.boolean().optional().describe("The provider withholds it."),
  seal: seal.optional(),
});
const refusal = z.strictObject({ type: call.kindOf("refusal"), text: textField });

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
  role: z
    .enum(["system", "user", "assistant"])
    .describe("Who says it.")
    .meta({ examples: ["user"] }),
  content: z
    .union([z.string(), z.array(part)])
    .describe(call.CONTENT)
    .meta({ examples: ["Hello"] }),
});

const generation = z.strictObject({
  max_tokens: call.maxTokens.optional(),
  temperature: call.temperature.optional(),
  top_p: call.topP.optional(),
  top_k: z.int().optional().describe(call.TOP_K),
  stop: call.stop.optional(),
  seed: call.seed.optional(),
  frequency_penalty: call.frequencyPenalty.optional(),
  presence_penalty: call.presencePenalty.optional(),
  logit_bias: call.logitBias.optional(),
  logprobs: call.logprobs.optional(),
  candidates: call.choices.optional(),
  reasoning: z
    .strictObject({
      effort: z
        .enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"])
        .optional()
        .describe("How much the model reasons."),
      budget_tokens: z.int().positive().optional().describe("The model reasons with so many tokens at most."),
      adaptive: z.boolean().optional().describe("The model itself decides how much it reasons."),
      show: z.boolean().optional().describe("The reasoning is part of the answer."),
    })
    .optional()
    .describe(call.REASONING),
  verbosity: z.string().optional().describe("How long-winded the answer is, where the model knows it."),
  service_tier: z.string().optional().describe("The provider's class of service."),
  cache_key: z.string().optional().describe("Requests with equal keys are likely to share a cache."),
});

const tool = z.strictObject({
  name: toolName,
  description: z.string().optional().describe("What it is for, told to the model."),
  parameters: z.record(z.string(), z.unknown()).optional().describe("JSON schema of an object."),
  strict: z.boolean().optional().describe("The model keeps to the schema of the parameters."),
  cache: cache.optional(),
});

export const generateRequestSchema = z.strictObject({
  model: call.model("weir/sim-small"),
  messages: call.messagesOf(message),
  stream: call.stream.optional(),
  generation: generation.optional().describe("How the answer is made."),
  tools: z.array(tool).optional().describe(call.TOOLS),
  tool_choice: z
    .union([z.enum(["auto", "none", "required"]), z.strictObject({ name: toolName })])
    .optional()
    .describe(call.TOOL_CHOICE),
  parallel_tools: call.parallelTools.optional(),
  format: z
    .discriminatedUnion("type", [
      z.strictObject({ type: call.kindOf("text") }),
      z.strictObject({ type: call.kindOf("json") }),
      z.strictObject({
        type: call.kindOf("json_schema"),
        name: z.string().optional().describe("The schema's name, told to the model."),
        description: z.string().optional().describe("What it is for, told to the model."),
        schema: z.record(z.string(), z.unknown()).describe("JSON schema of the answer."),
        strict: z.boolean().optional().describe("The model keeps to the schema."),
      }),
    ])
    .optional()
    .describe(call.FORMAT),
  ...svcSchema.shape,
});

export type GenerateBody = z.output<typeof generateRequestSchema>;

export const generateReplySchema = z.object({
  id: field.id,
  model: field.modelId,
  candidates: z
    .array(
      z.looseObject({
        index: call.index,
        content: z.array(call.typed).describe(call.CONTENT),
        stop: z.looseObject({ reason: field.stopReason }).describe("Why the answer ended."),
      }),
    )
    .describe(call.ANSWERS),
  usage: z.object(field.tokens(z.int())).describe(call.USAGE),
  cost: call.cost,
  provider_meta: call.resolved,
  warnings: field.warnings,
});
