/**
 * Where seals stand in messages: Anthropic's own raw in a thinking block's `signature` or a redacted one's `data`, others'
 * there under their maker's name (see `seal.ts`).
 */
import type { ReasoningPart, Seal } from "../neutral.ts";
import { packSeal, unpackSeal } from "../seal.ts";

const OWN = "anthropic";

/**
 * The signature of thinking that nobody signed, in our own answers: when it comes back it must be told from the thinking of
 * an upstream of this dialect, which Anthropic takes only with its signature and others without any.
 */
export const UNSIGNED = "weir.none.";

/** Of the text of a `signature` or `data`. */
export const sealOf = (text: string): Seal => unpackSeal(text, OWN);

/** The text for a `signature` or `data`. */
export const sealText = (seal: Seal): string => packSeal(seal, OWN);

/** What a thinking block is to others; OpenAI encrypts the whole and shows a summary beside it. */
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
