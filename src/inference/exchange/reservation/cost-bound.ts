/**
 * What a call may cost at the most: its prompt and the longest answer that it asks for, at the dearest endpoint that may answer, with
 * what is billed beside tokens. Holds are of this size.
 */
import type { Endpoint } from "../../../base/endpoint.ts";
import { lineMicroUsd } from "../../../base/money.ts";
import { type ByokFee, byokFeeMicroUsd } from "../../../base/usage.ts";
import type { Plan } from "../../../routing/planner/planner.ts";
import { IMAGE_TOKEN_BOUND, promptTokenBound } from "../../../wire/estimate.ts";
import type { RequestFacts } from "../../../wire/neutral/contract.ts";
import type { PlannedCall } from "../call.ts";
import { asksAt, type ExtraBound, extraBound } from "./extra-bounds.ts";

export interface BoundDeps {
  readonly defaultMaxTokens: number;
  /** Charged instead of tokens if an org's own provider key answers. */
  readonly byokFee: ByokFee;
}

/**
 * The amount that would be held for a call with an estimated prompt, micro-USD.
 * @param facts of its request, or of a request that differs from it
 */
export function worstCaseOf(
  deps: BoundDeps,
  call: PlannedCall,
  facts: RequestFacts = call.request.facts,
): number {
  const { attempts } = call.plan;
  const output = outputBound(deps, attempts, facts, call.plan.limits) * facts.choices;
  const bound = promptTokenBound(facts.promptTokens);
  return worstCase(deps, call, attempts, bound, output, facts).microUsd;
}

export interface WorstCase {
  readonly microUsd: number;
  /** The most uses of tools that it covers at any endpoint. */
  readonly toolUses: number;
}

/**
 * Output tokens to hold for each choice. A stream's hold covers a usual answer and is extended; a whole answer cannot be stopped, so its
 * hold covers the longest one.
 * @param limits of endpoints that are told fewer than the caller asks for, by id
 */
export function outputBound(
  { defaultMaxTokens }: Pick<BoundDeps, "defaultMaxTokens">,
  endpoints: readonly Endpoint[],
  { maxTokens, stream }: RequestFacts,
  limits: Plan["limits"],
): number {
  // A server that is asked for no token may make one, and bills it.
  if (maxTokens !== undefined && limits === undefined) return Math.max(1, maxTokens);
  let bound = 0;
  if (maxTokens !== undefined) {
    for (const { id } of endpoints) bound = Math.max(bound, limits?.get(id) ?? maxTokens);
    return bound;
  }
  for (const { maxOutput } of endpoints) {
    bound = Math.max(bound, stream ? Math.min(maxOutput, defaultMaxTokens) : maxOutput);
  }
  return bound;
}

/** The cost at the dearest of these endpoints, because any of them may answer. Micro-USD. @param facts as of `worstCaseOf` */
export function worstCase(
  deps: Pick<BoundDeps, "byokFee">,
  call: PlannedCall,
  endpoints: readonly Endpoint[],
  textTokens: number,
  outputTokens: number,
  facts: RequestFacts = call.request.facts,
): WorstCase {
  const { ownKeys, plan } = call;
  let microUsd = 0;
  let toolUses = 0;
  for (const endpoint of endpoints) {
    const { provider, prices } = endpoint;
    const asks = asksAt(call, endpoint);
    const limit = plan.limits?.get(endpoint.id);
    const tokens = limit === undefined ? outputTokens : Math.min(outputTokens, limit * facts.choices);
    const own = ownKeys !== undefined && ownKeys.of(provider.id).length > 0 ? ownKeys : undefined;
    // Where a platform key may be used too, the larger of fee and tokens: a fee per request can exceed the tokens.
    if (own === undefined || (own.platformFallback(provider.id) && provider.keys.length > 0)) {
      const extra = extraBound(asks, prices, "platform");
      microUsd = Math.max(microUsd, costBound(endpoint, facts, textTokens, tokens, extra));
      toolUses = Math.max(toolUses, extra.uses);
    }
    if (own !== undefined) {
      const extra = extraBound(asks, prices, "org");
      const tokensMicroUsd = costBound(endpoint, facts, textTokens, tokens, extra);
      microUsd = Math.max(microUsd, byokFeeMicroUsd(tokensMicroUsd, deps.byokFee));
      toolUses = Math.max(toolUses, extra.uses);
    }
  }
  return { microUsd, toolUses };
}

/** The highest cost of the call at an endpoint, micro-USD. */
function costBound(
  endpoint: Endpoint,
  facts: RequestFacts,
  textTokens: number,
  outputTokens: number,
  extra: ExtraBound,
): number {
  const { prices } = endpoint;
  const promptTokens = promptBound(endpoint, facts, textTokens, extra.isRead);
  // Each line of tokens may round up by half a micro, and each of the two sums down: 4 is enough for eight lines. Units round as here.
  return (
    lineMicroUsd(promptTokens, extra.input) +
    lineMicroUsd(outputTokens, extra.output) +
    lineMicroUsd(1, prices.request ?? 0) +
    lineMicroUsd(facts.imageCount, prices.image ?? 0) +
    lineMicroUsd(facts.searchUnits, prices.searchUnit ?? 0) +
    extra.toolsMicroUsd +
    4
  );
}

/**
 * The highest number of prompt tokens at an endpoint. Documents, sound and video cannot be counted here, nor what tools of the
 * provider find; no prompt is longer than the context, so that is their bound.
 */
function promptBound(endpoint: Endpoint, facts: RequestFacts, textTokens: number, isRead: boolean): number {
  if (facts.hasUncounted || isRead)
    return Math.max(textTokens, endpoint.contextLength * (facts.separateInputs ?? 1));
  return textTokens + facts.imageCount * Math.max(0, endpoint.imageTokens - IMAGE_TOKEN_BOUND);
}
