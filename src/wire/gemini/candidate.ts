/**
 * What a candidate says beside its text, whole or in a stream: why it stopped, its calls' ids, log probabilities, sources.
 * https://ai.google.dev/api/generate-content#candidate
 */

import { createHash } from "node:crypto";
import type { Citation, Logprob, Stop, StopReason } from "../neutral.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../reader.ts";
import { argumentsText } from "../tool-arguments.ts";

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

/** Undefined while the candidate goes on. Calls have no reason of their own at this provider (T46). */
export function readStop(finishReason: unknown, calls: number): Stop | undefined {
  const name = stringOf(finishReason);
  if (name === "" || name === "FINISH_REASON_UNSPECIFIED") return undefined;
  const reason = Object.hasOwn(REASONS, name) ? (REASONS[name] as StopReason) : "other";
  return { reason: reason === "stop" && calls > 0 ? "tool_calls" : reason };
}

/** A prompt that was blocked has no candidates, but a reason. */
export const isBlocked = (answer: JsonObject): boolean =>
  stringOf(objectOf(answer.promptFeedback).blockReason) !== "";

export interface FunctionCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/**
 * A part's function call; undefined where it has none. An id that is missing is made of the answer's id and the call's
 * place in it, so that no two calls of a conversation share one.
 */
export function readCall(
  part: JsonObject,
  answer: JsonObject,
  choice: number,
  place: number,
): FunctionCall | undefined {
  if (!isObject(part.functionCall)) return undefined;
  const name = stringOf(part.functionCall.name);
  if (name === "") return undefined;
  const args = argumentsText(objectOf(part.functionCall.args));
  const id = stringOf(part.functionCall.id) || `call_${baseOf(answer, name + args)}_${choice}_${place}`;
  return { id, name, arguments: args };
}

/** Where an answer has no id either, what is called: two calls with one id are then at least the same call. */
function baseOf(answer: JsonObject, call: string): string {
  const id = stringOf(answer.responseId);
  return /^[\w-]{1,64}$/.test(id) ? id : createHash("sha256").update(call).digest("hex").slice(0, 24);
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

const NONE: readonly Citation[] = [];

/** Sources of a grounded answer. Their places are told in bytes of parts and are left out: the contract counts characters. */
export function readCitations(candidate: JsonObject): readonly Citation[] {
  if (candidate.groundingMetadata === undefined && candidate.citationMetadata === undefined) return NONE;
  const grounding = objectOf(candidate.groundingMetadata);
  const chunks = listOf(grounding.groundingChunks);
  const citations: Citation[] = [];
  for (const support of listOf(grounding.groundingSupports)) {
    const { segment, groundingChunkIndices } = objectOf(support);
    const citedText = stringOf(objectOf(segment).text);
    for (const index of listOf(groundingChunkIndices)) {
      const { uri, title } = objectOf(objectOf(chunks[Number(index)]).web);
      if (stringOf(uri) === "") continue;
      citations.push({
        type: "url",
        url: stringOf(uri),
        title: stringOf(title),
        ...(citedText !== "" && { citedText }),
      });
    }
  }
  for (const source of listOf(objectOf(candidate.citationMetadata).citations)) {
    const { uri, title } = objectOf(source);
    if (stringOf(uri) !== "") citations.push({ type: "url", url: stringOf(uri), title: stringOf(title) });
  }
  return citations;
}
