/**
 * Gemini's `usageMetadata`: `promptTokenCount` includes cached tokens, `candidatesTokenCount` excludes thoughts, which are
 * billed as output, and what built-in tools gave the model stands apart from the prompt.
 * https://ai.google.dev/api/generate-content#UsageMetadata
 */
import type { Usage } from "../../usage.ts";
import { countOf, isObject } from "../reader.ts";

/** No call uses more tokens. A report beyond it is a fault of the provider's, and would break every sum it entered. */
const MOST_TOKENS = 1_000_000_000;

/** Undefined where the value is no report, or cannot be true. */
export function readGeminiUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  if (typeof value.promptTokenCount !== "number" && typeof value.candidatesTokenCount !== "number") {
    return undefined;
  }
  const reasoningTokens = countOf(value.thoughtsTokenCount);
  const usage = {
    inputTokens: countOf(value.promptTokenCount) + countOf(value.toolUsePromptTokenCount),
    outputTokens: countOf(value.candidatesTokenCount) + reasoningTokens,
    cacheReadTokens: countOf(value.cachedContentTokenCount),
    cacheWriteTokens: 0,
    reasoningTokens,
  };
  return Math.max(usage.inputTokens, usage.outputTokens, usage.cacheReadTokens) > MOST_TOKENS
    ? undefined
    : usage;
}
