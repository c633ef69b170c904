/** Price changes in words, for the changelog: list prices in the unit in which catalogs print each, and the markup. */
import { type TokenPrices, usdPerMillionFromNano } from "../../base/money.ts";
import type { PricedEndpoint, PriceTable, SinglePrice } from "./price-versions.ts";

/** Name of each price, and the number of units it is printed for. */
const PRINTED: Readonly<Record<SinglePrice, readonly [name: string, units: number, unit: string]>> = {
  input: ["input", 1e6, "1M tokens"],
  output: ["output", 1e6, "1M tokens"],
  cacheRead: ["cache read", 1e6, "1M tokens"],
  cacheWrite: ["cache write", 1e6, "1M tokens"],
  cacheWrite1h: ["cache write for an hour", 1e6, "1M tokens"],
  reasoning: ["reasoning", 1e6, "1M tokens"],
  request: ["request", 1, "request"],
  image: ["image", 1, "image"],
  searchUnit: ["search", 1e3, "1K units"],
};

/**
 * Such as `input $2 → $2.5 per 1M tokens, markup 0 → 5 %`. A price that was added or removed reads `none`; a change of
 * rounding alone is stated.
 */
export function priceChange(before: PricedEndpoint, after: PricedEndpoint): string {
  const changes = [
    ...singleChanges(before.listPrices, after.listPrices, ""),
    ...tierChanges(before.listPrices, after.listPrices),
    ...toolChanges(before.listPrices, after.listPrices),
  ];
  if (before.markupBps !== after.markupBps) {
    changes.push(`markup ${before.markupBps / 100} → ${after.markupBps / 100} %`);
  }
  return changes.length === 0 ? "the price as charged changed" : changes.join(", ");
}

/** @param of what the prices are of, with a space behind; empty: the standard price */
function singleChanges(before: Partial<PriceTable>, after: Partial<PriceTable>, of: string): string[] {
  return (Object.keys(PRINTED) as SinglePrice[]).flatMap((key) => {
    const [was, is] = [before[key], after[key]];
    if (was === is) return [];
    const [name, units, unit] = PRINTED[key];
    return [`${of}${name} ${usd(was, units)} → ${usd(is, units)} per ${unit}`];
  });
}

function tierChanges({ tiers: before = {} }: PriceTable, { tiers: after = {} }: PriceTable): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const at = (tiers: Readonly<Record<string, TokenPrices>>, name: string) => tiers[name] ?? {};
  return [...names].flatMap((name) => singleChanges(at(before, name), at(after, name), `${name} `));
}

function toolChanges(
  { serverTools: before = {} }: PriceTable,
  { serverTools: after = {} }: PriceTable,
): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) =>
    before[name] === after[name]
      ? []
      : [`${name} ${usd(before[name], 1e3)} → ${usd(after[name], 1e3)} per 1K uses`],
  );
}

const usd = (nano: number | undefined, units: number): string =>
  nano === undefined ? "none" : `$${Number(((usdPerMillionFromNano(nano) * units) / 1e6).toPrecision(12))}`;
