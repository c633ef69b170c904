/**
 * Features that a client asks for in a header of its own format, for a dialect that has a place for them in its body. What the upstream
 * would refuse is left out, and so is what the endpoint has no price for; both are named as the header has them.
 */
import type { Endpoint } from "../../base/endpoint.ts";
import { featureAsk } from "../extras/features.ts";
import { type Billed, sift } from "../extras/sift.ts";
import type { ClientRequest, GenerationDialect, Written } from "../format.ts";
import type { Ask } from "../neutral/asked-extras.ts";

interface Featured {
  readonly written: Written;
  readonly unpriced: readonly Ask[];
}

const NONE: readonly Ask[] = Object.freeze([]);

/** @param billed whose credential the body will be sent with */
export function withFeatures(
  written: Written,
  { features }: ClientRequest,
  { features: taking }: GenerationDialect,
  endpoint: Endpoint,
  billed: Billed,
): Featured {
  if (features === undefined || taking === undefined) return { written, unpriced: NONE };
  const { header, names } = features;
  const kept: string[] = [];
  const dropped: string[] = [];
  const unpriced: Ask[] = [];
  for (const name of new Set(names)) {
    const ask = featureAsk(header, name);
    const isTaken = taking.takes(header, name, endpoint);
    const isPriced = ask === undefined || sift([ask], endpoint.prices, billed).dropped.length === 0;
    if (isTaken && isPriced) kept.push(name);
    else dropped.push(`${header}: ${name}`);
    if (isTaken && !isPriced && ask !== undefined) unpriced.push(ask);
  }
  const asked = kept.length === 0 ? written : taking.ask(written, kept);
  return { written: { body: asked.body, dropped: [...asked.dropped, ...dropped] }, unpriced };
}
