/**
 * JSON by position: finds the members of a top-level object in a body without building it, so that a few fields can
 * be patched and every other byte passes as it came. Works on latin1 text (one character a byte), which no cut inside
 * a multi-byte character can damage. Structure and long strings only: what it accepts still goes through
 * JSON.parse (as `skeleton`).
 */
import { pointerTo } from "../../base/document/document.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import { type JsonBounds, Tally, UNBOUNDED } from "./json-bounds.ts";
import { closingQuote, isSpace, skipSpace, syntax } from "./json-string.ts";
import { PROSE_OVER } from "./named-strings.ts";
import { type Signs, signsOf } from "./signs.ts";
import { type Elided, Skeleton } from "./skeleton.ts";

/** Deeper bodies are refused: no format needs them, and recursive readers of the body would overflow. */
export const MAX_DEPTH = 256;

/** More members at the top are refused: no format has so many, and a schema takes half a second for 100,000. */
export const MAX_MEMBERS = 1000;

/** One member of the top-level object; offsets into the text. */
export interface Member {
  /** Without escapes; latin1 as all the text. */
  readonly key: string;
  /** Offset of the key's opening quote. */
  readonly start: number;
  /** Offset after the key's closing quote. */
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  /** Bytes of the value's strings that are media, not prose: data URLs and base64 where formats put them. */
  readonly opaqueBytes: number;
}

export interface Skim {
  readonly members: readonly Member[];
  /** The long strings, in order. */
  readonly elided: readonly Elided[];
  /** Where strings of media begin, behind their quotes. */
  readonly media: readonly number[];
  /** The same JSON with long strings emptied (a `data:` URL keeps its first characters), and texts of messages that are not listed. */
  readonly skeleton: string;
}

/** An edit of a text: `[start, end)` becomes `text`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * Counts of the current text. One for all calls, because {@link skim} never calls itself. A text that is shorter than a bound has no
 * counts: each value takes at least one byte.
 */
const tally = new Tally(MAX_DEPTH);

/**
 * @param pointer JSON pointer to the object, where it is not the body itself.
 * @param bounds of a text that a caller sent.
 * @param bytes the same, where they are at hand
 * @param signs those of the text, where they are at hand
 * @throws WeirError `invalid_json` where the text is no object, does not close, or has a long string that is none;
 * `invalid_value` when a top-level key stands twice (readers disagree on which one counts, and money depends on it), or
 * beyond the bounds above.
 */
export function skim(
  text: string,
  pointer = "",
  bounds: JsonBounds = UNBOUNDED,
  bytes: Buffer = Buffer.from(text, "latin1"),
  signs: Signs = signsOf(bytes),
): Skim {
  const members: Member[] = [];
  const skeleton = new Skeleton();
  let opaqueBytes = 0;
  let depth = 0;
  const counts = tally.begin(text.length > bounds.members);
  let key = "";
  let start = -1;
  let keyEnd = -1;
  let valueStart = -1;
  let wantKey = false;
  // The previous string: it is the current one's key if only a colon is between them.
  let wordStart = 0;
  let wordEnd = 0;
  const end = refuseOther(bytes);
  const { isPlain, list } = signs;
  let { count } = signs;
  let i = end;
  for (let at = 0; ; ) {
    if (at >= count) {
      if (!signs.more()) break;
      count = signs.count;
      at = 0;
    }
    i = list[at++] as number;
    const c = bytes[i];
    if (c === QUOTE) {
      if (at >= count) throw syntax(end);
      const quote = list[at++] as number;
      if (depth === 1 && wantKey) {
        wantKey = false;
        start = i;
        refuseName(quote - i, members.length, pointer, bounds);
        key = nameOf(text, i, quote, isPlain);
        keyEnd = quote + 1;
        valueStart = behindColon(bytes, keyEnd);
        continue;
      }
      if (quote - i > PROSE_OVER)
        opaqueBytes += skeleton.longString(text, bytes, { wordStart, wordEnd, at: i, quote, isPlain });
      wordStart = i + 1;
      wordEnd = quote;
    } else if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      if (++depth > MAX_DEPTH) throw tooDeep(pointer);
      if (counts) tally.opened(depth, c === OPEN_OBJECT, pointer, bounds);
      wantKey = depth === 1;
    } else {
      const closes = c !== COMMA;
      if (counts && !closes) tally.comma(text, i, depth, pointer, bounds);
      if (depth === 1) {
        if (start >= 0) {
          members.push({ key, start, keyEnd, valueStart, valueEnd: trimSpace(bytes, i), opaqueBytes });
          start = -1;
          opaqueBytes = 0;
        }
        wantKey = true;
      }
      if (closes && --depth === 0) break;
    }
  }
  if (depth !== 0 || skipSpace(bytes, i + 1) !== end) throw syntax(depth !== 0 ? end : i + 1);
  refuseTwice(members, pointer);
  return { members, elided: skeleton.elided, media: skeleton.media, skeleton: skeleton.whole(text) };
}

