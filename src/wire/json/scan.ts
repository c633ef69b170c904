/** Where values of JSON text end, without building them. */
import { fail } from "../../base/errors.ts";
import { closingQuote } from "./json-string.ts";

const QUOTE = 34;
const COMMA = 44;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** A name may be written with escapes. @throws WeirError `invalid_json`: long names were not looked into before */
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
    if (c === COMMA || c === CLOSE_OBJECT || c === CLOSE_ARRAY || c <= 32) break;
    at++;
  }
  // Never stands still, whatever the text is.
  return at === from ? from + 1 : at;
}

export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 32) at++;
  return at;
}
