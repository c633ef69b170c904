/**
 * Finds the values at some paths of a JSON text by position, without building them: those that are only carried
 * ({@link JsonText}). Works on text of one character a byte as well as on decoded text.
 */
import { fail } from "../../base/errors.ts";
import type { Member } from "./json.ts";
import { closingQuote } from "./json-string.ts";
import type { Span } from "./spans.ts";

/** A path of names; `*` stands for every element of a list. */
export type OpaquePath = readonly string[];

/** Paths by their first name. A leaf is a value that is carried. */
export interface OpaquePaths {
  readonly isLeaf: boolean;
  /** Few, so that comparing a name with all costs less than a hash of it. */
  readonly within: readonly NamedPaths[];
  /** The last names of the paths, each before an object or a list. */
  readonly sign: RegExp;
}

interface NamedPaths {
  readonly name: string;
  readonly paths: OpaquePaths;
}

const NOTHING: OpaquePaths = { isLeaf: false, within: [], sign: /(?!)/ };

/** No value of these. */
export const NO_PATHS = NOTHING;

/** Whether a text may have values at the paths. Costs far less than to look for them. */
export const hasCarried = (text: string, paths: OpaquePaths): boolean =>
  paths !== NOTHING && paths.sign.test(text);

export function opaquePaths(paths: readonly OpaquePath[]): OpaquePaths {
  const byName = new Map<string, OpaquePath[]>();
  let isLeaf = false;
  for (const [name, ...rest] of paths) {
    if (name === undefined) isLeaf = true;
    else byName.set(name, [...(byName.get(name) ?? []), rest]);
  }
  const within = Array.from(byName, ([name, rests]) => ({ name, paths: opaquePaths(rests) }));
  const last = new Set(paths.flatMap((path) => path.findLast((name) => name !== "*") ?? []));
  // Behind a quote that is escaped, a name is text within a string.
  const plain = `"(?:${[...last].join("|")})"`;
  // A name may be written with escapes of its letters, which texts have no reason to escape.
  const escapedLength = ESCAPE_LENGTH * Math.max(0, ...[...last].map((name) => name.length));
  const escaped = `\\\\u00[4-7][\\da-fA-F][^"]{0,${escapedLength}}"`;
  return { isLeaf, within, sign: new RegExp(`(?:${plain}|${escaped})\\s*:\\s*[{[]`) };
}

const ESCAPE_LENGTH = 6;

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * As {@link opaqueSpans}, in a body whose members are known by position. Those without such a path are not looked at.
 * @throws WeirError `invalid_json` where a name is damaged
 */
export function carriedSpans(bytes: Buffer, members: readonly Member[], { within }: OpaquePaths): Span[] {
  const spans: Span[] = [];
  for (const { key, valueStart, valueEnd } of members) {
    const paths = pathsOf(within, key);
    if (paths === undefined) continue;
    const text = bytes.toString("latin1", valueStart, valueEnd);
    if (!hasCarried(text, paths)) continue;
    for (const { start, end } of opaqueSpans(text, 0, paths)) {
      spans.push({ start: valueStart + start, end: valueStart + end });
    }
  }
  return spans;
}

/**
 * The spans of objects and lists at these paths, in order. Other values stay where they are: they are too small to lose
 * anything but a number's form, and readers expect to see them.
 * @param text valid JSON. @param at where the value begins
 * @throws WeirError `invalid_json` where a name is damaged
 */
export function opaqueSpans(text: string, at: number, paths: OpaquePaths): Span[] {
  const spans: Span[] = [];
  walk(text, skipSpace(text, at), paths, spans);
  return spans;
}

/** @returns the index behind the value */
function walk(text: string, at: number, paths: OpaquePaths, spans: Span[]): number {
  const c = text.charCodeAt(at);
  if (paths.isLeaf) {
    const end = valueEnd(text, at);
    if (c === OPEN_OBJECT || c === OPEN_ARRAY) spans.push({ start: at, end });
    return end;
  }
  if (paths === NOTHING) return valueEnd(text, at);
  if (c === OPEN_OBJECT) return walkObject(text, at, paths, spans);
  const each = c === OPEN_ARRAY ? pathsOf(paths.within, "*") : undefined;
  return each === undefined ? valueEnd(text, at) : walkList(text, at, each, spans);
}

function walkObject(text: string, open: number, paths: OpaquePaths, spans: Span[]): number {
  let at = skipSpace(text, open + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const quote = closingQuote(text, at + 1);
    const inner = pathsBehind(text, at, quote, paths);
    // Behind the name are its colon and the value.
    at = walk(text, skipSpace(text, skipSpace(text, quote + 1) + 1), inner, spans);
    at = skipSpace(text, at);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return at + 1;
}

const pathsOf = (within: readonly NamedPaths[], wanted: string): OpaquePaths | undefined =>
  within.find(({ name }) => name === wanted)?.paths;

/** The paths within the member whose name is between two quotes. The name is compared in place: most have no path. */
function pathsBehind(text: string, open: number, quote: number, { within }: OpaquePaths): OpaquePaths {
  const start = open + 1;
  for (const { name, paths } of within) {
    if (name.length === quote - start && text.startsWith(name, start)) return paths;
  }
  for (let at = start; at < quote; at++) {
    if (text.charCodeAt(at) === BACKSLASH) return pathsOf(within, nameOf(text, open, quote)) ?? NOTHING;
  }
  return NOTHING;
}

function walkList(text: string, open: number, each: OpaquePaths, spans: Span[]): number {
  let at = skipSpace(text, open + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_ARRAY) {
    at = skipSpace(text, walk(text, at, each, spans));
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return at + 1;
}

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
