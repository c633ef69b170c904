/**
 * Metering: tokens and cost of a call from how it ended. What the upstream reported counts; where it reported nothing,
 * what was delivered is estimated (T20, T22); a call that delivered nothing and got no report is free.
 */
import type { Endpoint } from "../endpoint.ts";
import type { Cost } from "../money.ts";
import { costOf, NO_USAGE, noCost, type Usage, type UsageSource } from "../usage.ts";
import type { ReplyFacts, RequestFacts } from "../wire/contract.ts";
import { estimateOutputTokens } from "../wire/estimate.ts";

/** Tokens that a reservation covers. */
export interface Held {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const UNBOUNDED: Held = { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: Number.MAX_SAFE_INTEGER };

export interface Metered {
  readonly usage: Usage;
  readonly source: UsageSource;
  readonly cost: Cost;
}

/**
 * @param facts what the answer told, as far as it came; undefined when no upstream answered.
 * @param held what the hold covers: an estimate of ours is never charged beyond it; only an upstream's report may be.
 */
export function meter(
  request: RequestFacts | undefined,
  endpoint: Endpoint | undefined,
  facts: ReplyFacts | undefined,
  held: Held = UNBOUNDED,
): Metered {
  if (request === undefined || endpoint === undefined || facts === undefined) return nothing(endpoint);
  const { usage, outputBytes, unreportedBytes } = facts;
  if (usage === undefined && outputBytes === 0) return nothing(endpoint);
  if (usage !== undefined && unreportedBytes === 0) return priced(usage, "provider", request, endpoint);
  // A report that came early says nothing of what followed it.
  const inputTokens = Math.min(request.promptTokens, held.inputTokens);
  const known = usage ?? { ...NO_USAGE, inputTokens };
  const output = Math.min(known.outputTokens + estimateOutputTokens(unreportedBytes), held.outputTokens);
  const outputTokens = Math.max(known.outputTokens, output);
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
