/** Counts of tokens as upstreams report them. */

/** No call uses more. */
const MOST_TOKENS = 1_000_000_000;

/**
 * Tokens of a prompt that were read from a cache and written to one, of a provider that counts both into the prompt.
 * Together they are no more than the prompt: where they are said to be, the same tokens stand in both counts, and count as
 * read.
 */
export function cacheTokens(
  inputTokens: number,
  { read, written }: { readonly read: number; readonly written: number },
): { readonly cacheReadTokens: number; readonly cacheWriteTokens: number } {
  const isTwice = read + written > inputTokens;
  const rest = Math.max(0, inputTokens - read);
  return {
    cacheReadTokens: read,
    cacheWriteTokens: !isTwice ? written : read === written ? 0 : Math.min(written, rest),
  };
}

/** Whether counts can be true: one beyond the bound is a fault of the provider's, and would break every sum it entered. */
export const areBelievable = (...counts: readonly number[]): boolean =>
  counts.every((count) => count <= MOST_TOKENS);
