/** Tool calls of an upstream, whole or streamed: arguments of any shape. */
import { carriedIn } from "../neutral/carried.ts";
import { textOf } from "../neutral/fragment.ts";
import type { Fragment } from "../neutral/neutral.ts";
import { isObject, type JsonObject, objectOf, stringOf } from "../neutral/reader.ts";
import { argumentsText, objectIn } from "../neutral/tool-arguments.ts";

/** Arguments as JSON text: some servers send the object itself. "" where there are none. */
export function argumentsOf(value: unknown): string {
  if (typeof value === "string") return carriedIn(value) ?? value;
  return typeof value === "object" && value !== null ? argumentsText(value) : "";
}

/** A call of a custom tool. In a stream only its first piece says so. */
export const isCustomCall = ({ type, custom, function: fn }: JsonObject): boolean =>
  isObject(custom) && (type === "custom" || !isObject(fn));

/**
 * Whether a piece of a call begins another one than the last call at its index, or than the last of all where it has no index.
 * Servers give all calls one index, or none: a new id with a name is a new call, and so is a whole call after a whole one. A new id
 * alone is not: some servers make one for each piece.
 */
export function begins({ index, id, function: fn, custom }: JsonObject, last: BegunCall): boolean {
  const { name, arguments: given } = objectOf(fn ?? custom);
  const isOther = stringOf(id) !== "" && last.id !== "" && last.id !== id;
  if (stringOf(name) === "") return isOther && typeof index !== "number" && argumentsOf(given) === "";
  if (isOther) return true;
  return argumentsOf(given).trimStart().startsWith("{") && isWhole(last.first);
}

/** A piece of which no call can be begun. */
export const saysNothing = ({ id, function: fn, custom, extra_content: extra }: JsonObject): boolean =>
  stringOf(id) === "" && !isObject(fn) && !isObject(custom) && extra === undefined;

/** The arguments of a call are in `first` as long as they are all that it has. */
interface BegunCall {
  readonly id: string;
  readonly first: Fragment;
}

const isWhole = (first: Fragment): boolean =>
  first.startsWith("{") && first.endsWith("}") && objectIn(textOf(first)) !== undefined;
