/**
 * Seals in messages: the `signature` of a thinking block or the `data` of a redacted one. Anthropic's own are unchanged;
 * others have their maker's name before them (see `seal.ts`).
 */
import type { ReasoningPart, Seal } from "../neutral/neutral.ts";
import { packSeal, unpackSeal } from "../neutral/seal.ts";

const OWN = "anthropic";

/**
 * The signature that our answers give to unsigned thinking. When the thinking comes back, it must differ from that of an
 * upstream of this dialect, which Anthropic accepts only with its signature and others accept without one.
 */
export const UNSIGNED = "weir.none.";

/** The seal in the text of a `signature` or `data`. */
export const sealOf = (text: string): Seal => unpackSeal(text, OWN);

/** The text for a `signature` or `data`. */
export const sealText = (seal: Seal): string => packSeal(seal, OWN);

/** A thinking block as a neutral part. OpenAI's seal holds the whole reasoning; the block's text is its summary. */
export function thinkingPart(text: string, signature: string): ReasoningPart {
  if (signature === "" || signature === UNSIGNED) return { type: "reasoning", text };
  const seal = sealOf(signature);
  if (seal.by !== "openai") return { type: "reasoning", text, seal };
  return { type: "reasoning", text, isSummary: true, isRedacted: true, seal };
}

export const redactedPart = (data: string): ReasoningPart => ({
  type: "reasoning",
  text: "",
  isRedacted: true,
  seal: sealOf(data),
});
