/** Tool calls of an upstream, whole or streamed: arguments of any shape, and an id for each call. */
import { carriedIn } from "../neutral/carried.ts";
import { isObject, type JsonObject } from "../neutral/reader.ts";
import { argumentsText, isNoArguments } from "../neutral/tool-arguments.ts";

/** Arguments as JSON text: some servers send the object itself. "" where there are none. */
export function argumentsOf(value: unknown): string {
  if (typeof value === "string") return carriedIn(value) ?? value;
  return typeof value === "object" && value !== null ? argumentsText(value) : "";
}

/** Arguments of a whole call, `{}` for "": clients do not run a tool with "" as its arguments. */
export const wholeArguments = (value: unknown): string => {
  const text = argumentsOf(value);
  return isNoArguments(text) ? "{}" : text;
};

/** A call of a custom tool. In a stream only its first piece says so. */
export const isCustomCall = ({ type, custom, function: fn }: JsonObject): boolean =>
  isObject(custom) && (type === "custom" || !isObject(fn));

const ID_LENGTH = 48;

/**
 * An id for a call without one: the same whenever the same answer is read, different in every answer.
 * @param reply the answer's own id.
 */
export function callIdOf(reply: unknown, choice: number, call: number): string {
  const base = typeof reply === "string" ? reply.replace(/[^A-Za-z0-9_-]/g, "").slice(-ID_LENGTH) : "";
  return `call_${base}_${choice}_${call}`;
}
