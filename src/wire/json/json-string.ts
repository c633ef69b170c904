/** Where strings of JSON text end, and whether they are valid, without building them. */
import { fail, type WeirError } from "../../base/errors.ts";
import { MOST_SCANNED, scanString } from "../../base/scan/scan.ts";

const QUOTE = 34;
const BACKSLASH = 92;

/** Beyond so many quotes inside one string, looking at every character costs less than looking for the next. */
const FEW_QUOTES = 16;

/** The index of the quote that ends a string whose first character is at `from`. @throws `invalid_json` when none does. */
export function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  for (let seen = 0; at >= 0 && seen < FEW_QUOTES; seen++) {
    if (isClosing(text, at, from)) return at;
    at = text.indexOf('"', at + 1);
  }
  if (at < 0) throw syntax(text.length);
  if (isClosing(text, at, from)) return at;
  // This quote is escaped. After it, each backslash escapes the character behind it.
  for (at++; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === BACKSLASH) at++;
    else if (c === QUOTE) return at;
  }
  throw syntax(text.length);
}

/** Whether the quote at `at` ends the string that begins at `from`: an even number of backslashes precedes it. */
export function isClosing(text: string, at: number, from: number): boolean {
  let back = at - 1;
  while (back >= from && text.charCodeAt(back) === BACKSLASH) back--;
  return ((at - 1 - back) & 1) === 0;
}

/** The end of a part may leave so many bytes of an escape in it. */
const CUT_ESCAPE = 5;

/**
 * Looks into a string that is not parsed.
 * @param from behind its first quote @param to its last quote
 * @throws WeirError `invalid_json` where it has a control character, or an escape that JSON does not know
 */
export function refuseInvalid(bytes: Uint8Array, from: number, to: number): void {
  for (let at = from; at < to; ) {
    const length = Math.min(to - at, MOST_SCANNED);
    const valid = scanString(bytes.subarray(at, at + length));
    // An escape that is cut begins the next part.
    if (valid < length && (at + length === to || valid + CUT_ESCAPE < length)) throw syntax(at + valid);
    at += valid;
  }
}

/** White space between values (RFC 8259, 2). */
export const isSpace = (c: number): boolean => c === 32 || c === 10 || c === 13 || c === 9;

/** The offset of the first byte from `from` on that is no white space. */
export function skipSpace(bytes: Uint8Array, from: number): number {
  let i = from;
  // A read beyond the end would cost all others more.
  while (i < bytes.length && isSpace(bytes[i] as number)) i++;
  return i;
}

/** @param at index of the byte where the text stops being JSON. */
export const syntax = (at: number): WeirError =>
  fail("invalid_json", `The body is not valid JSON (at byte ${at}).`);
