/**
 * Why a choice ended, both ways (OpenAI API reference, "finish_reason"). It is `tool_calls` exactly where tools were called,
 * whatever the upstream says (T46).
 */
import type { UpstreamError } from "../neutral/contract.ts";
import type { Stop, StopReason } from "../neutral/neutral.ts";
import { isObject, type JsonObject, stringOf } from "../neutral/reader.ts";
import { readErrorValue } from "../neutral/upstream-error.ts";
import { unusable } from "../neutral/upstream-errors/unusable.ts";

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

/**
 * Reasons that say that the answer is none: OpenRouter's and Mistral's `error`, DeepSeek's interruption, vLLM's and SGLang's `abort`, and
 * what Gemini's compatible endpoint says of calls (`function_call_filter: MALFORMED_FUNCTION_CALL`).
 */
const UNUSABLE: readonly string[] = [
  "error",
  "abort",
  "insufficient_system_resource",
  "function_call_filter",
  "malformed_function_call",
  "unexpected_tool_call",
];

/** The word before a provider's own reason. */
const wordOf = (reason: string): string => (reason.split(":", 1)[0] as string).trim().toLowerCase();

/** The error that a choice is by its reason; undefined where it is none. */
export function unusableChoice({ finish_reason: reason, error }: JsonObject): UpstreamError | undefined {
  const name = stringOf(reason);
  if (Object.hasOwn(STOPS, name) || !UNUSABLE.includes(wordOf(name))) return undefined;
  // OpenRouter's choice says what happened.
  return isObject(error) ? readErrorValue(error) : unusable(name);
}

/** @param reason `finish_reason` as the upstream sent it; "" where it sent none. */
export function readStop(reason: string, hasCalls: boolean): Stop {
  const word = Object.hasOwn(STOPS, reason) ? reason : wordOf(reason);
  const read = Object.hasOwn(STOPS, word) ? (STOPS[word] as StopReason) : "other";
  if (hasCalls) return { reason: read === "stop" ? "tool_calls" : read };
  return { reason: read === "tool_calls" ? "stop" : read };
}

export function writeFinishReason({ reason }: Stop, hasCalls: boolean): FinishReason {
  if (reason === "length") return "length";
  if (reason === "content_filter" || reason === "refusal") return "content_filter";
  return hasCalls ? "tool_calls" : "stop";
}
