/**
 * How much a model shall reason: levels, and what they are worth in tokens where one end has levels and the other budgets.
 */
import type { Effort, Reasoning } from "./neutral.ts";

/** In rising order. */
const EFFORTS: readonly string[] = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] satisfies Effort[];

/** The effort if OpenRouter's `reasoning` has only `enabled`. */
export const USUAL_EFFORT = "medium" satisfies Effort;

export const isEffort = (value: unknown): value is Effort =>
  typeof value === "string" && EFFORTS.includes(value);

/** From how many tokens on a budget is told as this level. */
const LEVELS: readonly (readonly [from: number, effort: Effort])[] = [
  [16_384, "high"],
  [4096, "medium"],
  [1, "low"],
];

/** Where both are set, the level. */
export function effortOf({ effort, budgetTokens }: Reasoning): Effort | undefined {
  if (effort !== undefined || budgetTokens === undefined) return effort;
  return LEVELS.find(([from]) => budgetTokens >= from)?.[1] ?? "none";
}
