/**
 * Elements and members of a long JSON text by position, found a slice at a time: a stored conversation has megabytes, and a walk over
 * them by characters takes tens of milliseconds.
 */
import { BACKSLASH, CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from "./characters.ts";
import { closingQuote, syntax } from "./json-string.ts";
import type { Span } from "./spans.ts";

/** Where a member's value stands. */
interface NamedSpan extends Span {
  /** Without escapes. */
  readonly key: string;
}

/** Steps of one slice, half a millisecond: one for each character that is looked at. */
const STEPS_A_SLICE = 100_000;
/** So many steps are counted for the work on each part that is found. */
const STEPS_OF_PART = 200;
/** No member that is looked for has a longer name. */
const MAX_KEY = 64;

/** Where a walk is. */
interface Place {
  at: number;
  /** Brackets that are open. */
  depth: number;
  /** Within a string that has escapes. */
  isInText: boolean;
}

export class TextWalk {
  readonly text: string;
  #left = STEPS_A_SLICE;

  /** @param text valid JSON, or the inside of a list */
  constructor(text: string) {
    this.text = text;
  }

  /** Counts work done beside the walk. @returns whether the slice is over: the caller yields then */
  isDue(steps: number): boolean {
    this.#left -= steps;
    if (this.#left > 0) return false;
    this.#left = STEPS_A_SLICE;
    return true;
  }

  /**
   * What stands between the commas of a list or an object.
   * @param start of its inside, behind the bracket
   * @param end of its inside
   * @returns undefined now and then: the slice is over
   * @throws WeirError `invalid_json` where a string does not end
   */
  *parts(start: number, end: number): Generator<Span | undefined, void, undefined> {
    const place: Place = { at: start, depth: 0, isInText: false };
    for (let from = start; ; ) {
      const before = place.at;
      const isComma = toComma(this.text, place, Math.min(end, before + this.#left), end);
      const isDue = this.isDue(place.at - before);
      if (isComma || place.at >= end) {
        if (place.isInText) throw syntax(end);
        const part = trimmed(this.text, from, isComma ? place.at - 1 : end);
        if (part !== undefined) yield part;
        if (!isComma) return;
        from = place.at;
        if (this.isDue(STEPS_OF_PART)) yield undefined;
      } else if (isDue) yield undefined;
    }
  }

  /** The members of an object; none of what is no object. Members of one name are all given. Yields as `parts`. */
  *members({ start, end }: Span): Generator<NamedSpan | undefined, void, undefined> {
    if (this.text.charCodeAt(start) !== OPEN_OBJECT) return;
    for (const part of this.parts(start + 1, end - 1)) yield part && this.#named(part);
  }

  #named({ start, end }: Span): NamedSpan | undefined {
    const { text } = this;
    const quote = closingQuote(text, start + 1);
    const value = trimmed(text, text.indexOf(":", quote) + 1, end);
    if (value === undefined || quote - start > MAX_KEY) return undefined;
    const key = text.slice(start + 1, quote);
    return { key: key.includes("\\") ? JSON.parse(`"${key}"`) : key, ...value };
  }
}

/**
 * Goes on to behind the next comma outside of brackets, or to `to`; or beyond, to the end of a string without escapes, which is found
 * at once.
 * @returns whether it is behind such a comma
 */
function toComma(text: string, place: Place, to: number, end: number): boolean {
  let { at, depth, isInText } = place;
  let isComma = false;
  while (at < to && !isComma) {
    const c = text.charCodeAt(at++);
    if (isInText) {
      if (c === BACKSLASH) at++;
      else if (c === QUOTE) isInText = false;
    } else if (c === QUOTE) {
      const quote = text.indexOf('"', at);
      if (quote < 0) throw syntax(end);
      if (text.charCodeAt(quote - 1) === BACKSLASH) isInText = true;
      else at = quote + 1;
    } else if (c === OPEN_ARRAY || c === OPEN_OBJECT) depth++;
    else if (c === CLOSE_ARRAY || c === CLOSE_OBJECT) depth--;
    else if (c === COMMA && depth === 0) isComma = true;
  }
  place.at = at;
  place.depth = depth;
  place.isInText = isInText;
  return isComma;
}

function trimmed(text: string, start: number, end: number): Span | undefined {
  let from = start;
  let to = end;
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  return from < to ? { start: from, end: to } : undefined;
}

/** White space of JSON is what is up to a space. */
const isSpace = (code: number): boolean => code <= 32;
