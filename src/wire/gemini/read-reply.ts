/** A whole generateContent answer (https://ai.google.dev/api/generate-content#generatecontentresponse). */
import { fail } from "../../base/errors.ts";
import { geminiReport } from "../extras/reports.ts";
import type { UpstreamError } from "../neutral/contract.ts";
import type {
  NeutralChoice,
  NeutralReply,
  ReasoningPart,
  ReplyPart,
  Seal,
  TextPart,
} from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { readErrorValue, soleOf } from "../neutral/upstream-error.ts";
import { isBareError, saysReason } from "../neutral/upstream-errors/bare-error.ts";
import { isBlocked, readCall, readLogprobs, readMedia } from "./candidate.ts";
import { readCitations } from "./citations.ts";
import { emptyReason, readStop, unusableReason } from "./stop.ts";
import { readGeminiUsage } from "./usage.ts";

/** @throws WeirError `upstream_invalid_response` where the body is no answer. */
export function readGeminiReply(body: unknown): NeutralReply {
  // An error may be wrapped in a list, as the answers are of a stream that is none of events.
  const answer = objectOf(soleOf(body));
  const usage = readGeminiUsage(answer.usageMetadata);
  const report = geminiReport(answer);
  if (isErrorBody(answer)) return { choices: [], usage, error: readErrorValue(answer) };
  const candidates = listOf(answer.candidates).filter(isObject);
  if (candidates.length > 0) {
    const choices = candidates.map(readCandidate);
    const error = errorOf(candidates, choices);
    return error === undefined ? { choices, usage, report } : { choices: [], usage, error };
  }
  if (isBlocked(answer)) return { choices: [{ parts: [], stop: { reason: "content_filter" } }], usage };
  throw fail("upstream_invalid_response", "The provider's answer has no candidates.");
}

/** Undefined where the candidates are an answer. */
function errorOf(
  candidates: readonly JsonObject[],
  choices: readonly NeutralChoice[],
): UpstreamError | undefined {
  const unusable = candidates.map(unusableReason).find((error) => error !== undefined);
  const isEmpty = choices.every(({ parts }) => parts.every(({ type }) => type === "reasoning"));
  return unusable ?? (isEmpty ? emptyReason(candidates[0] as JsonObject) : undefined);
}

function readCandidate(candidate: JsonObject): NeutralChoice {
  const parts: ReplyPart[] = [];
  let calls = 0;
  for (const part of listOf(objectOf(candidate.content).parts)) {
    if (!isObject(part)) continue;
    const seal = sealOf(part);
    const call = readCall(part);
    if (call !== undefined) {
      calls++;
      parts.push({ type: "tool_call", ...call, ...seal });
    } else if (typeof part.text === "string") {
      addText(parts, { type: part.thought === true ? "reasoning" : "text", text: part.text, ...seal });
    } else {
      const media = readMedia(part);
      if (media !== undefined) parts.push(media);
    }
  }
  addCitations(parts, candidate);
  const logprobs = readLogprobs(candidate);
  return {
    parts,
    stop: readStop(candidate.finishReason, calls) ?? { reason: "other" },
    ...(logprobs !== undefined && { logprobs }),
  };
}

function sealOf(part: JsonObject): { seal?: Seal } {
  const data = stringOf(part.thoughtSignature);
  return data === "" ? {} : { seal: { by: "google", data } };
}

/** Text goes on in the next part, as in a stream, until a signature closes it. */
function addText(parts: ReplyPart[], part: TextPart | ReasoningPart): void {
  const last = parts.at(-1);
  if (last?.type === part.type && last.seal === undefined) {
    parts[parts.length - 1] = { ...last, ...part, text: last.text + part.text };
  } else if (part.text !== "" || part.seal !== undefined) {
    parts.push(part);
  }
}

function addCitations(parts: ReplyPart[], candidate: JsonObject): void {
  const citations = readCitations(candidate);
  const at = parts.findLastIndex(({ type }) => type === "text");
  const part = parts[at];
  if (citations.length > 0 && part?.type === "text") parts[at] = { ...part, citations };
}

const hasNoAnswer = ({ candidates, usageMetadata }: JsonObject): boolean => !candidates && !usageMetadata;

/** An error that came with status 200. */
const isErrorBody = (body: JsonObject): boolean =>
  Boolean(body.error) || (hasNoAnswer(body) && saysReason(body));

/** An error as an event of a stream. */
export const isErrorEvent = (event: JsonObject, name: string): boolean =>
  Boolean(event.error) || (hasNoAnswer(event) && (name === "error" || isBareError(event)));
