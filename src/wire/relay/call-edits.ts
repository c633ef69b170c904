/**
 * What clients need of tool calls and some servers leave out, in answers whose bytes are passed on. Clients join the pieces of a call
 * by its index, and some servers give all calls one index, or none (Gemini's compatible endpoint, Ollama, older vLLM): two calls would
 * become one that has the arguments of both. Clients match a result with its call by the id, which the same servers leave empty.
 */
import { madeId } from "../accepts/made-ids.ts";
import { type Edit, membersOf, moved, setMember } from "../json/json.ts";
import { type OpaquePaths, opaquePaths, opaqueSpans } from "../json/opaque.ts";
import type { Span } from "../json/spans.ts";
import { isObject, stringOf } from "../neutral/reader.ts";

/** A call of a chunk of chat that lacks something, by its place among the objects of its choice's list of calls. */
export interface MendedCall {
  readonly place: number;
  /** Set where it is another than the upstream's. */
  readonly index?: number;
  /** The call's number among the parts of its choice: set where the call begins without an id. */
  readonly part?: number;
}

/** Those of a chunk, by the place of their choice among the objects of the list of choices. */
export type MendedCalls = ReadonlyMap<
  number,
  { readonly choice: number; readonly calls: readonly MendedCall[] }
>;

const EACH_CHOICE = opaquePaths([["choices", "*"]]);
const EACH_CALL = opaquePaths([
  ["delta", "tool_calls", "*"],
  ["message", "tool_calls", "*"],
]);

/**
 * The edits that give calls their indexes and ids.
 * @param data a chunk, latin1
 * @param requestId the gateway's own
 */
export function callEdits(data: string, mended: MendedCalls, requestId: string): Edit[] {
  const edits: Edit[] = [];
  const bytes = Buffer.from(data, "latin1");
  const choices = opaqueSpans(bytes, 0, EACH_CHOICE);
  for (const [at, { choice, calls }] of mended) {
    const object = choices[at];
    const spans = object === undefined ? [] : opaqueSpans(bytes, object.start, EACH_CALL);
    for (const { place, index, part } of calls) {
      const span = spans[place];
      if (span === undefined) continue;
      if (index !== undefined) edits.push(...memberEdit(data, span, "index", String(index)));
      if (part !== undefined)
        edits.push(...memberEdit(data, span, "id", `"${madeId(requestId, choice, part)}"`));
    }
  }
  return edits;
}

/** Where a whole answer of a dialect has its calls, or an event of one that has a call as a whole. */
export interface CallPlaces {
  /** They may have other objects beside the calls. */
  readonly paths: OpaquePaths;
  /** The types of calls; undefined where all objects are calls. */
  readonly types?: readonly string[];
  /** The member that results name. */
  readonly name: "id" | "call_id";
}

/** Whether an object at one of the places is a call without an id. */
export const lacksId = (value: unknown, { types, name }: CallPlaces): boolean =>
  isObject(value) && (types === undefined || types.includes(stringOf(value.type))) && !value[name];

/**
 * The edits that give ids to calls that have none.
 * @param text JSON of an answer, latin1
 * @param first the number of the first object at the places
 */
export function idEdits(text: string, places: CallPlaces, requestId: string, first = 0): Edit[] {
  return opaqueSpans(Buffer.from(text, "latin1"), 0, places.paths).flatMap((span, at) => {
    const call: unknown = JSON.parse(text.slice(span.start, span.end));
    if (!lacksId(call, places)) return [];
    return memberEdit(text, span, places.name, `"${madeId(requestId, 0, first + at)}"`);
  });
}

function memberEdit(text: string, { start, end }: Span, name: string, value: string): Edit[] {
  const call = text.slice(start, end);
  const members = membersOf(call);
  return members === undefined ? [] : moved([setMember(call, members, name, value)], start);
}
