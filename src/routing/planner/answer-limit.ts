/**
 * Endpoints that are asked for a longer answer than they can give: what they are told instead of the caller's `max_tokens`. Such an answer
 * is no fault of the prompt, so it excludes no endpoint, unless the caller forbids to lower it.
 */
import type { Judged, RouteFacts } from "./eligibility.ts";

/** The prompt may be longer than was counted by this factor: providers' tokenizers differ. */
const PROMPT_MARGIN = 1.1;

/**
 * Output tokens that the endpoint can give where more are asked for: its longest answer, or what the prompt leaves of its context. At
 * least 1; undefined where it can give what is asked for, or the limit may not be lowered.
 */
function answerLimit(
  endpoint: Pick<Judged, "maxOutput" | "contextLength">,
  facts: RouteFacts,
): number | undefined {
  const { maxTokens, lowersLimit } = facts;
  if (lowersLimit !== true || maxTokens === undefined || maxTokens <= endpoint.maxOutput) return undefined;
  const promptTokens = Math.ceil((facts.longestTokens ?? facts.promptTokens) * PROMPT_MARGIN);
  return Math.max(1, Math.min(endpoint.maxOutput, endpoint.contextLength - promptTokens));
}

/** By endpoint id; undefined where every endpoint can give what is asked for, as in nearly all calls. */
export function answerLimits(
  endpoints: readonly { readonly endpoint: Judged }[],
  facts: RouteFacts,
): Map<string, number> | undefined {
  let limits: Map<string, number> | undefined;
  for (const { endpoint } of endpoints) {
    const limit = answerLimit(endpoint, facts);
    if (limit === undefined) continue;
    limits ??= new Map();
    limits.set(endpoint.id, limit);
  }
  return limits;
}
