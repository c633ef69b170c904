/**
 * Why a candidate ended: https://ai.google.dev/api/generate-content#FinishReason, and Vertex's
 * https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#FinishReason
 */
import type { UpstreamError } from "../neutral/contract.ts";
import type { Stop, StopReason } from "../neutral/neutral.ts";
import { type JsonObject, stringOf } from "../neutral/reader.ts";
import { nothingMade, unusable } from "../neutral/upstream-errors/unusable.ts";

const FILTERED: StopReason = "content_filter";
const REASONS: Readonly<Record<string, StopReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: FILTERED,
  RECITATION: FILTERED,
  LANGUAGE: FILTERED,
  BLOCKLIST: FILTERED,
  PROHIBITED_CONTENT: FILTERED,
  SPII: FILTERED,
  MODEL_ARMOR: FILTERED,
  IMAGE_SAFETY: FILTERED,
  IMAGE_PROHIBITED_CONTENT: FILTERED,
  IMAGE_RECITATION: FILTERED,
};

const reasonOf = (name: string): StopReason =>
  Object.hasOwn(REASONS, name) ? (REASONS[name] as StopReason) : "other";

/** Undefined while the candidate continues. This provider has no finish reason for calls (T46). */
export function readStop(finishReason: unknown, calls: number): Stop | undefined {
  const name = stringOf(finishReason);
  if (name === "" || name === "FINISH_REASON_UNSPECIFIED") return undefined;
  const reason = reasonOf(name);
  return { reason: reason === "stop" && calls > 0 ? "tool_calls" : reason };
}

/** The model meant to call a tool, and wrote no valid call: what came beside it is half of its turn. */
const UNUSABLE: readonly string[] = [
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE",
  "MALFORMED_RESPONSE",
];

/** The error that a candidate is by its reason; undefined where it is none. */
export function unusableReason({ finishReason, finishMessage }: JsonObject): UpstreamError | undefined {
  const name = stringOf(finishReason);
  return UNUSABLE.includes(name) ? unusable(name, finishMessage) : undefined;
}

/**
 * The error that an answer is without a text, a call or media, by the reason of a candidate. `OTHER`, `NO_IMAGE`, `IMAGE_OTHER` and reasons
 * not known here say that nothing was made; the others may end an empty answer.
 */
export function emptyReason({ finishReason, finishMessage }: JsonObject): UpstreamError | undefined {
  const name = stringOf(finishReason);
  return nothingMade(reasonOf(name), name, finishMessage);
}
