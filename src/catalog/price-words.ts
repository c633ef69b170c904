/** Price changes in words, for the changelog: list prices in the unit in which catalogs print each, and the markup. */
import { usdPerMillionFromNano } from "../money.ts";
import type { PricedEndpoint, PriceTable } from "./price-versions.ts";

/** Name of each price, and the number of units it is printed for. */
const PRINTED: Readonly<Record<keyof PriceTable, readonly [name: string, units: number, unit: string]>> = {
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
  const changes = (Object.keys(PRINTED) as (keyof PriceTable)[]).flatMap((key) => {
    const [was, is] = [before.listPrices[key], after.listPrices[key]];
    if (was === is) return [];
    const [name, units, unit] = PRINTED[key];
    return [`${name} ${usd(was, units)} → ${usd(is, units)} per ${unit}`];
  });
  if (before.markupBps !== after.markupBps) {
    changes.push(`markup ${before.markupBps / 100} → ${after.markupBps / 100} %`);
  }
  return changes.length === 0 ? "the price as charged changed" : changes.join(", ");
}

const usd = (nano: number | undefined, units: number): string =>
  nano === undefined ? "none" : `$${Number(((usdPerMillionFromNano(nano) * units) / 1e6).toPrecision(12))}`;
