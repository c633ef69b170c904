/**
 * A request's body as a value in which each long string is replaced by a mark, and so is each value that is only carried. Where
 * a mark is written, the bytes of what it stands for are written. So a prompt or an image of megabytes goes from one format into
 * another without being decoded, scanned or copied (T57), and a schema or arguments as the text that the caller wrote.
 */
import { isAscii } from "node:buffer";
import { randomBytes } from "node:crypto";
import { digitsEnd, JsonText, jsonPieces, numberAt } from "../json/json-text.ts";
import type { Elided } from "../json/skeleton.ts";
import type { Span } from "../json/spans.ts";
import { wellFormedBytes, wellFormedJson } from "../json/surrogates.ts";

/** A body to this length is decoded as a whole. */
const SLICED_BYTES = 64 * 1024;

/** Carried texts to this length are copied into the text around them. */
const COPIED_BYTES = 4096;

/** Finds marks in text. Only the source that made a mark knows its string. */
const SIGN = `<weir:${randomBytes(12).toString("hex")}`;
const NO_MARK = /(?!)/g;

/** Hexadecimal digits of 80 random bits. */
const SECRET_DIGITS = 20;
const SECRETS = 256;
let secrets = "";
let nextSecret = 0;

/** 80 random bits, each used once. Made for many requests at a time: that costs a tenth. */
function unguessable(): string {
  if (nextSecret === secrets.length) {
    secrets = randomBytes((SECRETS * SECRET_DIGITS) / 2).toString("hex");
    nextSecret = 0;
  }
  nextSecret += SECRET_DIGITS;
  return secrets.slice(nextSecret - SECRET_DIGITS, nextSecret);
}

/** Whether a text contains a mark, which only {@link Source.whole} can resolve. */
export const hasMark = (text: string): boolean => text.includes(SIGN);

/** A text for people, without marks, also those that the text was cut within. */
export const unmarked = (text: string): string => text.replace(/<weir:[0-9a-z:!]*>?/g, "…");

export class Source {
  /** The body as from JSON.parse, but with marks. */
  readonly value: unknown;
  readonly #bytes: Buffer;
  readonly #elided: readonly Elided[];
  readonly #carried: readonly JsonText[];
  readonly #fetched: readonly FetchedMedia[];
  /** A small body with parts to cut out, where all its characters are one byte: decoding each part costs more. */
  readonly #ascii: string | undefined;
  /**
   * A source's marks are its own and no client can guess them: text of a client's that looks like one, even if it saw one
   * of an earlier request, is text. Else a few bytes could stand for the longest string over and over, unpaid for.
   */
  readonly #mark: RegExp;
  /** How the marks of strings begin. */
  readonly #head: string;
  /** How the marks of values begin that are carried as text. */
  readonly #carriedMark: string;

  /**
   * @param bytes valid UTF-8 JSON
   * @param elided where the insides of long strings stand, in order; a data URL's up to its comma is not part of it.
   *   Those of names are built all the same.
   * @param carried where objects and lists stand that are only carried, in order: see {@link Source.json}
   * @param fetched media that the body names by address: see {@link Source.fetched}
   */
  constructor(
    bytes: Buffer,
    elided: readonly Elided[],
    carried: readonly Span[] = [],
    fetched: readonly FetchedMedia[] = [],
  ) {
    this.#bytes = bytes;
    this.#elided = elided;
    this.#fetched = fetched;
    this.#carried = carried.map(({ start, end }) => new JsonText({ bytes, start, end }));
    const isSliced = carried.length > 0 && bytes.length <= SLICED_BYTES && isAscii(bytes);
    this.#ascii = isSliced ? bytes.toString("latin1") : undefined;
    const isMarked = elided.length + carried.length + fetched.length > 0;
    const head = isMarked ? `${SIGN}:${unguessable()}` : SIGN;
    this.#head = head;
    this.#carriedMark = `${head}!`;
    const hasStrings = elided.length + fetched.length > 0;
    this.#mark = hasStrings ? new RegExp(`${head}:([0-9]+)>`, "g") : NO_MARK;
    this.value = JSON.parse(isMarked ? this.#marked(head, carried) : bytes.toString());
  }

  /** The body's text with marks. What stands within a value that is carried has none. */
  #marked(head: string, carried: readonly Span[]): string {
    const bytes = this.#bytes;
    let text = "";
    let from = 0;
    let next = 0;
    const carriedTo = (limit: number) => {
      for (let span = carried[next]; span !== undefined && span.start < limit; span = carried[next]) {
        text += `${this.#slice(from, span.start)}"${head}!${next++}>"`;
        from = span.end;
      }
    };
    for (const [index, { start, end }] of this.#elided.entries()) {
      carriedTo(start);
      // Member names are in pointers, which clients can read: a mark in one would show them how marks look.
      if (start < from || isName(bytes, end + 1)) continue;
      text += `${this.#slice(from, start)}${head}:${index}>`;
      from = end;
    }
    carriedTo(bytes.length);
    return text + this.#slice(from, bytes.length);
  }

