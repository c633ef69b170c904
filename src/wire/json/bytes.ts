/**
 * Finds where names and values of JSON stand in its bytes, which are UTF-8 or one a character. Callers pass valid JSON, or check it before
 * they use the positions: these functions throw only for a string that does not end, and they come to an end with any bytes.
 */
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  SPACE,
} from "./characters.ts";
import { syntax } from "./json-string.ts";
import type { Span } from "./spans.ts";

const BRACE_BIT = 32;

/** The spans of the elements of a list. @param open the index of its bracket */
export function elementSpans(bytes: Buffer, open: number): Span[] {
  const spans: Span[] = [];
  let at = skipSpace(bytes, open + 1);
  while (at < bytes.length && bytes[at] !== CLOSE_ARRAY) {
    const end = valueEnd(bytes, at);
    spans.push({ start: at, end });
    at = behindComma(bytes, end);
  }
  return spans;
}

/** An object in a list. */
export interface ObjectMembers {
  /** The index of its brace. */
  readonly open: number;
  /** The spans of its names, with their quotes, and of their values: one behind the other. */
  readonly spans: readonly Span[];
}

/** The objects among the elements of a list, with their members. @param open the index of its bracket */
export function objectsIn(bytes: Buffer, open: number): ObjectMembers[] {
  const objects: ObjectMembers[] = [];
  let at = skipSpace(bytes, open + 1);
  while (at < bytes.length && bytes[at] !== CLOSE_ARRAY) {
    if (bytes[at] !== OPEN_OBJECT) {
      at = behindComma(bytes, valueEnd(bytes, at));
      continue;
    }
    const spans: Span[] = [];
    objects.push({ open: at, spans });
    at = behindComma(bytes, addMembers(bytes, at, spans));
  }
  return objects;
}

/** @returns the index behind the object */
function addMembers(bytes: Buffer, open: number, spans: Span[]): number {
  let at = skipSpace(bytes, open + 1);
  while (bytes[at] === QUOTE) {
    const nameEnd = stringEnd(bytes, at);
    // Behind the name is its colon.
    const start = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const end = valueEnd(bytes, start);
    spans.push({ start: at, end: nameEnd }, { start, end });
    at = behindComma(bytes, end);
  }
  return at + 1;
}

/** The index of what follows a value and its comma. */
function behindComma(bytes: Buffer, end: number): number {
  const at = skipSpace(bytes, end);
  return bytes[at] === COMMA ? skipSpace(bytes, at + 1) : at;
}

/** Up to so many bytes of a string, looking at each costs less than a search. */
const NEAR = 96;
/** Beyond so many quotes inside one string, looking at every byte costs less than looking for the next. */
const FEW_QUOTES = 16;

/** The index behind the quote that ends the string whose quote is at `open`. @throws WeirError `invalid_json` if none does */
export function stringEnd(bytes: Buffer, open: number): number {
  const near = Math.min(open + NEAR, bytes.length);
  let at = open + 1;
  for (; at < near; at++) {
    const c = bytes[at];
    if (c === BACKSLASH) at++;
    else if (c === QUOTE) return at + 1;
  }
  return longStringEnd(bytes, at);
}

/** The same of a long string. @param from within it, at no character that is escaped */
function longStringEnd(bytes: Buffer, from: number): number {
  let at = from;
  for (let quotes = 0; quotes < FEW_QUOTES; quotes++) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) throw syntax(bytes.length);
    let back = quote;
    while (back > at && bytes[back - 1] === BACKSLASH) back--;
    if ((quote - back) % 2 === 0) return quote + 1;
    at = quote + 1;
  }
  for (; at < bytes.length; at++) {
    const c = bytes[at];
    if (c === BACKSLASH) at++;
    else if (c === QUOTE) return at + 1;
  }
  throw syntax(bytes.length);
}

/** The index behind the value at `at`. @throws WeirError `invalid_json` where a string does not end */
export function valueEnd(bytes: Buffer, at: number): number {
  const first = bytes[at];
  if (first === QUOTE) return stringEnd(bytes, at);
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return scalarEnd(bytes, at);
  const { length } = bytes;
  let depth = 0;
  for (let i = at; i < length; ) {
    const c = bytes[i] as number;
    if (c === QUOTE) {
      i = stringEnd(bytes, i);
      continue;
    }
    i++;
    // One bit is between a bracket and its brace.
    const kind = c | BRACE_BIT;
    if (kind === OPEN_OBJECT) depth++;
    else if (kind === CLOSE_OBJECT && --depth === 0) return i;
  }
  return length;
}

function scalarEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const c = bytes[at] as number;
    if (c === COMMA || c === CLOSE_OBJECT || c === CLOSE_ARRAY || c <= SPACE) break;
    at++;
  }
  // Never stands still, whatever the text is.
  return at === from ? from + 1 : at;
}

/** The index of the first byte that is no white space. */
export function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] as number) <= SPACE) at++;
  return at;
}
