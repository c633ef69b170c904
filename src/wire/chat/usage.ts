/** Chat-completions usage, both ways. `prompt_tokens` includes cached tokens (OpenAI API reference, "usage"). */
import type { Usage } from "../../usage.ts";
import { countOf, objectOf } from "../reader.ts";
import { areBelievable } from "../tokens.ts";

/** Undefined where the value is no usage report (null on the chunks before the last) or cannot be true. */
export function readChatUsage(value: unknown): Usage | undefined {
  const usage = objectOf(value);
  if (typeof usage.prompt_tokens !== "number" && typeof usage.completion_tokens !== "number")
    return undefined;
  const prompt = objectOf(usage.prompt_tokens_details);
  const completion = objectOf(usage.completion_tokens_details);
  const inputTokens = countOf(usage.prompt_tokens);
  const outputTokens = countOf(usage.completion_tokens);
  const reasoningTokens = countOf(completion.reasoning_tokens);
  if (!areBelievable(inputTokens, outputTokens, reasoningTokens, countOf(usage.total_tokens)))
    return undefined;
  const apart = apartFrom(inputTokens + outputTokens, reasoningTokens, usage.total_tokens);
  return {
    inputTokens,
    outputTokens: outputTokens + apart,
    // Beside the details object: DeepSeek's name, then Moonshot's and Together's.
    cacheReadTokens: countOf(prompt.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens),
    cacheWriteTokens: countOf(prompt.cache_write_tokens),
    reasoningTokens: Math.max(reasoningTokens, apart),
  };
}

/**
 * Reasoning that `completion_tokens` leaves out although it is billed as output: the total tells. xAI reports its count
 * in the details, Gemini's compatible endpoint only in the total.
 */
function apartFrom(sum: number, reasoningTokens: number, total: unknown): number {
  const rest = countOf(total) - sum;
  return rest > 0 && (reasoningTokens === rest || reasoningTokens === 0) ? rest : 0;
}

interface Reports {
  readonly usage?: unknown;
  readonly x_groq?: unknown;
  readonly choices?: unknown;
}

/** Where an event of a stream reports usage: its own member, Groq's extension, or Moonshot's place in the choice. */
export function readEventUsage(event: Reports): Usage | undefined {
  return (
    readChatUsage(event.usage) ??
    readChatUsage(objectOf(event.x_groq).usage) ??
    (Array.isArray(event.choices) ? readChatUsage(objectOf(event.choices[0]).usage) : undefined)
  );
}

/** `cache_write_tokens` is OpenRouter's and OpenAI's name for tokens that were written to a cache. */
export const writeChatUsage = (usage: Usage) => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  ...(usage.cacheReadTokens + usage.cacheWriteTokens > 0 && {
    prompt_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      ...(usage.cacheWriteTokens > 0 && { cache_write_tokens: usage.cacheWriteTokens }),
    },
  }),
  ...(usage.reasoningTokens > 0 && {
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  }),
});