/** Undefined if the text is no object, or one with a repeated member. */
export function membersOf(text: string): readonly Member[] | undefined {
  try {
    return skim(text).members;
  } catch {
    return undefined;
  }
}

export const memberOf = (members: readonly Member[], key: string): Member | undefined => {
  for (const member of members) if (member.key === key) return member;
  return undefined;
};

/** A member's JSON text; empty where there is none. */
export function jsonAt(text: string, members: readonly Member[], key: string): string {
  const member = memberOf(members, key);
  return member === undefined ? "" : text.slice(member.valueStart, member.valueEnd);
}

const PLAIN_NAME = /^\w+$/;

/** Sets a member's value, or adds the member at the end of the object. `value` is JSON text. */
export function setMember(text: string, members: readonly Member[], key: string, value: string): Edit {
  const member = memberOf(members, key);
  if (member !== undefined) return { start: member.valueStart, end: member.valueEnd, text: value };
  const last = members.at(-1);
  const at = last === undefined ? text.indexOf("{") + 1 : last.valueEnd;
  const name = PLAIN_NAME.test(key) ? `"${key}"` : JSON.stringify(key);
  return { start: at, end: at, text: `${last === undefined ? "" : ","}${name}:${value}` };
}

/** Removes members, each run of them with one adjacent comma. Names that are not present are ignored. */
export function removeMembers(members: readonly Member[], keys: readonly string[]): Edit[] {
  const edits: Edit[] = [];
  for (let first = 0; first < members.length; first++) {
    if (!keys.includes((members[first] as Member).key)) continue;
    let last = first;
    while (last + 1 < members.length && keys.includes((members[last + 1] as Member).key)) last++;
    const next = members[last + 1];
    const start = next === undefined ? members[first - 1]?.valueEnd : undefined;
    edits.push({
      start: start ?? (members[first] as Member).start,
      end: next?.start ?? (members[last] as Member).valueEnd,
      text: "",
    });
    first = last;
  }
  return edits;
}

/** Edits of a text that stands in another one. @param by where it begins there */
export const moved = (edits: readonly Edit[], by: number): Edit[] =>
  edits.map(({ start, end, text }) => ({ start: start + by, end: end + by, text }));

/** The text with edits applied; edits must not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let out = "";
  let from = 0;
  for (const edit of inOrder(edits)) {
    out += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return out + text.slice(from);
}

/**
 * Whether JSON text nests deeper than a body may, or goes beyond the bounds. For JSON inside a string, which {@link skim} does
 * not read.
 * @throws WeirError `invalid_json` where a string of a long text does not end
 */
export const holdsTooMuch = (json: string, bounds: JsonBounds): boolean =>
  !isWithinAny(json, bounds) && valuesWithin(json, bounds) === undefined;

/** Most texts are too short to hold too much. */
const isWithinAny = ({ length }: string, { members, values }: JsonBounds): boolean =>
  length <= MAX_DEPTH && length <= members && length <= values;

/** The number of values of such a text; undefined where it holds too much. @throws as {@link holdsTooMuch} */
export function valuesWithin(json: string, bounds: JsonBounds): number | undefined {
  let depth = 0;
  let values = bounds.values;
  /** How many members each object that is open may still get, by its depth. */
  const room: number[] = [];
  for (let i = 0; i < json.length; i++) {
    const c = json.charCodeAt(i);
    if (c === QUOTE) i = closingQuote(json, i + 1);
    else if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      if (++depth > MAX_DEPTH || --values < 0) return undefined;
      room[depth] = c === OPEN_OBJECT ? bounds.members : bounds.values;
    } else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) depth--;
    else if (c === COMMA) {
      const left = (room[depth] ?? 1) - 1;
      if (left === 0 || --values < 0) return undefined;
      room[depth] = left;
    }
  }
  return bounds.values - values;
}

