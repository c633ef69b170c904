/** Tool calls of an upstream, whole or streamed: arguments of any shape. */
import { carriedIn } from "../neutral/carried.ts";
import { fragmentOf, textOf } from "../neutral/fragment.ts";
import type { Fragment, Seal } from "../neutral/neutral.ts";
import { isObject, type JsonObject, objectOf, stringOf } from "../neutral/reader.ts";
import { argumentsText, objectIn } from "../neutral/tool-arguments.ts";

/** A call of a stream. */
export interface Call {
  /** The upstream's index; undefined where it gave none. */
  readonly given: number | undefined;
  /** The same, unless it was missing or another call's: clients join the pieces of a call by it. */
  readonly index: number;
  /** The call's number among the parts of its choice; -1 until the call begins, for which its name must have come. */
  part: number;
  id: string;
  name: string;
  /** Arguments that came before it began. */
  early: Fragment;
  /** Its arguments while no piece has come after those that it began with. */
  first: Fragment;
  /** Whether `first` is a whole object, for the text that was looked at last: each further piece of the call asks, and it may be long. */
  whole: { readonly first: Fragment; readonly is: boolean } | undefined;
  seal: Seal | undefined;
  /** A piece of its arguments has come. */
  hasArguments: boolean;
  /** The client gets an id that is made here. */
  hasMadeId: boolean;
  /** The event that had a piece of its name last. */
  namedIn: number;
  /** It is called with a text, not with arguments. */
  isCustom: boolean;
}

export const newCall = (given: number | undefined, index: number): Call => ({
  given,
  index,
  part: -1,
  id: "",
  name: "",
  early: "",
  first: "",
  whole: undefined,
  seal: undefined,
  hasArguments: false,
  hasMadeId: false,
  namedIn: -1,
  isCustom: false,
});

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
 * Servers give all calls one index, or none, and some all of them one id: a new id with a name is a new call, and so is a whole call
 * after a whole one, and another name after arguments. A new id alone is not: some servers make one for each piece.
 */
export function begins({ index, id, function: fn, custom }: JsonObject, last: Call): boolean {
  const { name, arguments: given } = objectOf(fn ?? custom);
  const isOther = stringOf(id) !== "" && last.id !== "" && last.id !== id;
  if (stringOf(name) === "") return isOther && typeof index !== "number" && argumentsOf(given) === "";
  if (isOther || (last.hasArguments && last.name !== "" && name !== last.name)) return true;
  return argumentsOf(given).trimStart().startsWith("{") && isWhole(last);
}

/** Whether a piece has a name, or a part of one. */
export const isNamed = ({ function: fn, custom }: JsonObject): boolean =>
  stringOf(objectOf(fn ?? custom).name) !== "";

/** A name with its next piece. Some servers send a name in pieces, some the whole of it each time. */
export const grown = (name: string, piece: string): string => (piece.startsWith(name) ? piece : name + piece);

/** Whether a piece says the whole call once more, as some servers do at its end. */
export function repeats({ id, function: fn, custom }: JsonObject, last: Call): boolean {
  const { name, arguments: given } = objectOf(fn ?? custom);
  if (id !== last.id || name !== last.name || last.first === "") return false;
  return fragmentOf(argumentsOf(given)) === last.first && isWhole(last);
}

/** A piece of which no call can be begun. */
export const saysNothing = ({ id, function: fn, custom, extra_content: extra }: JsonObject): boolean =>
  stringOf(id) === "" && !isObject(fn) && !isObject(custom) && extra === undefined;

/** Whether they are the empty object that some servers send before the arguments. */
export const hasNothing = (first: Fragment): boolean => /^\{ *\}$/.test(first);

function isWhole(call: Call): boolean {
  const { first } = call;
  if (call.whole?.first !== first) {
    const is = first.startsWith("{") && first.endsWith("}") && objectIn(textOf(first)) !== undefined;
    call.whole = { first, is };
  }
  return call.whole?.is === true;
}
