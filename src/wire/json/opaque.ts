/**
 * Finds the values at some paths of JSON by position, without building them: those that are only carried ({@link JsonText}). Works on
 * bytes: V8 reads one in a quarter of the instructions that it takes for a character of a string.
 */

import { skipSpace, stringEnd, valueEnd } from "./bytes.ts";
import { BACKSLASH, CLOSE_ARRAY, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from "./characters.ts";
import type { Member } from "./json.ts";
import { nameOf } from "./scan.ts";
import type { Span } from "./spans.ts";

/** In a path: every element of a list. */
export const EACH = "*";

/** A path of names and {@link EACH}. */
export type OpaquePath = readonly string[];

/** Paths by their first name. A leaf is a value that is carried. */
export interface OpaquePaths {
  readonly isLeaf: boolean;
  /** Few, so that comparing a name with all costs less than a hash of it. */
  readonly within: readonly NamedPaths[];
  /** There is one path. */
  readonly isSole: boolean;
  /** The last names of the paths, each before an object or a list. */
  readonly sign: RegExp;
  /** The same, for all of a text. */
  readonly signs: RegExp;
}

interface NamedPaths {
  readonly name: string;
  readonly paths: OpaquePaths;
}

const NOTHING: OpaquePaths = { isLeaf: false, within: [], isSole: false, sign: /(?!)/, signs: /(?!)/g };

/** A value that is carried: where its text stands, and where a value that was made of all has it. */
export interface Carried extends Span {
  /** Undefined where no value was made, and where equal names hide this one. */
  readonly holder: Holder | undefined;
  readonly key: string | number;
}

/** An object or a list. */
export type Holder = Record<string | number, unknown>;

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
  const last = new Set(paths.flatMap((path) => path.findLast((name) => name !== EACH) ?? []));
  // Behind a quote that is escaped, a name is text within a string.
  const plain = `"(?:${[...last].join("|")})"`;
  // A name may be written with escapes of its letters, which texts have no reason to escape.
  const longest = paths.flat().reduce((most, name) => Math.max(most, name.length), 0);
  const escaped = `\\\\u00[4-7][\\da-fA-F][^"]{0,${ESCAPE_LENGTH * longest}}"`;
  const sign = new RegExp(`(?:${plain}|${escaped})\\s*:\\s*[{[]`);
  return { isLeaf, within, isSole: paths.length === 1, sign, signs: new RegExp(sign, "g") };
}

const ESCAPE_LENGTH = 6;

/**
 * As {@link opaqueSpans}, in a body whose members are known by position. Those without such a path are not looked at.
 * @throws WeirError `invalid_json` where a name is damaged
 */
export function carriedSpans(bytes: Buffer, members: readonly Member[], { within }: OpaquePaths): Span[] {
  const found: Carried[] = [];
  for (const { key, valueStart, valueEnd } of members) {
    const paths = pathsOf(within, key);
    if (paths === undefined || !hasCarried(bytes.toString("latin1", valueStart, valueEnd), paths)) continue;
    walk(bytes, valueStart, paths, found, undefined, key);
  }
  return found;
}

/**
 * The spans of objects and lists at these paths, in order. Other values stay where they are: they are too small to lose
 * anything but a number's form, and readers expect to see them.
 * @param bytes of valid JSON, one a character or UTF-8. @param at where the value begins
 * @param value what `JSON.parse` made of the same bytes: each span then has its holder in it. Undefined: spans have no holders
 * @throws WeirError `invalid_json` where a name is damaged
 */
export function opaqueSpans(bytes: Buffer, at: number, paths: OpaquePaths, value?: unknown): Carried[] {
  const found: Carried[] = [];
  walk(bytes, skipSpace(bytes, at), paths, found, value === undefined ? undefined : { value }, "value");
  return found;
}

/** @param holder has the value under the key. @returns the index behind the value */
function walk(
  bytes: Buffer,
  at: number,
  paths: OpaquePaths,
  found: Carried[],
  holder: Holder | undefined,
  key: string | number,
): number {
  const c = bytes[at];
  if (paths.isLeaf) {
    const end = valueEnd(bytes, at);
    if (c === OPEN_OBJECT || c === OPEN_ARRAY) found.push({ start: at, end, holder, key });
    return end;
  }
  if (paths === NOTHING) return valueEnd(bytes, at);
  const value = holder?.[key];
  const inner = typeof value === "object" && value !== null ? (value as Holder) : undefined;
  if (c === OPEN_OBJECT) return walkObject(bytes, at, paths, found, inner);
  const each = c === OPEN_ARRAY ? pathsOf(paths.within, EACH) : undefined;
  return each === undefined ? valueEnd(bytes, at) : walkList(bytes, at, each, found, inner);
}

function walkObject(
  bytes: Buffer,
  open: number,
  { within }: OpaquePaths,
  found: Carried[],
  object: Holder | undefined,
): number {
  let at = skipSpace(bytes, open + 1);
  while (bytes[at] === QUOTE) {
    const end = stringEnd(bytes, at);
    const { name, paths } = pathsBehind(bytes, at, end, within);
    // Behind the name are its colon and the value.
    at = walk(bytes, skipSpace(bytes, skipSpace(bytes, end) + 1), paths, found, object, name);
    at = skipSpace(bytes, at);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return at + 1;
}

const pathsOf = (within: readonly NamedPaths[], wanted: string): OpaquePaths | undefined =>
  within.find(({ name }) => name === wanted)?.paths;

const UNNAMED: NamedPaths = { name: "", paths: NOTHING };

/** The paths within the member whose name is at `open`, with its quotes. The name is compared in place: most have no path. */
function pathsBehind(bytes: Buffer, open: number, end: number, within: readonly NamedPaths[]): NamedPaths {
  const start = open + 1;
  const length = end - 1 - start;
  for (const named of within)
    if (named.name.length === length && isAt(bytes, start, named.name)) return named;
  for (let at = start; at < end; at++) {
    if (bytes[at] !== BACKSLASH) continue;
    const text = bytes.toString("latin1", open, end);
    const wanted = nameOf(text, 0, text.length - 1);
    return within.find(({ name }) => name === wanted) ?? UNNAMED;
  }
  return UNNAMED;
}

/** @param name ASCII */
function isAt(bytes: Buffer, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name.charCodeAt(i)) return false;
  return true;
}

function walkList(
  bytes: Buffer,
  open: number,
  each: OpaquePaths,
  found: Carried[],
  list: Holder | undefined,
): number {
  let at = skipSpace(bytes, open + 1);
  for (let index = 0; at < bytes.length && bytes[at] !== CLOSE_ARRAY; index++) {
    at = skipSpace(bytes, walk(bytes, at, each, found, list, index));
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return at + 1;
}
