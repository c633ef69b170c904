/**
 * A request's body as a value in which each long string is replaced by a mark. Where a mark is written, the string's bytes
 * are written. So a prompt or an image of megabytes goes from one format into another without being decoded, scanned or
 * copied (T57).
 */
import { randomBytes } from "node:crypto";
import { fail } from "../../base/errors.ts";
import type { Elided } from "../json/json.ts";

/** Finds marks in text. Only the source that made a mark knows its string. */
const SIGN = `<weir:${randomBytes(12).toString("hex")}`;
const NO_MARK = /(?!)/g;

/** Whether a text contains a mark, which only {@link Source.whole} can resolve. */
export const hasMark = (text: string): boolean => text.includes(SIGN);

/** A text for people, without marks, also those that the text was cut within. */
export const unmarked = (text: string): string => text.replace(/<weir:[0-9a-z:]*>?/g, "…");

export class Source {
  /** The body as from JSON.parse, but with marks. */
  readonly value: unknown;
  readonly #bytes: Buffer;
  readonly #elided: readonly Elided[];
  /**
   * A source's marks are its own and no client can guess them: text of a client's that looks like one, even if it saw one
   * of an earlier request, is text. Else a few bytes could stand for the longest string over and over, unpaid for.
   */
  readonly #mark: RegExp;

  /**
   * @param bytes valid UTF-8 JSON
   * @param elided where the insides of long strings stand, in order; a data URL's up to its comma is not part of it.
   *   Those of names are built all the same.
   * @throws WeirError `invalid_json` where the bytes are no JSON.
   */
  constructor(bytes: Buffer, elided: readonly Elided[]) {
    this.#bytes = bytes;
    this.#elided = elided;
    let text = "";
    let from = 0;
    const head = elided.length === 0 ? SIGN : `${SIGN}:${randomBytes(8).toString("hex")}`;
    this.#mark = elided.length === 0 ? NO_MARK : new RegExp(`${head}:([0-9a-z]+)>`, "g");
    for (const [index, { start, end }] of elided.entries()) {
      // Member names are in pointers, which clients can read: a mark in one would show them how marks look.
      if (isName(bytes, end + 1)) continue;
      text += `${bytes.toString("utf8", from, start)}${head}:${index.toString(36)}>`;
      from = end;
    }
    try {
      this.value = JSON.parse(text + bytes.toString("utf8", from));
    } catch {
      // Long names were not validated before.
      throw fail("invalid_json", "The body is not valid JSON.");
    }
  }

  /**
   * A string with its marks replaced by their strings.
   * @throws WeirError `invalid_json` if the bytes are no valid inside of a string
   */
  whole(text: string): string {
    if (!hasMark(text)) return text;
    return text.replace(this.#mark, (_, index: string) => {
      const { start, end } = this.#elided[Number.parseInt(index, 36)] ?? NOWHERE;
      try {
        return JSON.parse(`"${this.#bytes.toString("utf8", start, end)}"`) as string;
      } catch {
        // Long strings were not validated before.
        throw fail("invalid_json", `The body is not valid JSON (in the string at byte ${start}).`);
      }
    });
  }

  /** The same for every string in a value that will be written as JSON inside a string. */
  wholeValue(value: unknown): unknown {
    if (typeof value === "string") return this.whole(value);
    if (Array.isArray(value)) return value.map((item) => this.wholeValue(item));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, item]) => [this.whole(key), this.wholeValue(item)]);
    return Object.fromEntries(entries);
  }

  /** What a body written from this source is made of: JSON text in whose strings marks may stand. */
  piecesOf(json: string): Piece[] {
    if (this.#elided.length === 0) return [json];
    const pieces: Piece[] = [];
    let from = 0;
    for (const match of json.matchAll(this.#mark)) {
      const elided = this.#elided[Number.parseInt(match[1] as string, 36)] ?? NOWHERE;
      pieces.push(json.slice(from, match.index), elided);
      from = match.index + match[0].length;
    }
    pieces.push(json.slice(from));
    return pieces;
  }
}

/** Text that was written, or a range of the client's body. */
export type Piece = string | Elided;

/** The bytes of the pieces. Those of the body are not copied. */
export const bytesOf = (body: Buffer, pieces: readonly Piece[]): Uint8Array[] =>
  pieces.map((piece) =>
    typeof piece === "string" ? Buffer.from(piece) : body.subarray(piece.start, piece.end),
  );

/** Whether the string that ends before `at` is a member's name. */
function isName(bytes: Buffer, at: number): boolean {
  let i = at;
  while (SPACE.includes(bytes[i] as number)) i++;
  return bytes[i] === COLON;
}

const SPACE: readonly number[] = [32, 10, 13, 9];
const COLON = 58;

const NOWHERE: Elided = { start: 0, end: 0 };
