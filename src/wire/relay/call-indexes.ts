/**
 * Indexes of tool calls in a spliced stream of chat chunks. Clients join the pieces of a call by its index, and some servers give
 * all calls one index, or none (Gemini's compatible endpoint, Ollama, older vLLM): two calls would become one that has the
 * arguments of both.
 */
import { type Edit, membersOf, moved, setMember } from "../json/json.ts";
import { opaquePaths, opaqueSpans } from "../json/opaque.ts";
import type { Span } from "../json/spans.ts";

/** A call that has another index than the upstream gave it, by its place among the objects of the event's list of calls. */
export interface Reindexed {
  readonly place: number;
  readonly index: number;
}

/** Those of an event, by the place of their choice among the objects of the list of choices. */
export type ReindexedCalls = ReadonlyMap<number, readonly Reindexed[]>;

const EACH_CHOICE = opaquePaths([["choices", "*"]]);
const EACH_CALL = opaquePaths([
  ["delta", "tool_calls", "*"],
  ["message", "tool_calls", "*"],
]);

/**
 * The edits that give calls their indexes.
 * @param data a chunk, latin1
 */
export function indexEdits(data: string, reindexed: ReindexedCalls): Edit[] {
  const edits: Edit[] = [];
  const bytes = Buffer.from(data, "latin1");
  const choices = opaqueSpans(bytes, 0, EACH_CHOICE);
  for (const [at, calls] of reindexed) {
    const choice = choices[at];
    const spans = choice === undefined ? [] : opaqueSpans(bytes, choice.start, EACH_CALL);
    for (const { place, index } of calls) {
      const span = spans[place];
      if (span !== undefined) edits.push(...indexEdit(data, span, index));
    }
  }
  return edits;
}

function indexEdit(data: string, { start, end }: Span, index: number): Edit[] {
  const call = data.slice(start, end);
  const members = membersOf(call);
  return members === undefined ? [] : moved([setMember(call, members, "index", String(index))], start);
}
