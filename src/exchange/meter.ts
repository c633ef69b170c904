/**
 * Metering: tokens and cost of a call from how it ended. What the upstream reported counts; where it reported nothing,
 * what was delivered is estimated (T20, T22); a call that delivered nothing and got no report is free.
 */
import type { Endpoint } from "../endpoint.ts";
import type { Cost } from "../money.ts";
import { costOf, NO_USAGE, noCost, type Usage, type UsageSource } from "../usage.ts";
import type { ReplyFacts, RequestFacts } from "../wire/contract.ts";
import { estimateOutputTokens } from "../wire/estimate.ts";

export interface Metered {
  readonly usage: Usage;
  readonly source: UsageSource;
  readonly cost: Cost;
}

/** @param facts what the answer told, as far as it came; undefined when no upstream answered. */
export function meter(
  request: RequestFacts | undefined,
  endpoint: Endpoint | undefined,
  facts: ReplyFacts | undefined,
): Metered {
  if (request === undefined || endpoint === undefined || facts === undefined) return nothing(endpoint);
  const { usage, outputBytes, unreportedBytes } = facts;
  if (usage === undefined && outputBytes === 0) return nothing(endpoint);
  if (usage !== undefined && unreportedBytes === 0) return priced(usage, "provider", request, endpoint);
  // A report that came early says nothing of what followed it.
  const known = usage ?? { ...NO_USAGE, inputTokens: request.promptTokens };
  const outputTokens = known.outputTokens + estimateOutputTokens(unreportedBytes);
  return priced({ ...known, outputTokens }, "estimated", request, endpoint);
}

const priced = (usage: Usage, source: UsageSource, request: RequestFacts, endpoint: Endpoint): Metered => ({
  usage,
  source,
  cost: costOf(usage, endpoint.prices, request.imageCount),
});

const nothing = (endpoint: Endpoint | undefined): Metered => ({
  usage: NO_USAGE,
  source: "none",
  cost: noCost(endpoint?.prices.version ?? ""),
});
