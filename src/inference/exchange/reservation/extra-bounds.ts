/**
 * What a request's extras may cost at an endpoint, for its hold: the dearest of the prices that may apply, and the provider's
 * tools up to the bound of their uses.
 */
import type { Endpoint } from "../../../base/endpoint.ts";
import { lineMicroUsd, type TokenPrices, type UnitPrices } from "../../../base/money.ts";
import { type Billed, namesOf, pricedTier, sift } from "../../../wire/extras/sift.ts";
import { carriedAsks } from "../../../wire/extras/translated.ts";
import type { Ask, TierNames } from "../../../wire/neutral/asked-extras.ts";
import { passageTo } from "../../../wire/passages.ts";
import { optionAsks } from "../../../wire/relay/provider-options.ts";
import type { PlannedCall } from "../call.ts";

/** What a call asks of an endpoint, whatever becomes of it. */
export function asksAt(
  { incoming, request }: Pick<PlannedCall, "incoming" | "request">,
  endpoint: Endpoint,
): readonly Ask[] {
  const { extras, svc } = request;
  const hasOptions = Object.hasOwn(svc.providerOptions, endpoint.provider.id);
  if (extras.asks.length === 0 && !hasOptions) return NO_ASKS;
  const passable = passageTo(incoming.format, endpoint);
  if (passable === undefined) return NO_ASKS;
  const carried = passable.isSplice ? extras.asks : carriedAsks(extras.asks);
  return hasOptions ? [...carried, ...optionAsks(svc, endpoint, passable.dialect)] : carried;
}

const NO_ASKS: readonly Ask[] = Object.freeze([]);

export interface ExtraBound {
  /** The dearest that may apply, nano-USD per token. */
  readonly input: number;
  readonly output: number;
  /** For all uses of tools. */
  readonly toolsMicroUsd: number;
  /** Number of those uses. */
  readonly uses: number;
  /** Something is read as prompt that the body does not show. */
  readonly isRead: boolean;
}

/** Uses that are held of a tool if the request does not bound them. */
export const DEFAULT_TOOL_USES = 10;

export function extraBound(asks: readonly Ask[], prices: UnitPrices, billed: Billed): ExtraBound {
  if (asks.length === 0) return boundOfNothing(prices);
  const { kept } = sift(asks, prices, billed);
  let toolsMicroUsd = 0;
  let uses = 0;
  for (const { kind, name, uses: bound = DEFAULT_TOOL_USES } of kept) {
    if (kind !== "tool" || !Object.hasOwn(prices.serverTools ?? {}, name)) continue;
    uses += bound;
    // Each line may round up by half a micro.
    toolsMicroUsd += lineMicroUsd(bound, prices.serverTools?.[name] ?? 0) + 1;
  }
  return {
    ...dearestOfAll(asks, kept, prices),
    toolsMicroUsd,
    uses,
    isRead: kept.some(({ isRead }) => isRead === true),
  };
}

/** By an endpoint's prices, which live as long as its entry of the catalog. */
const standardBounds = new WeakMap<UnitPrices, ExtraBound>();

/** The bound where nothing is asked for, as in nearly all calls: made once for an endpoint. */
function boundOfNothing(prices: UnitPrices): ExtraBound {
  let bound = standardBounds.get(prices);
  if (bound === undefined) {
    bound = { ...dearestOf(prices), toolsMicroUsd: 0, uses: 0, isRead: false };
    standardBounds.set(prices, bound);
  }
  return bound;
}

/** Body and options may name two tiers of one kind: which one the provider takes is its own. */
function dearestOfAll(asks: readonly Ask[], kept: readonly Ask[], prices: UnitPrices) {
  const all = [
    dearest(prices, namesOf(kept)),
    ...asks.filter(({ kind }) => kind === "tier").map((ask) => dearest(prices, namesOf([ask]))),
  ];
  return {
    input: Math.max(...all.map(({ input }) => input)),
    output: Math.max(...all.map(({ output }) => output)),
  };
}

/**
 * The dearest prices of tokens that may apply, nano-USD: a provider may serve a call at the standard tier although it was asked
 * for another.
 */
export function dearest(prices: UnitPrices, names: TierNames = {}): Pick<ExtraBound, "input" | "output"> {
  const standard = boundOfNothing(prices);
  if (prices.tiers === undefined) return standard;
  const { tier } = pricedTier(names, prices);
  const own = tier === "" ? undefined : prices.tiers?.[tier];
  if (own === undefined) return standard;
  const { input, output } = dearestOf(own);
  return { input: Math.max(standard.input, input), output: Math.max(standard.output, output) };
}

const dearestOf = (prices: TokenPrices) => ({
  input: Math.max(prices.input, prices.cacheWrite ?? 0, prices.cacheWrite1h ?? 0, prices.cacheRead ?? 0),
  output: Math.max(prices.output, prices.reasoning ?? 0),
});

/** The price of the dearest tool, nano-USD per use. */
export const dearestTool = ({ serverTools }: UnitPrices): number =>
  Math.max(0, ...Object.values(serverTools ?? {}));
