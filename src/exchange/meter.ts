/**
 * Metering: tokens and cost of a call from its outcome. What the upstream reported counts. If it reported nothing, what was
 * delivered is estimated (T20, T22); a call without a report that delivered nothing is free. If an org's own provider key
 * answered, its tokens are counted as usual and a fee is charged instead of them.
 */
import type { Endpoint } from "../endpoint.ts";
import type { Cost } from "../money.ts";
import { type ByokFee, byokCost, costOf, NO_USAGE, noCost, type Usage, type UsageSource } from "../usage.ts";
import type { ReplyFacts, RequestFacts } from "../wire/contract.ts";
import { estimateOutputTokens } from "../wire/estimate.ts";

/** Tokens that a hold covers. */
export interface CoveredTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const UNBOUNDED: CoveredTokens = {
  inputTokens: Number.MAX_SAFE_INTEGER,
  outputTokens: Number.MAX_SAFE_INTEGER,
};

export interface Metered {
  readonly usage: Usage;
  readonly source: UsageSource;
  readonly cost: Cost;
}

/**
 * @param facts what was read of the answer so far; undefined if no upstream answered
 * @param covered what the hold covers: an estimate is never charged beyond it; only an upstream's report may be
 * @param fee set if an org's own key answered; undefined if one of the platform's did
 */
export function meter(
  request: RequestFacts | undefined,
  endpoint: Endpoint | undefined,
  facts: ReplyFacts | undefined,
  covered: CoveredTokens = UNBOUNDED,
  fee?: ByokFee,
): Metered {
  if (request === undefined || endpoint === undefined || facts === undefined) return noUsage(endpoint);
  const { usage, outputBytes, unreportedBytes } = facts;
  if (usage === undefined && outputBytes === 0) return noUsage(endpoint);
  const priced = (used: Usage, source: UsageSource): Metered => {
    const cost = costOf(used, endpoint.prices, request.imageCount);
    return { usage: used, source, cost: fee === undefined ? cost : byokCost(cost, fee) };
  };
  if (usage !== undefined && unreportedBytes === 0) return priced(usage, "provider");
  // An early report does not count the output after it.
  const inputTokens = Math.min(request.promptTokens, covered.inputTokens);
  const known = usage ?? { ...NO_USAGE, inputTokens };
  const output = Math.min(known.outputTokens + estimateOutputTokens(unreportedBytes), covered.outputTokens);
  const outputTokens = Math.max(known.outputTokens, output);
  return priced({ ...known, outputTokens }, "estimated");
}

const noUsage = (endpoint: Endpoint | undefined): Metered => ({
  usage: NO_USAGE,
  source: "none",
  cost: noCost(endpoint?.prices.version ?? ""),
});
