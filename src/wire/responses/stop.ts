/** Why a response ended, both ways (OpenAI API reference, "incomplete_details"). */
import type { Stop, StopReason } from "../neutral/neutral.ts";
import { type JsonObject, objectOf, stringOf } from "../neutral/reader.ts";

/** Contents of an answer that show why it ended: with tool calls or a refusal its status is `completed`, too. */
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

/** Undefined if the answer is complete. @param hasRefusal the answer itself contains the refusal, as in the API */
export function writeIncompleteReason(reason: StopReason, hasRefusal: boolean): IncompleteReason | undefined {
  if (reason === "length") return "max_output_tokens";
  if (reason === "content_filter" || (reason === "refusal" && !hasRefusal)) return "content_filter";
  return undefined;
}
