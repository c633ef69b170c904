/**
 * Metering: tokens and cost of a call from its outcome. What the upstream reported counts. If it reported nothing, what was
 * delivered is estimated (T20, T22); a call without a report that delivered nothing is free. If an org's own provider key
 * answered, its tokens are counted as usual and a fee is charged instead of them.
 */
import type { Endpoint } from "../../base/endpoint.ts";
import type { Cost, UnitPrices } from "../../base/money.ts";
import {
  type ByokFee,
  byokCost,
  type ChargedExtras,
  costOf,
  NO_CHARGED_EXTRAS,
  NO_USAGE,
  noCost,
  type Usage,
  type UsageSource,
} from "../../base/usage.ts";
import { estimateOutputTokens } from "../../wire/estimate.ts";
import { isStandard } from "../../wire/extras/reports.ts";
import { NOTHING_SENT, type SentExtras, usesOf } from "../../wire/extras/sent.ts";
import { pricedTier } from "../../wire/extras/sift.ts";
import type { Report, TierNames } from "../../wire/neutral/asked-extras.ts";
import type { ReplyFacts, RequestFacts } from "../../wire/neutral/contract.ts";

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
  /** What the upstream reported and the endpoint has no price for: it is counted and told, and not charged. */
  readonly unpriced?: readonly string[];
}

/**
 * @param facts what was read of the answer so far; undefined if no upstream answered
 * @param covered what the hold covers: an estimate is never charged beyond it; only an upstream's report may be
 * @param fee set if an org's own key answered; undefined if one of the platform's did
 * @param sent what changes the provider's bill in the body that was sent
 */
export function meter(
  request: RequestFacts | undefined,
  endpoint: Endpoint | undefined,
  facts: ReplyFacts | undefined,
  covered: CoveredTokens = UNBOUNDED,
  fee?: ByokFee,
  sent: SentExtras = NOTHING_SENT,
): Metered {
  if (request === undefined || endpoint === undefined || facts === undefined) return noUsage(endpoint);
  const { usage, outputBytes, unreportedBytes, report } = facts;
  if (usage === undefined && outputBytes === 0 && !hasUses(report)) return noUsage(endpoint);
  const { extras, unpriced } = chargedExtras(endpoint.prices, sent, report);
  const priced = (used: Usage, source: UsageSource): Metered => {
    const cost = costOf(used, endpoint.prices, request.imageCount, extras);
    if (fee !== undefined) return { usage: used, source, cost: byokCost(cost, fee) };
    return unpriced.length === 0 ? { usage: used, source, cost } : { usage: used, source, cost, unpriced };
  };
  if (usage !== undefined && unreportedBytes === 0) return priced(usage, "provider");
  // An early report does not count the output after it.
  const inputTokens = Math.min(request.promptTokens, covered.inputTokens);
  const known = usage ?? { ...NO_USAGE, inputTokens };
  const output = Math.min(known.outputTokens + estimateOutputTokens(unreportedBytes), covered.outputTokens);
  const outputTokens = Math.max(known.outputTokens, output);
  return priced({ ...known, outputTokens }, "estimated");
}

const hasUses = (report: Report | undefined): boolean =>
  report !== undefined && Object.keys(report.uses).length > 0;

interface Charged {
  readonly extras: ChargedExtras;
  readonly unpriced: readonly string[];
}

const NOTHING_CHARGED: Charged = { extras: NO_CHARGED_EXTRAS, unpriced: [] };

/**
 * What is charged beside tokens at the standard price. A tier that the provider reports counts, though the request asked for another.
 * The tier that the request asked for counts where the provider reports none, or one without a price. Uses of tools are those that the
 * provider reports; for tools whose uses the dialect cannot report, those that the table assumes.
 */
function chargedExtras(prices: UnitPrices, sent: SentExtras, report: Report | undefined): Charged {
  if (sent === NOTHING_SENT && (report === undefined || isStandard(report))) return NOTHING_CHARGED;
  const { names, strange: strangeTiers } = tierNames(sent.tiers, report?.tiers ?? {}, prices);
  const { tier, unpriced } = pricedTier(names, prices);
  const priced = prices.serverTools ?? {};
  const uses = usesOf(sent, report?.uses ?? {}, priced);
  const strange = Object.entries(uses).filter(([tool]) => !Object.hasOwn(priced, tool));
  return {
    extras: { tier, uses },
    unpriced: [...strangeTiers, ...unpriced, ...strange.map(([tool, count]) => `${tool} (${count})`)],
  };
}

/** @returns the tiers that count, and reported ones for which others do */
function tierNames(
  sent: TierNames,
  reported: TierNames,
  { tiers = {} }: UnitPrices,
): { readonly names: TierNames; readonly strange: readonly string[] } {
  const names: Record<string, string> = { ...sent };
  const strange: string[] = [];
  for (const [aspect, name] of Object.entries(reported)) {
    const isPriced = name === "" || Object.keys(tiers).some((tier) => tier.split("+").includes(name));
    if (isPriced || !names[aspect]) names[aspect] = name;
    else strange.push(name);
  }
  return { names, strange };
}

const noUsage = (endpoint: Endpoint | undefined): Metered => ({
  usage: NO_USAGE,
  source: "none",
  cost: noCost(endpoint?.prices.version ?? ""),
});
