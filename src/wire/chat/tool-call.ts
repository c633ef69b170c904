/** Tool calls of an upstream, whole or streamed: arguments of any shape. */
import { carriedIn } from "../neutral/carried.ts";
import { isObject, type JsonObject } from "../neutral/reader.ts";
import { argumentsText } from "../neutral/tool-arguments.ts";

/** Arguments as JSON text: some servers send the object itself. "" where there are none. */
export function argumentsOf(value: unknown): string {
  if (typeof value === "string") return carriedIn(value) ?? value;
  return typeof value === "object" && value !== null ? argumentsText(value) : "";
}

/** A call of a custom tool. In a stream only its first piece says so. */
export const isCustomCall = ({ type, custom, function: fn }: JsonObject): boolean =>
  isObject(custom) && (type === "custom" || !isObject(fn));
