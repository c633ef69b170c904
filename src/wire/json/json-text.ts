/**
 * JSON that is only carried: arguments and results of tools, schemas, options of a provider. It stays the text that a caller or
 * a model wrote, since a value made from it would lose digits beyond 2^53, the form of numbers, the order of names that look
 * like indexes, and all but the last of equal names (RFC 8259, sections 4 and 6).
 */
import { randomBytes } from "node:crypto";
import { applyEdits, jsonAt, memberOf, membersOf, setMember } from "./json.ts";
import type { Span } from "./spans.ts";

/** Where a text stands in a body, bytes of UTF-8. */
export interface Within extends Span {
  readonly bytes: Buffer;
}

/** Begins marks: `JSON.stringify` writes it as it is, texts hardly have it, and one character is found faster than several. */
const RARE = "\x7f";

/** What stands in the place of each text while the values around it are written. No caller can guess it, and it never leaves. */
const MARK = `${RARE}weir-json:${randomBytes(12).toString("hex")}:`;
/** A text that writes itself. Others have their number in their mark. */
const MET = `${MARK}>`;

const OPEN_OBJECT = 123;

/** The texts that were met while a value is written; undefined between. */
let met: JsonText[] | undefined;

/** The texts that were placed while a value is made; undefined between. */
let placed: JsonText[] | undefined;

/** A JSON value as its text. Put where a value goes, {@link jsonPieces} writes it as it is. */
export class JsonText {
  /** The text, or where it is in a body: then it is not decoded until it is read. */
  readonly json: string | Within;

  /** @param json valid JSON */
  constructor(json: string | Within) {
    this.json = json;
  }

  /** The text of a value that was never one: what the gateway made itself. */
  static of(value: unknown): JsonText {
    return value instanceof JsonText ? value : new JsonText(jsonTextOf(value));
  }

  get text(): string {
    const { json } = this;
    return typeof json === "string" ? json : json.bytes.toString("utf8", json.start, json.end);
  }

  get isObject(): boolean {
    const { json } = this;
    return typeof json === "string" ? json.startsWith("{") : json.bytes[json.start] === OPEN_OBJECT;
  }

  /** Its first characters; of a text in a body, one a byte. */
  head(length: number): string {
    const { json } = this;
    if (typeof json === "string") return json.slice(0, length);
    return json.bytes.toString("latin1", json.start, Math.min(json.end, json.start + length));
  }

  /** Whether the text begins so. @param ascii short */
  begins(ascii: string): boolean {
    const { json } = this;
    if (typeof json === "string") return json.startsWith(ascii);
    const { bytes, start, end } = json;
    if (end - start < ascii.length) return false;
    for (let i = 0; i < ascii.length; i++) if (bytes[start + i] !== ascii.charCodeAt(i)) return false;
    return true;
  }

  /** A value of it, for what the gateway must read. It may have lost what the text has. */
  get value(): unknown {
    return JSON.parse(this.text);
  }

  /**
   * What a writer puts where the text goes: a mark within {@link placing}, the text itself elsewhere. Both are right; a mark costs a
   * quarter of what `JSON.stringify` takes to call a function.
   */
  get placed(): Placed {
    return placed === undefined ? this : (`${MARK}${placed.push(this) - 1}>` as Placed);
  }

  /** @throws TypeError outside {@link jsonPieces}: a mark would be written instead of the text */
  toJSON(): string {
    if (met === undefined)
      throw new TypeError("JSON that is carried as text is written by jsonPieces or jsonTextOf.");
    met.push(this);
    return MET;
  }
}

declare const isPlace: unique symbol;

/** A text, or its mark. */
export type Placed = JsonText | (string & { readonly [isPlace]: true });

/** A value whose marks only {@link jsonPieces} can resolve. */
export interface WithPlaced<T> {
  readonly value: T;
  readonly texts: readonly JsonText[];
}