const BEYOND_ASCII = /[\u0080-\uffff]/;
const ALL_BEYOND_ASCII = new RegExp(BEYOND_ASCII, "g");

/** JSON text with every non-ASCII character escaped, so that it can be inserted into latin1 text. */
export function latin1Json(value: unknown): string {
  const json = JSON.stringify(value);
  if (!BEYOND_ASCII.test(json)) return json;
  return json.replace(ALL_BEYOND_ASCII, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export const isAscii = (text: string): boolean => !BEYOND_ASCII.test(text);

/** Decodes latin1 text whose bytes are UTF-8. */
export const utf8Of = (latin1: string): string =>
  /[\x80-\xff]/.test(latin1) ? Buffer.from(latin1, "latin1").toString() : latin1;

const byPlace = (a: Edit, b: Edit): number => a.start - b.start || a.end - b.end;

/** The edits by their places. Most are in order already: checking costs less than sorting. */
export function inOrder(edits: readonly Edit[]): readonly Edit[] {
  for (let i = 1; i < edits.length; i++) {
    if (byPlace(edits[i - 1] as Edit, edits[i] as Edit) > 0)
      return edits.length > FEW ? [...edits].sort(byPlace) : insertedInOrder(edits);
  }
  return edits;
}

/** For a few: `sort` takes a kilobyte of memory for three. */
function insertedInOrder(edits: readonly Edit[]): Edit[] {
  const ordered = [...edits];
  for (let i = 1; i < ordered.length; i++) {
    const edit = ordered[i] as Edit;
    let at = i;
    for (; at > 0 && byPlace(ordered[at - 1] as Edit, edit) > 0; at--) ordered[at] = ordered[at - 1] as Edit;
    ordered[at] = edit;
  }
  return ordered;
}

const tooDeep = (pointer: string) =>
  fail("invalid_value", `The body nests deeper than ${MAX_DEPTH} levels.`, { param: pointer });

/** Up to so many members or edits, comparing all pairs costs less than a set, or than to sort. */
const FEW = 16;

function refuseTwice(members: readonly Member[], pointer: string): void {
  if (members.length <= FEW) {
    for (let i = 1; i < members.length; i++) {
      const { key } = members[i] as Member;
      for (let j = 0; j < i; j++) if ((members[j] as Member).key === key) throw twice(key, pointer);
    }
    return;
  }
  const seen = new Set<string>();
  for (const { key } of members) {
    if (seen.has(key)) throw twice(key, pointer);
    seen.add(key);
  }
}

function twice(key: string, pointer: string): WeirError {
  const name = utf8Of(key);
  const param = pointer + pointerTo([name]);
  return fail("invalid_value", `The member "${name}" stands twice in the body.`, { param });
}

/** @param bytes of the name and a quote @param before number of members before it */
function refuseName(bytes: number, before: number, pointer: string, bounds: JsonBounds): void {
  if (before === MAX_MEMBERS)
    throw fail("invalid_value", `The body has more than ${MAX_MEMBERS} members.`, { param: pointer });
  if (bytes > bounds.name)
    throw fail("invalid_value", `A member's name is longer than ${bounds.name} bytes.`, { param: pointer });
}

/** @returns its length @throws WeirError where the text begins with anything but an object */
function refuseOther(bytes: Uint8Array): number {
  const first = skipSpace(bytes, 0);
  if (first === bytes.length || bytes[first] !== OPEN_OBJECT)
    throw fail("invalid_json", "The body must be a JSON object.");
  return bytes.length;
}

/** The name between two quotes, its escapes resolved. */
function nameOf(text: string, at: number, quote: number, isPlain: boolean): string {
  const name = text.slice(at + 1, quote);
  return !isPlain && name.includes("\\") ? unescapeKey(name, at) : name;
}

/** Where the value of a key begins. */
function behindColon(bytes: Uint8Array, keyEnd: number): number {
  const colon = skipSpace(bytes, keyEnd);
  if (colon === bytes.length || bytes[colon] !== COLON) throw syntax(colon);
  return skipSpace(bytes, colon + 1);
}

function unescapeKey(key: string, at: number): string {
  try {
    return Buffer.from(JSON.parse(`"${utf8Of(key)}"`) as string).toString("latin1");
  } catch {
    throw syntax(at);
  }
}

function trimSpace(bytes: Uint8Array, end: number): number {
  let i = end;
  while (isSpace(bytes[i - 1] as number)) i--;
  return i;
}
