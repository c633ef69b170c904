/** Where values of JSON text end, without building them. */

import { fail } from "../../base/errors.ts";
import { CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE, SPACE } from "./characters.ts";
import { closingQuote } from "./json-string.ts";

/** A name may be written with escapes. @throws WeirError `invalid_json` where one is none */
export function nameOf(text: string, open: number, quote: number): string {
  const name = text.slice(open + 1, quote);
  if (!name.includes("\\")) return name;
  try {
    return JSON.parse(`"${name}"`) as string;
  } catch {
    throw fail("invalid_json", "The body is not valid JSON (in a name).");
  }
}

export function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return closingQuote(text, at + 1) + 1;
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return scalarEnd(text, at);
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = closingQuote(text, i + 1);
    else if (c === OPEN_OBJECT || c === OPEN_ARRAY) depth++;
    else if ((c === CLOSE_OBJECT || c === CLOSE_ARRAY) && --depth === 0) return i + 1;
  }
  return text.length;
}

function scalarEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const c = text.charCodeAt(at);
    if (c === COMMA || c === CLOSE_OBJECT || c === CLOSE_ARRAY || c <= SPACE) break;
    at++;
  }
  // Never stands still, whatever the text is.
  return at === from ? from + 1 : at;
}

export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= SPACE) at++;
  return at;
}
