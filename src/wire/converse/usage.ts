/**
 * Converse's `usage`: `inputTokens` excludes what was read from the cache and what was written to it (T33).
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
import type { Usage } from "../../base/usage.ts";
import { countOf, isObject, listOf, objectOf } from "../neutral/reader.ts";
import { areBelievable } from "../neutral/tokens.ts";

/** Undefined where the value is no report, or cannot be true. */
export function readConverseUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  if (typeof value.inputTokens !== "number" && typeof value.outputTokens !== "number") return undefined;
  const cacheReadTokens = countOf(value.cacheReadInputTokens);
  const outputTokens = countOf(value.outputTokens);
  const fresh = countOf(value.inputTokens);
  const written = countOf(value.cacheWriteInputTokens);
  // If the same tokens are reported as read and as written, the total counts them once.
  const isTwice = written === cacheReadTokens && value.totalTokens === fresh + outputTokens + written;
  const cacheWriteTokens = isTwice ? 0 : written;
  const inputTokens = fresh + cacheReadTokens + cacheWriteTokens;
  if (!areBelievable(inputTokens, outputTokens)) return undefined;
  const hour = hourOf(value.cacheDetails);
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    // Part of the output, without a count of its own.
    reasoningTokens: 0,
    ...(hour > 0 && { cacheWrite1hTokens: Math.min(hour, cacheWriteTokens) }),
  };
}

/** Tokens written for an hour (T32). */
function hourOf(details: unknown): number {
  let tokens = 0;
  for (const detail of listOf(details)) {
    const { ttl, inputTokens } = objectOf(detail);
    if (ttl === "1h") tokens += countOf(inputTokens);
  }
  return tokens;
}
