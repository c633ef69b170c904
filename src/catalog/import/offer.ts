/** What a foreign catalogue says of one model at one provider, in the terms of ours, and what was left out of it. */
import type { Dialect, Modality, Task } from "../../base/endpoint.ts";

export const CAPABILITIES = ["tools", "parallel_tools", "json_schema", "reasoning", "cache"] as const;
type Capability = (typeof CAPABILITIES)[number];

export const PRICE_KEYS = [
  "input",
  "output",
  "cache_read",
  "cache_write",
  "cache_write_1h",
  "reasoning",
  "image",
  "request",
] as const;
export type PriceKey = (typeof PRICE_KEYS)[number];

export interface Offer {
  /** Our provider id. */
  readonly provider: string;
  readonly upstream: string;
  readonly name: string;
  /** ISO date; empty when unknown. */
  readonly released: string;
  readonly task: Exclude<Task, "rerank">;
  /** Tokens; bounded to the prompts that have one price. */
  readonly context: number;
  readonly maxOutput: number;
  readonly modalitiesIn: readonly Modality[];
  /** What the source does not say is absent. */
  readonly capabilities: Readonly<Partial<Record<Capability, boolean>>>;
  /** Plain decimals: USD per million tokens, or per image and request. */
  readonly price: Readonly<Partial<Record<PriceKey, string>>>;
  /** Narrower than the provider's; undefined where the source does not say. */
  readonly dialects: readonly Dialect[] | undefined;
  /** Remarks for the file. */
  readonly notes: readonly string[];
}

/** A provider as far as an import needs it. */
export interface ImportProvider {
  readonly id: string;
  readonly dialects: readonly Dialect[];
  readonly regions: readonly string[];
}

export interface LeftOut {
  readonly what: string;
  readonly why: string;
}

export interface SourceOffers {
  readonly offers: readonly Offer[];
  readonly leftOut: readonly LeftOut[];
}

/** Why one entry of a source is not taken. */
export class NotTaken extends Error {}

/** Takes one entry, or notes in `leftOut` why it is not taken. */
export function takeOr(leftOut: LeftOut[], what: string, take: () => void): void {
  try {
    take();
  } catch (error) {
    if (!(error instanceof NotTaken)) throw error;
    leftOut.push({ what, why: error.message });
  }
}

const CARRIED: readonly Modality[] = ["text", "image", "audio", "video"];

/** The modalities of prompts that can be sent to the provider; video is supported in Google's format only. */
export const carried = (listed: readonly string[], { dialects }: ImportProvider): Modality[] =>
  CARRIED.filter((m) => listed.includes(m) && (m !== "video" || dialects.includes("gemini")));

/** Models that call tools of their provider's own, which are billed beside the tokens. */
const BILLED_TOOLS = /deep-research|multi-agent/;

/** @throws NotTaken for a model that cannot be charged or asked by its tokens alone */
export function assertUsable(upstream: string, output: readonly string[]): void {
  if (!/^[\x21-\x7e]{1,200}$/.test(upstream)) throw new NotTaken("its name has spaces or is too long");
  if (BILLED_TOOLS.test(upstream)) throw new NotTaken("it calls tools that are billed beside tokens");
  if (/rerank/i.test(upstream)) throw new NotTaken("it is a reranker, which is added by hand");
  const other = output.filter((modality) => modality !== "text" && modality !== "embeddings");
  if (other.length > 0) throw new NotTaken(`it answers in ${other[0]}`);
}

/** Prices above it are refused by the schema of model files. */
const MOST_USD = 1_000_000;

/** The prices that are above zero. @throws NotTaken where one is missing that the task needs */
export function usablePrice(
  task: Offer["task"],
  listed: Readonly<Partial<Record<PriceKey, string | undefined>>>,
): Offer["price"] {
  const price = Object.fromEntries(
    PRICE_KEYS.flatMap((key) => {
      const usd = listed[key];
      if (task === "embed" && key !== "input") return [];
      return usd === undefined || Number(usd) === 0 || Number(usd) > MOST_USD ? [] : [[key, usd]];
    }),
  );
  const missing = (task === "embed" ? (["input"] as const) : (["input", "output"] as const)).find(
    (key) => price[key] === undefined,
  );
  if (missing !== undefined) throw new NotTaken(`it has no ${missing} price`);
  // A price of its own only where it differs.
  if (price.reasoning === price.output) delete price.reasoning;
  return price;
}
