/**
 * Finds the values at some paths of JSON by position, without building them: those that are only carried ({@link JsonText}). Works on
 * bytes: V8 reads one in a quarter of the instructions that it takes for a character of a string.
 */
import type { Member } from "./json.ts";
import { syntax } from "./json-string.ts";
import { nameOf } from "./scan.ts";
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
  const longest = paths.flat().reduce((most, name) => Math.max(most, name.length), 0);
  const escaped = `\\\\u00[4-7][\\da-fA-F][^"]{0,${ESCAPE_LENGTH * longest}}"`;
  return { isLeaf, within, sign: new RegExp(`(?:${plain}|${escaped})\\s*:\\s*[{[]`) };
}

const ESCAPE_LENGTH = 6;

const SPACE = 32;
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
    if (paths === undefined || !hasCarried(bytes.toString("latin1", valueStart, valueEnd), paths)) continue;
    walk(bytes, valueStart, paths, spans);
  }
  return spans;
}

/**
 * The spans of objects and lists at these paths, in order. Other values stay where they are: they are too small to lose
 * anything but a number's form, and readers expect to see them.
 * @param bytes of valid JSON, one a character or UTF-8. @param at where the value begins
 * @throws WeirError `invalid_json` where a name is damaged
 */
export function opaqueSpans(bytes: Buffer, at: number, paths: OpaquePaths): Span[] {
  const spans: Span[] = [];
  walk(bytes, skipSpace(bytes, at), paths, spans);
  return spans;
}

/** @returns the index behind the value */
function walk(bytes: Buffer, at: number, paths: OpaquePaths, spans: Span[]): number {
  const c = bytes[at];
  if (paths.isLeaf) {
    const end = valueEnd(bytes, at);
    if (c === OPEN_OBJECT || c === OPEN_ARRAY) spans.push({ start: at, end });
    return end;
  }
  if (paths === NOTHING) return valueEnd(bytes, at);
  if (c === OPEN_OBJECT) return walkObject(bytes, at, paths, spans);
  const each = c === OPEN_ARRAY ? pathsOf(paths.within, "*") : undefined;
  return each === undefined ? valueEnd(bytes, at) : walkList(bytes, at, each, spans);
}

function walkObject(bytes: Buffer, open: number, paths: OpaquePaths, spans: Span[]): number {
  let at = skipSpace(bytes, open + 1);
  while (bytes[at] === QUOTE) {
    const end = stringEnd(bytes, at);
    const inner = pathsBehind(bytes, at, end, paths);
    // Behind the name are its colon and the value.
    at = walk(bytes, skipSpace(bytes, skipSpace(bytes, end) + 1), inner, spans);
    at = skipSpace(bytes, at);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return at + 1;
}

const pathsOf = (within: readonly NamedPaths[], wanted: string): OpaquePaths | undefined =>
  within.find(({ name }) => name === wanted)?.paths;

/** The paths within the member whose name is at `open`, with its quotes. The name is compared in place: most have no path. */
function pathsBehind(bytes: Buffer, open: number, end: number, { within }: OpaquePaths): OpaquePaths {
  const start = open + 1;
  const length = end - 1 - start;
  for (const { name, paths } of within) {
    if (name.length === length && isAt(bytes, start, name)) return paths;
  }
  for (let at = start; at < end; at++) {
    if (bytes[at] !== BACKSLASH) continue;
    const text = bytes.toString("latin1", open, end);
    return pathsOf(within, nameOf(text, 0, text.length - 1)) ?? NOTHING;
  }
  return NOTHING;
}

/** @param name ASCII */
function isAt(bytes: Buffer, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name.charCodeAt(i)) return false;
  return true;
}

function walkList(bytes: Buffer, open: number, each: OpaquePaths, spans: Span[]): number {
  let at = skipSpace(bytes, open + 1);
  while (at < bytes.length && bytes[at] !== CLOSE_ARRAY) {
    at = skipSpace(bytes, walk(bytes, at, each, spans));
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return at + 1;
}

/** Up to so many bytes of a string, looking at each costs less than a search. */
const NEAR = 96;
/** Beyond so many quotes inside one string, looking at every byte costs less than looking for the next. */
const FEW_QUOTES = 16;

/** The index behind the quote that ends the string whose quote is at `open`. @throws WeirError `invalid_json` if none does */
function stringEnd(bytes: Buffer, open: number): number {
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

function valueEnd(bytes: Buffer, at: number): number {
  const first = bytes[at];
  if (first === QUOTE) return stringEnd(bytes, at);
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return scalarEnd(bytes, at);
  let depth = 0;
  for (let i = at; i < bytes.length; ) {
    const c = bytes[i];
    if (c === QUOTE) {
      i = stringEnd(bytes, i);
      continue;
    }
    i++;
    if (c === OPEN_OBJECT || c === OPEN_ARRAY) depth++;
    else if ((c === CLOSE_OBJECT || c === CLOSE_ARRAY) && --depth === 0) return i;
  }
  return bytes.length;
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

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] as number) <= SPACE) at++;
  return at;
}
