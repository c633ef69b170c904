/**
 * Arguments of tool calls: JSON text in the neutral contract, an object in some dialects. A value is made of them only to see that
 * they are JSON; what is sent is their text.
 */
import { fail } from "../../base/errors.ts";
import { EMPTY_OBJECTS, objectAtStart, withEscapedControls } from "../json/cut-object.ts";
import { holdsTooMuch, valuesWithin } from "../json/json.ts";
import { REQUEST_BOUNDS, UNBOUNDED } from "../json/json-bounds.ts";
import { JsonText, withMember } from "../json/json-text.ts";
import { wellFormedJson } from "../json/surrogates.ts";
import { carriedIn } from "./carried.ts";
import type { NeutralMessage } from "./neutral.ts";
import { isObject } from "./reader.ts";

/** The schema of tools that say none. */
export const NO_PARAMETERS = new JsonText('{"type":"object","properties":{}}');

/** A schema of objects that have anything. */
export const ANY_OBJECT = new JsonText('{"type":"object"}');

/** A tool's parameters for providers that refuse a schema whose type is not that of an object. */
export const objectSchema = (parameters: JsonText): JsonText =>
  parameters.isObject ? withMember(parameters, "type", '"object"') : NO_PARAMETERS;

const NO_ARGUMENTS = new JsonText("{}");

/** The object that a text is; undefined where it is none, or holds more than a body may. */
export function objectIn(text: string): JsonText | undefined {
  try {
    if (holdsTooMuch(text, REQUEST_BOUNDS)) return undefined;
    return isObject(JSON.parse(text)) ? new JsonText(text) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Arguments in a string are no values of the body: together they may be as many.
 * @throws WeirError `invalid_value` naming the message
 */
export function refuseCrowdedCalls(messages: readonly NeutralMessage[]): void {
  let left = REQUEST_BOUNDS.values;
  for (const { parts, at } of messages) {
    for (const part of parts) {
      if (part.type !== "tool_call") continue;
      left -= valuesIn(part.arguments);
      if (left >= 0) continue;
      const message = `The arguments of calls have more than ${REQUEST_BOUNDS.values} values.`;
      throw fail("invalid_value", message, { param: at });
    }
  }
}

const COUNTED = Object.freeze({ ...UNBOUNDED, values: REQUEST_BOUNDS.values });

/**
 * The number of values in a call's arguments. Arguments that are no JSON, or nest too deep, have none: a dialect that takes an object
 * refuses them, and any other gets them as text.
 */
function valuesIn(text: string): number {
  try {
    return valuesWithin(text, COUNTED) ?? (text.length > COUNTED.values ? text.length : 0);
  } catch {
    return 0;
  }
}

/** Models and clients that call a tool without arguments say so in these ways. */
export const isNoArguments = (text: string): boolean =>
  text.charCodeAt(0) !== OPEN_OBJECT && /^\s*(?:null\s*)?$/.test(text);

const OPEN_OBJECT = 123;

/**
 * The object that a call's arguments are meant as: none given, JSON text within a JSON string (models encode twice), an object
 * with something behind it, one that was cut off (see {@link objectAtStart}), and one whose strings have line breaks as they are. All
 * else is in an object under the name that Anthropic gives invalid JSON ("Fine-grained tool streaming", "Handling invalid JSON in tool
 * responses"): models write it, and clients send it back at each turn (openai/openai-agents-python#2061, MoonshotAI/kimi-cli#2165).
 */
export function argumentsObject(text: string): JsonText {
  const meant = objectMeant(text);
  if (meant !== undefined) return meant;
  const escaped = withEscapedControls(text);
  const invalid = () => new JsonText(wellFormedJson(JSON.stringify({ INVALID_JSON: text })));
  return (escaped === text ? undefined : objectMeant(escaped)) ?? invalid();
}

function objectMeant(text: string): JsonText | undefined {
  if (isNoArguments(text)) return NO_ARGUMENTS;
  const object = objectIn(text);
  if (object !== undefined) return object;
  const inner = stringIn(text);
  if (inner !== undefined) return isNoArguments(inner) ? NO_ARGUMENTS : objectIn(inner);
  const begun = objectAtStart(text);
  return begun === undefined ? undefined : objectIn(begun);
}

/** The JSON text of an object, or of nothing, that a JSON text is a string of: models encode twice. Any other text is returned as it is. */
function encodedOnce(text: string): string {
  const inner = stringIn(text);
  return inner !== undefined && (isNoArguments(inner) || objectIn(inner) !== undefined) ? inner : text;
}

/** The string that a JSON text is; undefined where it is none. */
function stringIn(text: string): string | undefined {
  if (!/^\s*"/.test(text)) return undefined;
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

/** The arguments of a whole call of an answer, without empty objects before them: see {@link objectAtStart}. */
export function repliedArguments(value: unknown): string {
  const text = argumentsText(value);
  return text.startsWith(OBJECT_BEGUN) ? text : text.replace(EMPTY_OBJECTS, "");
}

/** How most arguments begin: with a name. */
const OBJECT_BEGUN = '{"';

/**
 * JSON text of what an upstream gave as an object, or as the text of one; `{}` of anything else.
 * @throws WeirError `upstream_invalid_response` where it nests so deep that it cannot be written again.
 */
export function argumentsText(value: unknown): string {
  const carried = carriedIn(value);
  if (carried === undefined && typeof value === "string") {
    const text = encodedOnce(value);
    return isNoArguments(text) ? "{}" : wellFormedJson(withEscapedControls(text));
  }
  if (carried === undefined && (typeof value !== "object" || value === null)) return NO_ARGUMENTS.text;
  try {
    const json = carried ?? JSON.stringify(value);
    if (!holdsTooMuch(json, UNBOUNDED)) return wellFormedJson(json);
  } catch {
    // The stack is not deep enough for it.
  }
  throw fail("upstream_invalid_response", "The provider's call of a tool nests too deep.");
}
