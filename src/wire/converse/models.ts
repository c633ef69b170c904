/**
 * What Bedrock's model families take beyond Converse's own fields, as data, told by the model's id (also by that of an
 * inference profile, which has a region before it).
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html
 */
import type { Effort } from "../neutral.ts";

export type Family = "anthropic" | "openai" | "other";

export const familyOf = (upstreamModel: string): Family => {
  if (upstreamModel.includes("anthropic")) return "anthropic";
  return upstreamModel.includes("openai.") ? "openai" : "other";
};

/** How a Claude is told to think: older ones by a budget, newer ones by an effort, those between by either. */
export type Thinking = "budget" | "either" | "effort";

const CLAUDES: readonly { readonly models: RegExp; readonly thinking: Thinking }[] = [
  { models: /claude-(?:v?[23]|instant|(?:opus|sonnet|haiku)-4-(?:[015](?:\D|$)|20))/, thinking: "budget" },
  { models: /claude-(?:opus|sonnet)-4-6/, thinking: "either" },
];

export const thinkingOf = (upstreamModel: string): Thinking =>
  CLAUDES.find(({ models }) => models.test(upstreamModel))?.thinking ?? "effort";

/** Tokens of thinking that an effort stands for, on models that take budgets. */
export const BUDGETS: Readonly<Record<Exclude<Effort, "none">, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 65_536,
};

/** Claude takes no smaller budget. */
export const LEAST_BUDGET = 1024;

/** Of the bound on the output, which thinking counts towards: the rest is left for the answer. */
export const MOST_SHARE = 0.8;

/** `outputConfig.effort` by the client's word. */
export const EFFORTS: Readonly<Record<Exclude<Effort, "none">, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

/** gpt-oss knows three words, and cannot be without. */
export const OPENAI_EFFORTS: Readonly<Partial<Record<Effort, string>>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};
