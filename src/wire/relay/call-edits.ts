/**
 * What clients need of tool calls and some servers leave out, in answers whose bytes are passed on. Clients join the pieces of a call
 * by its index, and some servers give all calls one index, or none (Gemini's compatible endpoint, Ollama, older vLLM): two calls would
 * become one that has the arguments of both. Clients match a result with its call by the id, which the same servers leave empty, or
 * give twice. They parse arguments as JSON text, or take them as an object, and some servers send the other.
 */
import { madeId } from "../accepts/made-ids.ts";
import { withEscapedControls } from "../json/cut-object.ts";
import { type Edit, memberOf, membersOf, moved, setMember, utf8Of } from "../json/json.ts";
import { type OpaquePaths, opaquePaths, opaqueSpans } from "../json/opaque.ts";
import type { Span } from "../json/spans.ts";
import { latin1OfJson } from "../neutral/fragment.ts";
import { isObject, type JsonObject, stringOf } from "../neutral/reader.ts";
import { argumentsObject, isNoArguments } from "../neutral/tool-arguments.ts";

/** A dialect's calls: where a whole answer has them, or an event that has one as a whole. */
export interface CallForm {
  /** The calls, perhaps with other objects beside them. */
  readonly paths: OpaquePaths;
  /** The types of calls; undefined where all objects are calls. */
  readonly types?: readonly string[];
  /** The member that results name. */
  readonly id: "id" | "call_id";
  /** The member whose object has the arguments; undefined where they are the call's own. */
  readonly within?: "function";
  readonly args: "arguments" | "input";
  readonly isText: boolean;
}

/** A call of a chunk of chat that lacks something, by its place among the objects of its choice's list of calls. */
export interface MendedCall {
  readonly place: number;
  /** Set where it is another than the upstream's. */
  readonly index?: number;
  /** The call's number among the parts of its choice: set where the call begins without an id of its own. */
  readonly part?: number;
  /** It goes on with an id, but the client has another. */
  readonly dropsId?: boolean;
  /** Its arguments are an object. */
  readonly hasObject?: boolean;
  /** It says the whole call once more: a client would join both. */
  readonly isAgain?: boolean;
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

/** Calls of whole chat completions. */
export const CHAT_CALLS: CallForm = {
  paths: opaquePaths([["choices", "*", "message", "tool_calls", "*"]]),
  id: "id",
  within: "function",
  args: "arguments",
  isText: true,
};

/**
 * The edits that calls of a chunk need.
 * @param data a chunk, latin1
 * @param requestId the gateway's own
 */
export function chunkEdits(data: string, mended: MendedCalls, requestId: string): Edit[] {
  const edits: Edit[] = [];
  const bytes = Buffer.from(data, "latin1");
  const choices = opaqueSpans(bytes, 0, EACH_CHOICE);
  for (const [at, { choice, calls }] of mended) {
    const object = choices[at];
    const spans = object === undefined ? [] : opaqueSpans(bytes, object.start, EACH_CALL);
    for (const { place, index, part, dropsId, hasObject, isAgain } of calls) {
      const span = spans[place];
      if (span === undefined) continue;
      if (index !== undefined) edits.push(...memberEdit(data, span, "index", String(index)));
      if (part !== undefined)
        edits.push(...memberEdit(data, span, "id", `"${madeId(requestId, choice, part)}"`));
      if (dropsId === true || isAgain === true) edits.push(...memberEdit(data, span, "id", '""'));
      if (isAgain === true) edits.push(...memberEdit(data, span, "function", '{"arguments":""}'));
      if (hasObject === true) edits.push(...argumentEdits(data, span, CHAT_CALLS));
    }
  }
  return edits;
}

/** Whether an answer has calls that clients cannot use as they are. @param values its objects at the form's places */
export function someNeedEdits(values: readonly unknown[], form: CallForm): boolean {
  const ids = new Set<string>();
  return values.some((value) => isCall(value, form) && (needsId(value, form, ids) || isOdd(value, form)));
}

/** Whether a call has no id, or that of an earlier one. @param ids of the earlier ones; this one's is added */
function needsId(call: JsonObject, form: CallForm, ids: Set<string>): boolean {
  const id = call[form.id];
  if (typeof id !== "string" || id === "" || ids.has(id)) return true;
  ids.add(id);
  return false;
}

const isCall = (value: unknown, { types }: CallForm): value is JsonObject =>
  isObject(value) && (types === undefined || types.includes(stringOf(value.type)));

/** Whether the arguments have another form than clients read, or are none. */
function isOdd(call: JsonObject, { within, args, isText }: CallForm): boolean {
  const holder = within === undefined ? call : call[within];
  if (!isObject(holder) || !(args in holder || within !== undefined)) return false;
  const given = holder[args];
  if (!isText) return !isObject(given);
  return typeof given !== "string" || isNoArguments(given) || withEscapedControls(given) !== given;
}

/**
 * The edits that the calls of a whole answer need.
 * @param text latin1
 * @param made ids that were told before, by the number of the object among the answer's
 */
export function answerEdits(
  text: string,
  form: CallForm,
  requestId: string,
  made?: ReadonlyMap<number, string>,
): Edit[] {
  const ids = new Set<string>();
  return opaqueSpans(Buffer.from(text, "latin1"), 0, form.paths).flatMap((span, at) => {
    const value: unknown = JSON.parse(text.slice(span.start, span.end));
    if (!isCall(value, form)) return [];
    const id = made?.get(at) ?? madeId(requestId, 0, at);
    const named = needsId(value, form, ids) ? memberEdit(text, span, form.id, `"${id}"`) : [];
    return isOdd(value, form) ? [...named, ...argumentEdits(text, span, form)] : named;
  });
}

/** The edit that gives an id to the one call of an event. */
export function idEdit(text: string, form: CallForm, id: string): Edit[] {
  const [span] = opaqueSpans(Buffer.from(text, "latin1"), 0, form.paths);
  return span === undefined ? [] : memberEdit(text, span, form.id, `"${id}"`);
}

function argumentEdits(text: string, span: Span, { within, args, isText }: CallForm): Edit[] {
  const call = text.slice(span.start, span.end);
  const holder = within === undefined ? undefined : memberOf(membersOf(call) ?? [], within);
  const start = span.start + (holder?.valueStart ?? 0);
  const end = holder === undefined ? span.end : span.start + holder.valueEnd;
  const given = memberOf(membersOf(text.slice(start, end)) ?? [], args);
  const json = given === undefined ? "null" : text.slice(start + given.valueStart, start + given.valueEnd);
  return memberEdit(text, { start, end }, args, isText ? asText(json) : asObject(json));
}

/** The JSON of a string that has the arguments. @param json the arguments as the upstream wrote them; this text and the result are latin1 */
function asText(json: string): string {
  if (json.startsWith("{") || json.startsWith("[")) return JSON.stringify(json);
  const given: unknown = JSON.parse(utf8Of(json));
  const isNone = typeof given !== "string" || isNoArguments(given);
  return latin1OfJson(isNone ? "{}" : withEscapedControls(given));
}

/** The JSON of an object that has the arguments; the texts are as those of {@link asText}. */
function asObject(json: string): string {
  const given: unknown = JSON.parse(utf8Of(json));
  const { text } = argumentsObject(typeof given === "string" ? given : "");
  return Buffer.from(text).toString("latin1");
}

function memberEdit(text: string, { start, end }: Span, name: string, value: string): Edit[] {
  const call = text.slice(start, end);
  const members = membersOf(call);
  return members === undefined ? [] : moved([setMember(call, members, name, value)], start);
}