/** Makes a value that is written by {@link jsonPieces} alone: see {@link JsonText.placed}. */
export function placing<T>(make: () => T): WithPlaced<T> {
  const before = placed;
  const texts: JsonText[] = [];
  placed = texts;
  try {
    return { value: make(), texts };
  } finally {
    placed = before;
  }
}

const NO_TEXTS: readonly JsonText[] = Object.freeze([]);

/**
 * What the JSON text of a value is made of: its own text, and the texts that it carries, in order.
 * @param texts that were placed in the value
 */
export function jsonPieces(value: unknown, texts = NO_TEXTS): (string | JsonText)[] {
  const before = met;
  const ofThemselves: JsonText[] = [];
  met = ofThemselves;
  let json: string;
  try {
    json = JSON.stringify(value);
  } finally {
    met = before;
  }
  if (texts.length + ofThemselves.length === 0) return [json];
  const pieces: (string | JsonText)[] = [];
  let from = 0;
  let next = 0;
  for (let at = markIn(json, 0); at >= 0; at = markIn(json, from)) {
    const digits = at + MARK.length;
    const end = digitsEnd(json, digits);
    // Those that write themselves were met in the order in which they are written.
    const text = end === digits ? ofThemselves[next++] : texts[numberAt(json, digits, end)];
    // Without its quotes.
    pieces.push(json.slice(from, at - 1), text as JsonText);
    from = end + 2;
  }
  pieces.push(json.slice(from));
  return pieces;
}

const ZERO = 48;
const NINE = 57;

/** The index behind the decimal digits at `from`. */
export function digitsEnd(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) >= ZERO && text.charCodeAt(at) <= NINE) at++;
  return at;
}

/** The number in decimal digits. Marks have few: a string made of them for `Number` costs ten times as much. */
export function numberAt(text: string, from: number, end: number): number {
  let number = 0;
  for (let at = from; at < end; at++) number = 10 * number + text.charCodeAt(at) - ZERO;
  return number;
}

/** The index at which the next mark begins; -1 if the JSON has no more. */
function markIn(json: string, from: number): number {
  let at = json.indexOf(RARE, from);
  while (at >= 0 && !json.startsWith(MARK, at)) at = json.indexOf(RARE, at + 1);
  return at;
}

/** JSON text of a value, and of the texts that it carries. */
export const jsonTextOf = (value: unknown): string =>
  value instanceof JsonText ? value.text : textOf(jsonPieces(value));

/** The same of a value whose texts are {@link JsonText.placed}: that costs less. */
export function jsonTextPlacing(make: () => unknown): string {
  const { value, texts } = placing(make);
  return textOf(jsonPieces(value, texts));
}

function textOf(pieces: readonly (string | JsonText)[]): string {
  let text = "";
  for (const piece of pieces) text += typeof piece === "string" ? piece : piece.text;
  return text;
}

/** Objects with the member as schemas mostly have it: at their beginning. */
const FIRST_MEMBER = /^\{\s*"([^"\\]*)"\s*:\s*("[^"\\]*"|true|false|null)\s*[,}]/;
const FIRST_LENGTH = 64;

/**
 * An object with a member set to a value. All else of its text stays as it is. An object that has a name twice stays as it is:
 * readers disagree on which one counts.
 * @param value JSON text
 */
export function withMember(json: JsonText, key: string, value: string): JsonText {
  if (json.begins(`{"${key}":${value},`)) return json;
  const first = FIRST_MEMBER.exec(json.head(FIRST_LENGTH));
  if (first?.[1] === key && first[2] === value) return json;
  const { text } = json;
  const members = membersOf(text);
  if (members === undefined || jsonAt(text, members, key) === value) return json;
  return new JsonText(applyEdits(text, [setMember(text, members, key, value)]));
}

/** The same, unless the object has such a member. */
export function withNewMember(json: JsonText, key: string, value: string): JsonText {
  if (!json.isObject) return json;
  const members = membersOf(json.text);
  return members === undefined || memberOf(members, key) !== undefined ? json : withMember(json, key, value);
}
