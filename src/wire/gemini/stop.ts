/** Why a candidate ended: https://ai.google.dev/api/generate-content#FinishReason */
import type { Stop, StopReason } from "../neutral/neutral.ts";
import { stringOf } from "../neutral/reader.ts";

const FILTERED: StopReason = "content_filter";
const REASONS: Readonly<Record<string, StopReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: FILTERED,
  RECITATION: FILTERED,
  BLOCKLIST: FILTERED,
  PROHIBITED_CONTENT: FILTERED,
  SPII: FILTERED,
  MODEL_ARMOR: FILTERED,
  IMAGE_SAFETY: FILTERED,
  IMAGE_PROHIBITED_CONTENT: FILTERED,
  IMAGE_RECITATION: FILTERED,
};

/** Undefined while the candidate continues. This provider has no finish reason for calls (T46). */
export function readStop(finishReason: unknown, calls: number): Stop | undefined {
  const name = stringOf(finishReason);
  if (name === "" || name === "FINISH_REASON_UNSPECIFIED") return undefined;
  const reason = Object.hasOwn(REASONS, name) ? (REASONS[name] as StopReason) : "other";
  return { reason: reason === "stop" && calls > 0 ? "tool_calls" : reason };
}
