/** The legacy completions request and answer (OpenAI API reference, "Completions"). */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import * as call from "../call-fields.ts";
import { svcReplySchema, svcSchema } from "../svc-schema.ts";

export const completionsRequestSchema = z.looseObject({
  model: call.model("weir/sim-small"),
  prompt: z
    .union([z.string(), z.array(z.string()).length(1, "one prompt a request")], {
      error: "a prompt is a string; lists of prompts and of tokens are not offered",
    })
    .describe("The text to be continued.")
    .meta({ examples: ["Once upon a time"] }),
  stream: call.stream.nullish(),
  stream_options: call.streamOptions,
  max_tokens: call.maxTokens.nullish(),
  n: call.choices.nullish(),
  temperature: call.temperature.nullish(),
  top_p: call.topP.nullish(),
  stop: call.stop.nullish(),
  seed: call.seed.nullish(),
  frequency_penalty: call.frequencyPenalty.nullish(),
  presence_penalty: call.presencePenalty.nullish(),
  logit_bias: call.logitBias.nullish(),
  logprobs: call.logprobs.nullish(),
  user: call.user.nullish(),
  svc: svcSchema.optional(),
});

export type CompletionsBody = z.output<typeof completionsRequestSchema>;

export const completionsReplySchema = z.looseObject({
  id: field.id,
  object: field.objectOf("text_completion"),
  created: call.created,
  model: field.modelId,
  choices: z
    .array(
      z.looseObject({
        index: call.index,
        text: z.string().describe("The text."),
        finish_reason: call.finishReason,
      }),
    )
    .describe(call.ANSWERS),
  usage: call.completionUsage,
  svc: svcReplySchema,
});
