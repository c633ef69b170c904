/** What a response says beside its text, read alike from whole answers and from streams. */
import type { UpstreamError } from "../contract.ts";
import type { Citation, Stop, StopReason } from "../neutral.ts";
import { isObject, type JsonObject, objectOf, stringOf } from "../reader.ts";
import { readErrorValue } from "../upstream-error.ts";
import { readUrlCitation } from "../url-citation.ts";

/** Whether an item is a call of a tool of the client's. */
export const isCall = ({ type }: JsonObject): boolean =>
  type === "function_call" || type === "custom_tool_call";

/** What an answer holds that tells why it ended: its status is `completed` with tool calls or a refusal, too. */
export interface Held {
  readonly calls: boolean;
  readonly refusal: boolean;
}

export function stopOf(response: JsonObject, { calls, refusal }: Held): Stop {
  if (response.status !== "incomplete")
    return { reason: calls ? "tool_calls" : refusal ? "refusal" : "stop" };
  return { reason: INCOMPLETE.get(stringOf(objectOf(response.incomplete_details).reason)) ?? "other" };
}

const INCOMPLETE: ReadonlyMap<string, StopReason> = new Map([
  ["max_output_tokens", "length"],
  ["content_filter", "content_filter"],
]);

/** The error of a response that failed; undefined where it did not. */
export function errorOf(response: JsonObject): UpstreamError | undefined {
  if (isObject(response.error) || typeof response.error === "string") return readErrorValue(response.error);
  if (response.status !== "failed" && response.status !== "cancelled") return undefined;
  return { code: "", type: "", message: `The response ended as ${response.status}.` };
}

/** Undefined for what cites a file of the provider's own. */
export const citationOf = (value: unknown): Citation | undefined =>
  objectOf(value).type === "url_citation" ? readUrlCitation(value) : undefined;
