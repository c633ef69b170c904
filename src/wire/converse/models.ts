/**
 * What Bedrock's model families take beyond Converse's own fields, as data, by the model's id (also by that of an
 * inference profile, which has a region before it).
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html
 */
import type { Effort } from "../neutral/neutral.ts";

export type Family = "anthropic" | "openai" | "other";

export const familyOf = (upstreamModel: string): Family => {
  if (upstreamModel.includes("anthropic")) return "anthropic";
  return upstreamModel.includes("openai.") ? "openai" : "other";
};

/** gpt-oss has three levels, and cannot switch reasoning off. */
export const OPENAI_EFFORTS: Readonly<Partial<Record<Effort, string>>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};