  #slice(from: number, to: number): string {
    return this.#ascii?.slice(from, to) ?? this.#bytes.toString("utf8", from, to);
  }

  /**
   * An object or a list as JSON that is only carried: as its own text where it was found by its place, else as text made
   * from the value. Undefined of other values.
   */
  json(value: unknown): JsonText | undefined {
    if (typeof value === "object") return value === null ? undefined : JsonText.of(this.wholeValue(value));
    if (typeof value !== "string" || !value.startsWith(this.#carriedMark)) return undefined;
    const digits = this.#carriedMark.length;
    const end = digitsEnd(value, digits);
    const isMark = end > digits && end === value.length - 1;
    return isMark ? this.#carried[numberAt(value, digits, end)] : undefined;
  }

  /** A string with its marks replaced by their strings. */
  whole(text: string): string {
    if (!hasMark(text)) return text;
    return text.replace(this.#mark, (_, index: string) => {
      const { bytes, start, end } = this.#stretch(index);
      return JSON.parse(`"${bytes.toString("utf8", start, end)}"`) as string;
    });
  }

  /**
   * What was fetched of an address: its data are a mark, like those of a long string. Undefined if nothing was.
   * @param url whole, no mark
   */
  fetched(
    url: string,
  ): { readonly kind: "data"; readonly mediaType: string; readonly data: string } | undefined {
    const at = this.#fetched.findIndex((media) => media.url === url);
    const media = this.#fetched[at];
    if (media === undefined) return undefined;
    const data = `${this.#head}:${this.#elided.length + at}>`;
    return { kind: "data", mediaType: media.mediaType, data };
  }

  /** What a mark stands for. @param index as the mark has it */
  #stretch(index: string): Stretch {
    const at = Number(index);
    const base64 = this.#fetched[at - this.#elided.length]?.base64;
    if (base64 === undefined) return { bytes: this.#bytes, ...(this.#elided[at] ?? NOWHERE) };
    const bytes = Buffer.from(base64.buffer, base64.byteOffset, base64.length);
    return { bytes, start: 0, end: bytes.length };
  }

  /**
   * The beginning and the end of a string, without decoding what is between them: as they stand in JSON, escapes included.
   * @param count of characters, at most, of each
   * @returns with the length of the whole in characters, if it has no escapes
   */
  ends(text: string, count: number): StringEnds {
    this.#mark.lastIndex = 0;
    const index = hasMark(text) ? this.#mark.exec(text)?.[1] : undefined;
    if (index === undefined) {
      const json = JSON.stringify(text.length > 4 * count ? text.slice(0, count) + text.slice(-count) : text);
      return { head: json.slice(1, count + 1), tail: json.slice(1, -1).slice(-count), length: text.length };
    }
    const { bytes, start, end } = this.#stretch(index);
    return {
      head: bytes.toString("latin1", start, Math.min(end, start + count)),
      tail: bytes.toString("latin1", Math.max(start, end - count), end),
      length: end - start,
    };
  }

  /** Whether a text is white space alone, or none. No more of a long one is decoded than it takes to see. */
  isBlank(text: string): boolean {
    if (text.charCodeAt(0) !== LESS_THAN || !hasMark(text)) return !/\S/.test(text);
    const [before, index] = text.split(this.#mark);
    const { start, end } = (index === undefined ? undefined : this.#elided[Number(index)]) ?? NOWHERE;
    if (before !== "" || !beginsBlank(this.#bytes, start, end)) return false;
    return !/\S/.test(this.whole(text));
  }

  /** The same for every string in a value that will be written as JSON inside a string. */
  wholeValue(value: unknown): unknown {
    if (typeof value === "string") return this.json(value) ?? this.whole(value);
    if (Array.isArray(value)) return value.map((item) => this.wholeValue(item));
    if (typeof value !== "object" || value === null || value instanceof JsonText) return value;
    const entries = Object.entries(value).map(([key, item]) => [this.whole(key), this.wholeValue(item)]);
    return Object.fromEntries(entries);
  }

  /**
   * What a body written from this source is made of: a value in whose strings marks may stand, and JSON that it carries.
   * @param placed in the value: see {@link placing}
   */
  piecesOf(value: unknown, placed?: readonly JsonText[]): Piece[] {
    const pieces: Piece[] = [];
    let text = "";
    for (const piece of jsonPieces(value, placed)) {
      const range = typeof piece === "string" ? undefined : this.#rangeOf(piece);
      if (range === undefined) {
        text += typeof piece === "string" ? piece : this.#textOf(piece);
        continue;
      }
      this.#addPieces(text, pieces);
      pieces.push(range);
      text = "";
    }
    this.#addPieces(text, pieces);
    return pieces;
  }

  /** Where a large text is in the body. A small one is copied: a piece more costs more. */
  #rangeOf({ json }: JsonText): Piece | undefined {
    if (typeof json === "string" || json.bytes !== this.#bytes) return undefined;
    return json.end - json.start > COPIED_BYTES ? json : undefined;
  }

  #textOf(carried: JsonText): string {
    const { json } = carried;
    const isHere = typeof json === "object" && json.bytes === this.#bytes;
    return isHere ? this.#slice(json.start, json.end) : carried.text;
  }

  #addPieces(json: string, pieces: Piece[]): void {
    let from = 0;
    if (this.#mark !== NO_MARK) {
      for (const match of json.matchAll(this.#mark)) {
        const index = match[1] as string;
        const elided = this.#elided[Number(index)];
        pieces.push(json.slice(from, match.index), elided ?? this.#stretch(index));
        from = match.index + match[0].length;
      }
    }
    pieces.push(from === 0 ? json : json.slice(from));
  }
}

/** Media that the gateway fetched, for dialects that take only data. */
export interface FetchedMedia {
  /** As the client wrote it. */
  readonly url: string;
  /** As its server named it; "" where it did not. */
  readonly mediaType: string;
  /** ASCII, in memory that threads share. */
  readonly base64: Uint8Array;
}

/** See {@link Source.ends}. */
export interface StringEnds {
  readonly head: string;
  readonly tail: string;
  readonly length: number;
}

/** Bytes that stand for a string: their JSON without quotes. */
interface Stretch extends Elided {
  readonly bytes: Buffer;
}

/** Text that was written, or a range of the client's body, or of bytes that were fetched. */
export type Piece = string | (Elided & { readonly bytes?: Uint8Array });

/** The bytes of the pieces, without halves of pairs. Those of the body are not copied. */
export const bytesOf = (body: Buffer, pieces: readonly Piece[]): Uint8Array[] =>
  pieces.map((piece) =>
    typeof piece === "string" ? Buffer.from(wellFormedJson(piece)) : rangeOf(body, piece),
  );

/** What was fetched is base64. */
const rangeOf = (body: Buffer, { start, end, bytes }: Exclude<Piece, string>): Uint8Array =>
  bytes?.subarray(start, end) ?? wellFormedBytes(body.subarray(start, end));

/** Whether the string that ends before `at` is a member's name. */
function isName(bytes: Buffer, at: number): boolean {
  let i = at;
  while (SPACE.includes(bytes[i] as number)) i++;
  return bytes[i] === COLON;
}

/** Whether the inside of a string begins with a sign that may be white space, behind spaces and escapes of them. */
function beginsBlank(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    if (bytes[at] === BLANK) at++;
    else if (bytes[at] === BACKSLASH && PLAIN_ESCAPES.includes(bytes[at + 1] as number)) at += 2;
    else break;
  }
  if (at === end) return true;
  const first = bytes[at] as number;
  if (first === BACKSLASH) return bytes[at + 1] === LOWER_U;
  // U+00A0, U+1680, U+2000 to U+205F, U+3000 and U+FEFF in UTF-8.
  return (first > 0xc1 && first < 0xe3) || first === 0xef || (first === 0xe3 && bytes[at + 1] === 0x80);
}

const LESS_THAN = 60;
const BLANK = 32;
const BACKSLASH = 92;
const LOWER_U = 117;
/** Letters of the escapes of white space: `\f`, `\n`, `\r`, `\t`. */
const PLAIN_ESCAPES: readonly number[] = [102, 110, 114, 116];

const SPACE: readonly number[] = [32, 10, 13, 9];
const COLON = 58;

const NOWHERE: Elided = { start: 0, end: 0 };
