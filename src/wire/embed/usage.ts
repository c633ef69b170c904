/** Token usage of embeddings and rerankers: a prompt and nothing generated. */
import { NO_USAGE, type Usage } from "../../base/usage.ts";
import { areBelievable } from "../neutral/tokens.ts";

/**
 * The largest of the counts given, because some providers fill only one of `prompt_tokens` and `total_tokens`. A reported 0 is a
 * report: the caller is shown it and charged by it. Undefined where no count is given, or none that can be true.
 */
export function readPromptUsage(...counts: readonly unknown[]): Usage | undefined {
  const given = counts.filter(isCount);
  const inputTokens = Math.max(...given);
  return given.length > 0 && areBelievable(inputTokens) ? { ...NO_USAGE, inputTokens } : undefined;
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
