/**
 * Token counts of one call in one normal form for all upstreams. `inputTokens` is the whole prompt: fresh + cache read
 * + cache written (OpenAI's convention), so totals are comparable across dialects; `reasoningTokens` is part of
 * `outputTokens`.
 */
import { type Cost, type CostLine, lineMicroUsd, lineOf, type UnitPrices } from "./money.ts";

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** The part of `cacheWriteTokens` kept for an hour; the rest is kept for five minutes. */
  readonly cacheWrite1hTokens?: number;
  /** Billed by rerankers instead of tokens. */
  readonly searchUnits?: number;
}

/** Source of the counts: the upstream's report, our estimate of what was delivered, or nothing was used. */
export type UsageSource = "provider" | "estimated" | "none";

export const NO_USAGE: Usage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

/** The wire shape of {@link Usage} in records, generations and the native format. */
export const usageWire = (u: Usage) => ({
  input_tokens: u.inputTokens,
  output_tokens: u.outputTokens,
  cache_read_tokens: u.cacheReadTokens,
  cache_write_tokens: u.cacheWriteTokens,
  reasoning_tokens: u.reasoningTokens,
});

/** What is charged beside tokens at the standard price. */
export interface ChargedExtras {
  /** Key of the prices' `tiers`; empty: the standard price. */
  readonly tier: string;
  /** Uses by tool; those without a price are left out. */
  readonly uses: Readonly<Record<string, number>>;
}

export const NO_CHARGED_EXTRAS: ChargedExtras = Object.freeze({ tier: "", uses: Object.freeze({}) });

/**
 * The charge for one call: each kind of token at its price, each line rounded once. Cached tokens are not in the
 * `input` line; reasoning tokens leave `output` only where they have their own price. Contradictory counts (more cached
 * than sent) are clamped so that no line is negative.
 */
export function costOf(
  usage: Usage,
  prices: UnitPrices,
  images = 0,
  { tier, uses }: ChargedExtras = NO_CHARGED_EXTRAS,
): Cost {
  const lines = tokenLines(usage, prices, tier);
  if (prices.request !== undefined) addLine(lines, lineOf("request", 1, prices.request));
  if (prices.image !== undefined) addLine(lines, lineOf("image", images, prices.image));
  if (prices.searchUnit !== undefined)
    addLine(lines, lineOf("search_unit", usage.searchUnits ?? 0, prices.searchUnit));
  if (prices.serverTools !== undefined) addToolLines(lines, uses, prices.serverTools);
  let total = 0;
  for (const line of lines) total += line.micro_usd;
  return { total_micro_usd: total, lines, price_version: prices.version };
}

function addLine(lines: CostLine[], line: CostLine | undefined): void {
  if (line !== undefined) lines.push(line);
}

function tokenLines(usage: Usage, standard: UnitPrices, tier: string): CostLine[] {
  const prices = tier === "" ? standard : (standard.tiers?.[tier] ?? standard);
  const read = Math.min(usage.cacheReadTokens, usage.inputTokens);
  const write = Math.min(usage.cacheWriteTokens, usage.inputTokens - read);
  const fresh = usage.inputTokens - read - write;
  const apart = prices.reasoning === undefined ? 0 : Math.min(usage.reasoningTokens, usage.outputTokens);
  const input = lineOf("input", fresh, prices.input, tier);
  const output = lineOf("output", usage.outputTokens - apart, prices.output, tier);
  // As nearly all calls have.
  const isUsual = read === 0 && write === 0 && apart === 0;
  if (isUsual && input !== undefined && output !== undefined) return [input, output];
  const hour = Math.min(usage.cacheWrite1hTokens ?? 0, write);
  const minutesPrice = prices.cacheWrite ?? prices.input;
  const lines = [
    input,
    lineOf("cache_read", read, prices.cacheRead ?? prices.input, tier),
    // Two lines of one kind, because the durations have different prices (T32).
    lineOf("cache_write", write - hour, minutesPrice, tier),
    lineOf("cache_write", hour, prices.cacheWrite1h ?? minutesPrice, tier),
    output,
    lineOf("reasoning", apart, prices.reasoning ?? prices.output, tier),
  ];
  return lines.filter((line) => line !== undefined);
}

/** A line for each tool that was used, also at a price of zero: the provider charges nothing for it. */
function addToolLines(
  lines: CostLine[],
  uses: Readonly<Record<string, number>>,
  prices: Readonly<Record<string, number>>,
): void {
  for (const [tool, units] of Object.entries(uses)) {
    const price = Object.hasOwn(prices, tool) ? prices[tool] : undefined;
    if (price === undefined || units === 0) continue;
    lines.push({
      kind: "server_tool",
      units,
      unit_price_nano: price,
      micro_usd: lineMicroUsd(units, price),
      tool,
    });
  }
}

/** Fee for a call answered with an org's own provider key: the provider bills the org for the tokens. */
export interface ByokFee {
  /** Share of the cost at our prices, basis points. */
  readonly bps: number;
  readonly microUsdPerRequest: number;
}

/** The fee for a cost in micro-USD: the share rounded half up to the micro-USD, plus the fee per request. */
export function byokFeeMicroUsd(costMicroUsd: number, { bps, microUsdPerRequest }: ByokFee): number {
  const share = (BigInt(costMicroUsd) * BigInt(bps) + 5000n) / 10_000n;
  return Number(share) + microUsdPerRequest;
}

/** Replaces `cost` where an own key answered: one line, or none where the fee is zero. */
export function byokCost(cost: Cost, fee: ByokFee): Cost {
  const microUsd = byokFeeMicroUsd(cost.total_micro_usd, fee);
  const lines: CostLine[] = [];
  if (microUsd > 0) addLine(lines, lineOf("byok_fee", 1, microUsd * 1000));
  return { total_micro_usd: microUsd, lines, price_version: cost.price_version };
}

/** The charge for a call that no upstream answered. */
export const noCost = (priceVersion: string): Cost => ({
  total_micro_usd: 0,
  lines: [],
  price_version: priceVersion,
});
