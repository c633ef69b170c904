/** Chat-completions usage, both ways. `prompt_tokens` includes cached tokens (OpenAI API reference, "usage"). */
import type { Usage } from "../../base/usage.ts";
import { countOf, type JsonObject, listOf, objectOf } from "../neutral/reader.ts";
import { areBelievable, cacheTokens } from "../neutral/tokens.ts";

/** Undefined if the value is no usage report (null on the chunks before the last) or has impossible counts. */
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
  const rest = countOf(usage.total_tokens) - inputTokens - outputTokens;
  const heard = rest > 0 ? audioApart(rest, usage, prompt, reasoningTokens) : 0;
  const thought = reasoningApart(rest - heard, reasoningTokens);
  const { cacheReadTokens, cacheWriteTokens } = cacheTokens(inputTokens + heard, {
    // Members beside the details object: DeepSeek's, then Moonshot's and Together's.
    read: countOf(prompt.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens),
    // Beside OpenAI's and OpenRouter's name: Alibaba's.
    written: countOf(prompt.cache_write_tokens ?? prompt.cache_creation_input_tokens),
  });
  return {
    inputTokens: inputTokens + heard,
    outputTokens: outputTokens + thought,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: Math.max(reasoningTokens, thought),
  };
}

/**
 * Audio tokens of the prompt that `prompt_tokens` leaves out although the total counts them: the details have their number,
 * or the prompt has fewer tokens than its audio alone. Mistral reports seconds beside the counts instead.
 */
function audioApart(rest: number, usage: JsonObject, prompt: JsonObject, reasoningTokens: number): number {
  const audio = countOf(prompt.audio_tokens);
  if (audio === 0) {
    const isHeard = typeof usage.prompt_audio_seconds === "number" && usage.prompt_audio_seconds > 0;
    const known = rest > reasoningTokens ? rest - reasoningTokens : rest;
    return isHeard && rest !== reasoningTokens ? known : 0;
  }
  if (countOf(usage.prompt_tokens) < audio && rest >= audio) return audio;
  return rest !== reasoningTokens && (rest === audio || rest === audio + reasoningTokens) ? audio : 0;
}

/**
 * Reasoning tokens that `completion_tokens` leaves out although they are billed as output: the total includes them. xAI
 * reports their count in the details, Gemini's compatible endpoint only in the total.
 */
const reasoningApart = (rest: number, reasoningTokens: number): number =>
  rest > 0 && (reasoningTokens === rest || reasoningTokens === 0) ? rest : 0;

/** The usage that a stream's event reports: in its own member, Groq's extension, or Moonshot's member of the choice. */
export function readEventUsage(event: JsonObject): Usage | undefined {
  return (
    readChatUsage(event.usage) ??
    readChatUsage(objectOf(event.x_groq).usage) ??
    (Array.isArray(event.choices) ? readChatUsage(objectOf(event.choices[0]).usage) : undefined)
  );
}

/** The same as it is said. */
export const usageIn = ({ usage, x_groq: groq, choices }: JsonObject): unknown =>
  [usage, objectOf(groq).usage, objectOf(listOf(choices)[0]).usage].find(
    (said) => readChatUsage(said) !== undefined,
  );

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
