/**
 * Why a choice ended, both ways (OpenAI API reference, "finish_reason"). It is `tool_calls` exactly where tools were called,
 * whatever the upstream says (T46).
 */
import type { Stop, StopReason } from "../neutral/neutral.ts";

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

const STOPS: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
  // Mistral's and Together's own.
  model_length: "length",
  eos: "stop",
};

/** @param reason `finish_reason` as the upstream sent it; "" where it sent none. */
export function readStop(reason: string, hasCalls: boolean): Stop {
  const read = Object.hasOwn(STOPS, reason) ? (STOPS[reason] as StopReason) : "other";
  if (hasCalls) return { reason: read === "stop" ? "tool_calls" : read };
  return { reason: read === "tool_calls" ? "stop" : read };
}

export function writeFinishReason({ reason }: Stop, hasCalls: boolean): FinishReason {
  if (reason === "length") return "length";
  if (reason === "content_filter" || reason === "refusal") return "content_filter";
  return hasCalls ? "tool_calls" : "stop";
}
