/** Token usage of embeddings and rerankers: a prompt and nothing generated. */
import { NO_USAGE, type Usage } from "../../base/usage.ts";
import { countOf } from "../neutral/reader.ts";
import { areBelievable } from "../neutral/tokens.ts";

/**
 * The largest of the counts given, because some providers fill only one of `prompt_tokens` and `total_tokens`. Undefined
 * where none is above zero: no input is free of tokens, so that is no report.
 */
export function readPromptUsage(...counts: readonly unknown[]): Usage | undefined {
  const inputTokens = Math.max(...counts.map(countOf));
  return inputTokens > 0 && areBelievable(inputTokens) ? { ...NO_USAGE, inputTokens } : undefined;
}
