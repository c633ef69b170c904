/**
 * Decides what of a request's asks is sent. On the platform's credential that is what the endpoint has a price for; on an org's
 * own key all of it, since its provider bills the org.
 */
import type { UnitPrices } from "../../base/money.ts";
import { ASPECTS, type Ask, type TierNames } from "../neutral/asked-extras.ts";

/** Whose credential is used: the provider bills its owner. */
export type Billed = "platform" | "org";

export interface Sifted {
  readonly kept: readonly Ask[];
  readonly dropped: readonly Ask[];
}

const NOTHING_SIFTED: Sifted = Object.freeze({ kept: [], dropped: [] });

/** @param sent asks that are sent already: a tier is kept beside theirs only if they have a price together */
export function sift(
  asks: readonly Ask[],
  prices: UnitPrices,
  billed: Billed,
  sent: readonly Ask[] = [],
): Sifted {
  if (asks.length === 0) return NOTHING_SIFTED;
  if (billed === "org") return { kept: asks, dropped: [] };
  const tiers = asks.filter(({ kind }) => kind === "tier");
  const fixed = sent.filter(({ kind }) => kind === "tier");
  const names = fixed.length === 0 ? keptTiers(tiers, prices) : tiersBeside(fixed, tiers, prices);
  const kept: Ask[] = [];
  const dropped: Ask[] = [];
  for (const ask of asks) (isPriced(ask, prices, names) ? kept : dropped).push(ask);
  return { kept, dropped };
}

function isPriced({ kind, name }: Ask, prices: UnitPrices, tiers: readonly string[]): boolean {
  if (name === "") return false;
  switch (kind) {
    case "tokens":
      return true;
    case "tool":
      return prices.serverTools !== undefined && Object.hasOwn(prices.serverTools, name);
    case "beta":
      return Object.keys(prices.tiers ?? {}).some((tier) => tier.split("+").includes(name));
    case "tier":
      return tiers.includes(name);
  }
}

/** The names of the tiers that are sent: all of them if they have a price together, else the first that has one. */
function keptTiers(tiers: readonly Ask[], prices: UnitPrices): readonly string[] {
  const { tiers: priced } = prices;
  if (priced === undefined || tiers.length === 0) return [];
  const names = namesInOrder(namesOf(tiers));
  if (!tiers.some(({ name }) => name === "") && Object.hasOwn(priced, names.join("+"))) return names;
  const first = names.find((name) => Object.hasOwn(priced, name));
  return first === undefined ? [] : [first];
}

function tiersBeside(fixed: readonly Ask[], tiers: readonly Ask[], { tiers: priced }: UnitPrices): string[] {
  const names = namesOf([...tiers, ...fixed]);
  const isOther = tiers.some(({ aspect, name }) => aspect === undefined || names[aspect] !== name);
  const all = namesInOrder(names);
  return !isOther && priced !== undefined && Object.hasOwn(priced, all.join("+")) ? all : [];
}

/** The tiers that asks name, by aspect. */
export function namesOf(asks: readonly Ask[]): TierNames {
  const names: Record<string, string> = {};
  for (const { kind, aspect, name } of asks)
    if (kind === "tier" && aspect !== undefined) names[aspect] = name;
  return names;
}

const namesInOrder = (names: TierNames): string[] =>
  ASPECTS.flatMap((aspect) => (names[aspect] ? [names[aspect]] : []));

export interface PricedTier {
  /** Key of the endpoint's `tiers`; empty: the standard price. */
  readonly tier: string;
  /** Names without a price, each by itself. */
  readonly unpriced: readonly string[];
}

/** The price of tiers at an endpoint. Without a price for all of them together, that of the first one that has a price. */
export function pricedTier(names: TierNames, { tiers = {} }: UnitPrices): PricedTier {
  const all = namesInOrder(names);
  if (all.length === 0) return STANDARD;
  const together = all.join("+");
  if (Object.hasOwn(tiers, together)) return { tier: together, unpriced: [] };
  const first = all.find((name) => Object.hasOwn(tiers, name));
  return { tier: first ?? "", unpriced: all.filter((name) => name !== first) };
}

const STANDARD: PricedTier = Object.freeze({ tier: "", unpriced: [] });
