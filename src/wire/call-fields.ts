/** Fields that several formats of model calls have, each with what it means; a format says how strictly it reads them. */
import { z } from "zod";
import * as field from "../base/operation/fields.ts";
import { contentOf, unread } from "./neutral/unread.ts";

const KIND = "What kind of thing this is.";
/** What tells one kind of part from the others. */
export const kindOf = <const K extends string>(kind: K) => z.literal(kind).describe(KIND);
export const type = z.string().describe(KIND);

export const model = (example: string) =>
  z
    .string()
    .min(1)
    .describe("Model id, `<vendor>/<model>`; the bare model name where it is unique.")
    .meta({ examples: [example] });

export const ROLE = "Who says it: `system`, `user`, `assistant`, or what the format knows besides.";
export const role = unread(
  z
    .string()
    .describe(ROLE)
    .meta({ examples: ["user"] }),
).optional();
export const CONTENT = "What is said: a text, or parts of several kinds.";
/** A part or block, as far as every format has it. */
export const typed = z.looseObject({ type });
/** A message of formats whose parts are read only as far as media must be found in them. */
export const message = z.looseObject({
  role,
  content: contentOf(typed).meta({ description: CONTENT, examples: ["Hello"] }),
});
export const messagesOf = <M extends z.ZodType>(message: M) =>
  z.array(message).min(1).describe("The conversation so far, oldest first.");

export const stream = z.boolean().describe("The answer comes as server-sent events while it is made.");
export const streamOptions = z
  .looseObject({
    include_usage: z.boolean().nullish().describe("False: the last chunk with usage and `svc` is not sent."),
  })
  .nullish()
  .describe("How the answer is streamed.");
export const MAX_TOKENS =
  "The answer ends after so many tokens. It bounds what is held of the balance and counted against `tpm`.";
/** 0 is the provider's to take or to refuse: at some it fills the prompt cache and generates nothing. */
export const maxTokens = z.int().nonnegative().describe(MAX_TOKENS);
export const choices = z.int().min(1).max(128).describe("So many answers to one prompt.");
export const temperature = z.number().describe("How much chance is in the choice of tokens; 0: the least.");
export const topP = z
  .number()
  .describe("Tokens are chosen among the likeliest that make up this share of the probability.");
export const TOP_K = "Tokens are chosen among so many of the likeliest.";
export const STOP = "The answer ends before any of these texts.";
export const stop = z.union([z.string(), z.array(z.string())]).describe(STOP);
export const seed = z
  .int()
  .describe("The same seed and the same request are to give the same answer, as far as the provider can.");
export const frequencyPenalty = z.number().describe("Lowers the chance of tokens by how often they came.");
export const presencePenalty = z.number().describe("Lowers the chance of tokens that came already.");
export const logitBias = z
  .record(z.string(), z.number())
  .describe("Added to the chance of tokens, by token id.");
export const logprobs = z.int().min(0).max(20).describe("Alternatives told of each token.");
export const TOOLS = "What the model may call.";
export const TOOL_CHOICE = "Whether the model may, must or must not call a tool, or which one it must.";
export const parallelTools = z.boolean().describe("Several tools may be called in one answer.");
export const FORMAT = "The shape of the answer: text, JSON, or JSON of a schema.";
export const format = z
  .looseObject({ type: unread(type).optional() })
  .nullish()
  .describe(FORMAT);
export const REASONING = "Whether and how the model reasons before it answers.";
export const user = z.string().describe("Your name for the end user, whose calls may stay at one endpoint.");
export const dimensions = z.int().positive().nullish().describe("Numbers in each embedding.");

export const ANSWERS = "The answers.";
export const index = z.int().describe("Which of the answers, inputs or documents it is, from 0.");
export const created = z.int().describe("Unix seconds.");
export const finishReason = z.string().nullable().describe("Why the answer ended.");
export const USAGE = "Tokens read and written.";
export const promptTokens = z.int().describe("Tokens of the prompt, cached ones included.");
export const outputTokens = z.int().describe("Tokens of the answer, reasoning included.");
export const totalTokens = z.int().describe("Tokens of prompt and answer together.");
export const completionUsage = z
  .looseObject({
    prompt_tokens: promptTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens,
  })
  .describe(USAGE);
export const resolved = z
  .object({ provider: field.providerId, endpoint_id: field.endpointId })
  .describe("Where the call was answered.");
export const cost = z.looseObject({ total_micro_usd: field.totalMicroUsd }).describe("What the call costs.");
