/** Stop reasons of messages, both ways (Anthropic API reference, "stop_reason"). */
import type { Stop, StopReason } from "../neutral/neutral.ts";

const FROM_MESSAGES: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  stop_sequence: "stop_sequence",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  pause_turn: "pause",
  refusal: "refusal",
};

export function readStop(reason: string, sequence: unknown): Stop {
  // A member that every object inherits is no stop reason.
  const known = Object.hasOwn(FROM_MESSAGES, reason) ? FROM_MESSAGES[reason] : undefined;
  const read = known ?? "other";
  return typeof sequence === "string" ? { reason: read, sequence } : { reason: read };
}

const TO_MESSAGES = {
  stop: "end_turn",
  stop_sequence: "stop_sequence",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
  refusal: "refusal",
  pause: "pause_turn",
  other: "end_turn",
} as const satisfies Record<StopReason, string>;

/** The answer's content decides if the upstream's reason contradicts it: clients run tools only on `tool_use`. */
export function writeStop(stop: Stop, hasToolCalls: boolean, hasRefusal: boolean) {
  let { reason } = stop;
  if ((reason === "stop" || reason === "other") && hasToolCalls) reason = "tool_calls";
  else if (reason === "stop" && hasRefusal) reason = "refusal";
  else if (reason === "tool_calls" && !hasToolCalls) reason = "stop";
  const stopReason = TO_MESSAGES[reason];
  return {
    stop_reason: stopReason,
    stop_sequence: stop.sequence ?? null,
    stop_details:
      stopReason === "refusal" ? { type: "refusal" as const, category: null, explanation: null } : null,
  };
}
