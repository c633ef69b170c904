/** Usage of the responses format, both ways. `input_tokens` includes cached tokens (OpenAI API reference, "usage"). */
import type { Usage } from "../../base/usage.ts";
import { countOf, isObject, objectOf } from "../neutral/reader.ts";
import { areBelievable, cacheTokens } from "../neutral/tokens.ts";

/** Undefined where the value is no usage report or cannot be true. */
export function readResponsesUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  if (typeof value.input_tokens !== "number" && typeof value.output_tokens !== "number") return undefined;
  const input = objectOf(value.input_tokens_details);
  const inputTokens = countOf(value.input_tokens);
  const outputTokens = countOf(value.output_tokens);
  const reasoningTokens = countOf(objectOf(value.output_tokens_details).reasoning_tokens);
  if (!areBelievable(inputTokens, outputTokens, reasoningTokens)) return undefined;
  const { cacheReadTokens, cacheWriteTokens } = cacheTokens(inputTokens, {
    read: countOf(input.cached_tokens),
    written: countOf(input.cache_write_tokens),
  });
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens };
}

export const writeResponsesUsage = (usage: Usage) => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: {
    cached_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
  },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: usage.inputTokens + usage.outputTokens,
});
