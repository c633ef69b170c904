/** Why a response ended, both ways (OpenAI API reference, "incomplete_details"). */
import type { Stop, StopReason } from "../neutral.ts";
import { type JsonObject, objectOf, stringOf } from "../reader.ts";

/** What an answer holds that tells why it ended: its status is `completed` with tool calls or a refusal, too. */
export interface StopSignals {
  readonly calls: boolean;
  readonly refusal: boolean;
}

export function readStop(response: JsonObject, { calls, refusal }: StopSignals): Stop {
  if (response.status !== "incomplete")
    return { reason: calls ? "tool_calls" : refusal ? "refusal" : "stop" };
  return { reason: INCOMPLETE.get(stringOf(objectOf(response.incomplete_details).reason)) ?? "other" };
}

const INCOMPLETE: ReadonlyMap<string, StopReason> = new Map([
  ["max_output_tokens", "length"],
  ["content_filter", "content_filter"],
]);

export type IncompleteReason = "max_output_tokens" | "content_filter";

/** Undefined where the answer is complete. @param hasRefusal the refusal stands in the answer itself, as the API has it. */
export function writeIncompleteReason(reason: StopReason, hasRefusal: boolean): IncompleteReason | undefined {
  if (reason === "length") return "max_output_tokens";
  if (reason === "content_filter" || (reason === "refusal" && !hasRefusal)) return "content_filter";
  return undefined;
}
