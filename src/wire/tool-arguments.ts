/** Arguments of tool calls: JSON text in the neutral contract, an object in some dialects. */
import { fail } from "../errors.ts";
import { holdsTooMuch } from "./json.ts";
import { REQUEST_BOUNDS, UNBOUNDED } from "./json-bounds.ts";
import type { ToolCallPart } from "./neutral.ts";
import { isObject, type JsonObject } from "./reader.ts";

/** The object that a text is; undefined where it is none, or holds more than a body may. */
export function objectIn(text: string): JsonObject | undefined {
  try {
    if (holdsTooMuch(text, REQUEST_BOUNDS)) return undefined;
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @param at of the message. @throws WeirError 400: a dialect that takes an object cannot be told anything else. */
export function argumentsOf({ name, arguments: json }: ToolCallPart, at: string): Record<string, unknown> {
  const args = json === "" ? {} : objectIn(json);
  if (args !== undefined) return args;
  throw fail(
    "invalid_value",
    `The arguments of the call of "${name}" are no JSON object, or hold too much.`,
    { param: at },
  );
}

/**
 * JSON text of what an upstream gave as an object.
 * @throws WeirError `upstream_invalid_response` where it nests so deep that it cannot be written again.
 */
export function argumentsText(value: object): string {
  try {
    const json = JSON.stringify(value);
    if (!holdsTooMuch(json, UNBOUNDED)) return json;
  } catch {
    // The stack is not deep enough for it.
  }
  throw fail("upstream_invalid_response", "The provider's call of a tool nests too deep.");
}
