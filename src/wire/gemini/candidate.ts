/**
 * Function calls and log probabilities of a candidate, whole or in a stream, and blocked prompts.
 * https://ai.google.dev/api/generate-content#candidate
 */
import { madeOf } from "../media/made.ts";
import type { Logprob, MediaReplyPart, ToolCallPart } from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { argumentsText } from "../neutral/tool-arguments.ts";

/** A prompt that was blocked has no candidates, but a reason. */
export const isBlocked = (answer: JsonObject): boolean =>
  stringOf(objectOf(answer.promptFeedback).blockReason) !== "";

/** A part's function call; undefined where it has none. */
export function readCall(part: JsonObject): Pick<ToolCallPart, "id" | "name" | "arguments"> | undefined {
  if (!isObject(part.functionCall)) return undefined;
  const name = stringOf(part.functionCall.name);
  if (name === "") return undefined;
  const args = argumentsText(part.functionCall.args);
  return { id: stringOf(part.functionCall.id), name, arguments: args };
}

/** Media in a part; undefined where it has none. Pictures of a thought are drafts, which no format has a place for. */
export function readMedia(part: JsonObject): MediaReplyPart | undefined {
  const { mimeType, data } = objectOf(part.inlineData);
  if (typeof mimeType !== "string" || typeof data !== "string") return undefined;
  const signature = stringOf(part.thoughtSignature);
  const made = madeOf(mimeType, data, signature === "" ? undefined : { by: "google", data: signature });
  return part.thought === true ? { type: "media", kind: made.kind } : made;
}

/** Undefined where the candidate has none. */
export function readLogprobs(candidate: JsonObject): readonly Logprob[] | undefined {
  const { chosenCandidates, topCandidates } = objectOf(candidate.logprobsResult);
  const chosen = listOf(chosenCandidates);
  if (chosen.length === 0) return undefined;
  const tops = listOf(topCandidates);
  return chosen.map((token, i) => ({
    ...readToken(token),
    top_logprobs: listOf(objectOf(tops[i]).candidates).map(readToken),
  }));
}

function readToken(value: unknown) {
  const { token, logProbability } = objectOf(value);
  const text = stringOf(token);
  const logprob = typeof logProbability === "number" ? logProbability : 0;
  return { token: text, logprob, bytes: [...Buffer.from(text)] };
}
