/** Why a choice of completions ended (OpenAI API reference, "Completions", `finish_reason`). */
import type { Stop } from "../neutral/neutral.ts";

export function writeFinishReason({ reason }: Stop): "length" | "content_filter" | "stop" {
  if (reason === "length") return "length";
  return reason === "content_filter" || reason === "refusal" ? "content_filter" : "stop";
}
