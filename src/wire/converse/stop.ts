/** Why an answer of Converse's ended (Amazon Bedrock API Reference, "Converse", `stopReason`). */
import type { UpstreamError } from "../neutral/contract.ts";
import type { StopReason } from "../neutral/neutral.ts";
import { stringOf } from "../neutral/reader.ts";
import { unusable } from "../neutral/upstream-errors/unusable.ts";

const REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  tool_use: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  stop_sequence: "stop_sequence",
  guardrail_intervened: "content_filter",
  content_filtered: "content_filter",
  // Anthropic's own reasons, which some models send.
  refusal: "refusal",
  pause_turn: "pause",
};

/** @param calls in the answer: with them, and only with them, it stopped for them (T46). */
export function readStop(value: unknown, calls: number): StopReason {
  const name = stringOf(value);
  const reason = Object.hasOwn(REASONS, name) ? (REASONS[name] as StopReason) : "other";
  return reason === "stop" && calls > 0 ? "tool_calls" : reason;
}

/** The model wrote no valid call, or nothing that the service could read. */
const UNUSABLE: readonly string[] = ["malformed_model_output", "malformed_tool_use"];

/** The error that an answer is by its reason; undefined where it is none. */
export const unusableReason = (value: unknown): UpstreamError | undefined =>
  UNUSABLE.includes(stringOf(value)) ? unusable(stringOf(value)) : undefined;
