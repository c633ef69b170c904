/** The legacy completions request and answer (OpenAI API reference, "Completions"). */
import { z } from "zod";
import { svcReplySchema, svcSchema } from "../svc-schema.ts";

export const completionsRequestSchema = z.looseObject({
  model: z
    .string()
    .min(1)
    .meta({ examples: ["weir/sim-small"] }),
  prompt: z
    .union([z.string(), z.array(z.string()).length(1, "one prompt a request")], {
      error: "a prompt is a string; lists of prompts and of tokens are not offered",
    })
    .meta({ examples: ["Once upon a time"] }),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: z.int().positive().nullish(),
  n: z.int().min(1).max(128).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  seed: z.int().nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  logprobs: z.int().min(0).max(20).nullish(),
  user: z.string().nullish(),
  svc: svcSchema.optional(),
});

export type CompletionsBody = z.output<typeof completionsRequestSchema>;

export const completionsReplySchema = z.looseObject({
  id: z.string(),
  object: z.literal("text_completion"),
  created: z.int(),
  model: z.string(),
  choices: z.array(z.looseObject({ index: z.int(), text: z.string(), finish_reason: z.string().nullable() })),
  usage: z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
  svc: svcReplySchema,
});
