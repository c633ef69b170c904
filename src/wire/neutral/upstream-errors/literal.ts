/** JSON, and what Python writes for it (`repr`), at the start of a text. Every character is looked at a fixed number of times. */
import { objectAtStart } from "../../json/cut-object.ts";

/** What a text begins with, and where that ends. */
export interface Literal {
  readonly value: unknown;
  readonly end: number;
}

/** @returns undefined where the text begins with no object, list or string that is whole, or with a damaged one */
export function literalAtStart(text: string): Literal | undefined {
  const end = endOf(text);
  if (end < 0) return undefined;
  const written = text.slice(0, end);
  const value = jsonOf(written) ?? jsonOf(fromPython(written));
  return value === undefined ? undefined : { value, end };
}

/**
 * What is whole of JSON that was cut off, and of a string that was cut its beginning; of a list the first object.
 * @returns undefined where the text begins with no object, or where something is behind it
 */
export function cutJson(text: string): unknown {
  if (endOf(text) >= 0) return undefined;
  return jsonOf(objectAtStart(`${text.replace(/^\[\s*/, "")}"`) ?? "");
}

const BACKSLASH = "\\";

/** The index behind the first object, list or string of a text; -1 where it begins with none, or ends within it. */
function endOf(text: string): number {
  if (!/^[{["]/.test(text)) return -1;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === '"' || sign === "'") {
      at = quoteBehind(text, at);
      if (at < 0) return -1;
    } else if (sign === "{" || sign === "[" || sign === "(") depth++;
    else if (sign === "}" || sign === "]" || sign === ")") depth--;
    else continue;
    if (depth === 0) return at + 1;
  }
  return -1;
}

/** The index of the quote that ends a string; -1 where none does. @param quote the index of its first */
export function quoteBehind(text: string, quote: number): number {
  const sign = text.charAt(quote);
  for (let at = quote + 1; at < text.length; at++) {
    if (text.charAt(at) === BACKSLASH) at++;
    else if (text.charAt(at) === sign) return at;
  }
  return -1;
}

/** Strings (all of them end), numbers, words and what calls something, brackets of tuples, and commas before a bracket. */
const PYTHON = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\d[\w.+-]*|[A-Za-z_][\w.]*\(?|[()]|,(?=\s{0,20}[)\]}])/gs;
const PYTHON_WORDS: Readonly<Record<string, string>> = {
  None: "null",
  True: "true",
  False: "false",
  "(": "[",
  ")": "]",
  ",": "",
};

/** Python's literal as JSON text, if it is one. A tuple is a list, and so is what a call such as `ValueError('…')` is told. */
const fromPython = (literal: string): string =>
  literal.replace(PYTHON, (found, at: number) => {
    if (/^["']/.test(found)) return JSON.stringify(unescaped(found.slice(1, -1)));
    if (/^[bru]$/.test(found) && /["']/.test(literal.charAt(at + 1))) return "";
    return PYTHON_WORDS[found] ?? (found.endsWith("(") ? "[" : found);
  });

const ESCAPES = /\\(?:x([\da-f]{2})|u([\da-f]{4})|(.))/gis;
const LETTERS: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

/** The text of a string of Python's, without its quotes. */
export const unescaped = (written: string): string =>
  written.replace(ESCAPES, (_, byte?: string, unit?: string, sign = "") => {
    const code = byte ?? unit;
    return code === undefined ? (LETTERS[sign] ?? sign) : String.fromCharCode(Number.parseInt(code, 16));
  });

/** Undefined where the text is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
