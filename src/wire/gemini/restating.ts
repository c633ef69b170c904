/**
 * A generateContent answer and the chunks of a streamed one. Each chunk is an answer that goes on from the one before, so a whole answer
 * is a stream of one chunk (https://ai.google.dev/api/generate-content#generatecontentresponse).
 */
import { type Fold, SseFolding } from "../forms/folding.ts";
import { type Grown, inOrder, joinMember, newGrown, setMembers } from "../forms/joined.ts";
import { framed, type Restating } from "../forms/restating.ts";
import { JsonText } from "../json/json-text.ts";
import { opaquePaths } from "../json/opaque.ts";
import { carriedIn } from "../neutral/carried.ts";
import { isObject, type JsonObject, listOf, objectOf } from "../neutral/reader.ts";
import { GeminiStreamReader } from "./reader.ts";

const ARGUMENTS = opaquePaths([["candidates", "*", "content", "parts", "*", "functionCall", "args"]]);

export const geminiRestating: Restating = {
  framed,
  events: (body) => framed(body.toString("latin1")),
  folding: (maxEventBytes, listen) =>
    new SseFolding(new GeminiStreamReader(maxEventBytes), new ChunkFold(), maxEventBytes, listen),
};

/** More than the provider offers. */
const MAX_CANDIDATES = 128;

interface FoldedCandidate {
  readonly members: Grown;
  readonly parts: unknown[];
  role: unknown;
}

class ChunkFold implements Fold {
  readonly carries = ARGUMENTS;
  readonly #members = newGrown();
  readonly #candidates = new Map<number, FoldedCandidate>();

  take({ candidates, ...rest }: JsonObject): void {
    setMembers(this.#members, rest);
    for (const value of listOf(candidates)) if (isObject(value)) this.#take(value);
  }

  whole(): unknown {
    const candidates = inOrder(this.#candidates).map(([index, { members, parts, role }]) => ({
      ...members,
      index,
      content: { role, parts },
    }));
    return { ...this.#members, ...(candidates.length > 0 && { candidates }) };
  }

  #take({ index = 0, content, citationMetadata, logprobsResult, ...others }: JsonObject): void {
    if (typeof index !== "number" || !(index >= 0 && index < MAX_CANDIDATES)) return;
    let candidate = this.#candidates.get(index);
    if (candidate === undefined) {
      candidate = { members: newGrown(), parts: [], role: "model" };
      this.#candidates.set(index, candidate);
    }
    const { members, parts } = candidate;
    const { parts: more, role } = objectOf(content);
    if (typeof role === "string") candidate.role = role;
    for (const part of listOf(more)) parts.push(partOf(objectOf(part)));
    setMembers(members, others);
    // What comes in pieces.
    if (isObject(citationMetadata)) joinMember(members, "citationMetadata", citationMetadata);
    if (isObject(logprobsResult)) joinMember(members, "logprobsResult", logprobsResult);
  }
}

/** A part whose call has its arguments as they were written. */
function partOf(part: JsonObject): JsonObject {
  const { functionCall } = part;
  const args = isObject(functionCall) ? carriedIn(functionCall.args) : undefined;
  if (args === undefined) return part;
  return { ...part, functionCall: { ...objectOf(functionCall), args: new JsonText(args) } };
}
