/** Counts of tokens as upstreams report them. */

/** No call uses more. */
const MOST_TOKENS = 1_000_000_000;

/** Whether counts can be true: one beyond the bound is a fault of the provider's, and would break every sum it entered. */
export const areBelievable = (...counts: readonly number[]): boolean =>
  counts.every((count) => count <= MOST_TOKENS);
