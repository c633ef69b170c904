/**
 * Gemini's `usageMetadata`: `promptTokenCount` includes cached tokens, `candidatesTokenCount` excludes thoughts, which are
 * billed as output, and what built-in tools gave the model stands apart from the prompt.
 * https://ai.google.dev/api/generate-content#UsageMetadata
 */
import type { Usage } from "../../base/usage.ts";
import { countOf, isObject } from "../neutral/reader.ts";
import { areBelievable } from "../neutral/tokens.ts";

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
  return areBelievable(usage.inputTokens, usage.outputTokens, usage.cacheReadTokens) ? usage : undefined;
}
