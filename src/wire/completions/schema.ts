/** The legacy completions request and answer (OpenAI API reference, "Completions"). */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import * as call from "../call-fields.ts";
import { isEmbeddingsInput } from "../embed/schema.ts";
import { unread } from "../neutral/unread.ts";
import { svcReplySchema, svcSchema } from "../svc-schema.ts";

/** A text, texts, the token ids of a text, or those of several: the same forms as of OpenAI's embeddings. */
export type Prompt = string | readonly string[] | readonly number[] | readonly (readonly number[])[];

/** Prompts of one request: each has answers of its own. */
const MAX_PROMPTS = 2048;

const isPrompt = (value: unknown): boolean =>
  isEmbeddingsInput(value) &&
  (typeof value === "string" || typeof value[0] === "number" || value.length <= MAX_PROMPTS);

const PROMPT_FORMS = `must be a text, a list of token ids, or a list of at most ${MAX_PROMPTS} of either`;
const tokens = { type: "array", items: { type: "integer" } } as const;

export const completionsRequestSchema = z.looseObject({
  model: call.model("weir/sim-small"),
  prompt: z.custom<Prompt>(isPrompt, PROMPT_FORMS).meta({
    description:
      "The text to be continued. Lists of several and token ids go to endpoints that speak completions only.",
    anyOf: [
      { type: "string" },
      { type: "array", items: { type: "string" } },
      tokens,
      { type: "array", items: tokens },
    ],
    examples: ["Once upon a time"],
  }),
  suffix: z
    .string()
    .nullish()
    .describe("The text behind the gap that is to be filled. Refused where the call goes out as chat."),
  stream: call.stream.nullish(),
  stream_options: call.streamOptions,
  max_tokens: z
    .int()
    .min(0)
    .nullish()
    .describe(`${call.MAX_TOKENS} 0, with \`echo\`: only the prompt is measured.`),
  n: call.choices.nullish(),
  best_of: z
    .int()
    .min(1)
    .max(128)
    .nullish()
    .describe("So many answers are made to each prompt, of which the best are kept; all are billed."),
  echo: z.boolean().nullish().describe("The answer begins with the prompt."),
  temperature: unread(call.temperature).optional(),
  top_p: unread(call.topP).optional(),
  stop: unread(call.stop).optional(),
  seed: unread(call.seed).optional(),
  frequency_penalty: unread(call.frequencyPenalty).optional(),
  presence_penalty: unread(call.presencePenalty).optional(),
  logit_bias: unread(call.logitBias).optional(),
  logprobs: unread(call.logprobs).optional(),
  user: unread(call.user).optional(),
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
