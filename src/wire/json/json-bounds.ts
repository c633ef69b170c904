/** How much JSON a body may hold, whatever its bytes: each value costs memory and time to build, however short its text. */
import { pointerTo } from "../../base/document/document.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import { closingQuote } from "./json-string.ts";

export interface JsonBounds {
  /** Members of any one object. */
  readonly members: number;
  /** Objects, lists, members and elements in all. */
  readonly values: number;
  /** Bytes of the name of a member at the top. */
  readonly name: number;
}

/**
 * Bounds of what a caller sends. A map of a million members takes seconds to build, ten million nodes take a gigabyte; a list of
 * half a million token ids is read. Names at the top are kept, compared and repeated in errors.
 */
export const REQUEST_BOUNDS: JsonBounds = Object.freeze({ members: 10_000, values: 1_000_000, name: 1024 });

const NONE = 2 ** 31 - 1;
/** Bounds of what an upstream answers: a batch of embeddings is millions of numbers. Its bytes are bounded elsewhere. */
export const UNBOUNDED: JsonBounds = Object.freeze({ members: NONE, values: NONE, name: NONE });

/** Characters of a name in a pointer. */
const MAX_NAME = 256;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Counts the values of a text as they are met. Its outermost value has depth 1. */
export class Tally {
  #values = 0;
  /** How many members each object or list that is open may still get, by its depth. */
  readonly #room: Int32Array;

  constructor(maxDepth: number) {
    this.#room = new Int32Array(maxDepth + 1);
  }

  /** A text begins. @returns whether it is counted at all */
  begin(counts: boolean): boolean {
    this.#values = 0;
    return counts;
  }

  /** An object or a list begins. @throws WeirError `invalid_value` */
  opened(depth: number, isObject: boolean, pointer: string, bounds: JsonBounds): void {
    if (++this.#values > bounds.values) throw tooManyValues(pointer, bounds);
    this.#room[depth] = isObject ? bounds.members : bounds.values;
  }

  /** What is open at this depth gets another member. @throws WeirError `invalid_value` */
  comma(text: string, at: number, depth: number, pointer: string, bounds: JsonBounds): void {
    if (++this.#values > bounds.values) throw tooManyValues(pointer, bounds);
    const left = (this.#room[depth] as number) - 1;
    if (left === 0) throw tooManyMembers(text, at, pointer, bounds);
    this.#room[depth] = left;
  }
}

/**
 * Names the object that is open at a place of the text. The way to it is looked for only now: most bodies are within the
 * bounds.
 * @param pointer JSON pointer to the outermost object.
 */
function tooManyMembers(text: string, at: number, pointer: string, { members }: JsonBounds): WeirError {
  const param = pointer + pointerAt(text, at);
  return fail("invalid_value", `The object at ${param} has more than ${members} members.`, { param });
}

/** @param pointer JSON pointer to the outermost object. */
const tooManyValues = (pointer: string, { values }: JsonBounds): WeirError =>
  fail("invalid_value", `The body has more than ${values} values.`, { param: pointer });

/** JSON pointer to the object or list that is open at a place of JSON text; empty where it is the outermost. */
function pointerAt(text: string, at: number): string {
  const path: (string | number)[] = [];
  let word = "";
  for (let i = 0; i < at; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      const end = closingQuote(text, i + 1);
      // Names are short where the path can be of use.
      word = text.slice(i + 1, Math.min(end, i + 1 + MAX_NAME));
      i = end;
    } else if (c === COLON) path[path.length - 1] = word;
    else if (c === OPEN_OBJECT) path.push("");
    else if (c === OPEN_ARRAY) path.push(0);
    else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) path.pop();
    else if (c === COMMA) {
      const last = path.at(-1);
      if (typeof last === "number") path[path.length - 1] = last + 1;
    }
  }
  return pointerTo(
    path
      .slice(0, -1)
      .map((step) => (typeof step === "string" ? Buffer.from(step, "latin1").toString() : step)),
  );
}
