/**
 * Function calls and log probabilities of a candidate, whole or in a stream, and blocked prompts.
 * https://ai.google.dev/api/generate-content#candidate
 */
import { createHash } from "node:crypto";
import { madeOf } from "../media/made.ts";
import type { Logprob, MediaReplyPart, ToolCallPart } from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { argumentsText } from "../neutral/tool-arguments.ts";

/** A prompt that was blocked has no candidates, but a reason. */
export const isBlocked = (answer: JsonObject): boolean =>
  stringOf(objectOf(answer.promptFeedback).blockReason) !== "";

/**
 * A part's function call; undefined where it has none. An id that is missing is made of the answer's id and the call's
 * place in it, so that no two calls of a conversation share one.
 */
export function readCall(
  part: JsonObject,
  answer: JsonObject,
  choice: number,
  place: number,
): Pick<ToolCallPart, "id" | "name" | "arguments"> | undefined {
  if (!isObject(part.functionCall)) return undefined;
  const name = stringOf(part.functionCall.name);
  if (name === "") return undefined;
  const args = argumentsText(part.functionCall.args);
  const id = stringOf(part.functionCall.id) || `call_${baseOf(answer, name + args)}_${choice}_${place}`;
  return { id, name, arguments: args };
}

/** Where an answer has no id either, what is called: two calls with one id are then at least the same call. */
function baseOf(answer: JsonObject, call: string): string {
  const id = stringOf(answer.responseId);
  return /^[\w-]{1,64}$/.test(id) ? id : createHash("sha256").update(call).digest("hex").slice(0, 24);
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
