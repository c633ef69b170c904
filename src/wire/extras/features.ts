/** Headers by which clients ask for features of their own dialect. */
import type { UnitPrices } from "../../base/money.ts";
import type { FeaturesHeader } from "../habits.ts";
import type { Ask } from "../neutral/asked-extras.ts";
import { FREE_OPENAI_BETAS } from "./anthropic-rows.ts";
import { betaAsk } from "./scan.ts";
import { sift } from "./sift.ts";

/** The header's value without what the endpoint has no price for, and what that is. */
export function siftedFeatures(
  header: FeaturesHeader,
  value: string,
  prices: UnitPrices,
): { readonly kept: string; readonly unpriced: readonly string[] } {
  const kept: string[] = [];
  const unpriced: string[] = [];
  for (const feature of featuresIn(value)) {
    const ask = featureAsk(header, feature);
    const isSent = ask === undefined || sift([ask], prices, "platform").dropped.length === 0;
    if (isSent) kept.push(feature);
    else unpriced.push(ask.said);
  }
  return { kept: kept.join(","), unpriced };
}

/** The names that a header lists. */
export const featuresIn = (value: string): readonly string[] =>
  value
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "");

/** What a feature changes of a provider's bill; undefined: nothing. */
export function featureAsk(header: FeaturesHeader, feature: string): Ask | undefined {
  if (header === "anthropic-beta") return betaAsk(feature, [header]);
  if (FREE_OPENAI_BETAS.includes(feature)) return undefined;
  return { kind: "tool", name: "", path: [header], said: feature.slice(0, 80) };
}
