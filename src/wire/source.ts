/**
 * A request's body as a value whose long strings stay where they are: a mark stands in each one's place, and what is
 * written from the value gets the bytes themselves back. So a prompt or an image of megabytes goes from one format into
 * another without being decoded, scanned or copied (T57).
 */
import { randomBytes } from "node:crypto";
import type { Elided } from "./json.ts";

/** No client can guess it, so no text of a client's is ever taken for a mark. */
const NONCE = randomBytes(12).toString("hex");
const MARK = new RegExp(`<weir:${NONCE}:([0-9a-z]+)>`, "g");
const markOf = (index: number): string => `<weir:${NONCE}:${index.toString(36)}>`;

/** Whether a text is, or holds, what only {@link Source.whole} can read. */
export const hasMark = (text: string): boolean => text.includes(NONCE);

export class Source {
  /** The body as JSON.parse would give it, but for its marks. */
  readonly value: unknown;
  readonly #bytes: Buffer;
  readonly #elided: readonly Elided[];

  /**
   * @param bytes UTF-8 JSON that was found valid.
   * @param elided where the insides of long strings stand, in order; a data URL's up to its comma is not part of it.
   * @throws SyntaxError where the bytes are no JSON.
   */
  constructor(bytes: Buffer, elided: readonly Elided[]) {
    this.#bytes = bytes;
    this.#elided = elided;
    let text = "";
    let from = 0;
    for (const [index, { start, end }] of elided.entries()) {
      text += bytes.toString("utf8", from, start) + markOf(index);
      from = end;
    }
    this.value = JSON.parse(text + bytes.toString("utf8", from));
  }

  /** A string with its marks replaced by what they stand for: for what must be looked into. */
  whole(text: string): string {
    if (!hasMark(text)) return text;
    return text.replace(MARK, (_, index: string) => {
      const { start, end } = this.#elided[Number.parseInt(index, 36)] ?? NOWHERE;
      return JSON.parse(`"${this.#bytes.toString("utf8", start, end)}"`) as string;
    });
  }

  /** The same of every string in a value: for what becomes JSON inside a string. */
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
    for (const match of json.matchAll(MARK)) {
      pieces.push(
        json.slice(from, match.index),
        this.#elided[Number.parseInt(match[1] as string, 36)] ?? NOWHERE,
      );
      from = match.index + match[0].length;
    }
    pieces.push(json.slice(from));
    return pieces;
  }
}

/** Text of ours, or a place in the body that is read. */
export type Piece = string | Elided;

/** The bytes of pieces; those of the body are not copied. */
export const bytesOf = (body: Buffer, pieces: readonly Piece[]): Uint8Array[] =>
  pieces.map((piece) =>
    typeof piece === "string" ? Buffer.from(piece) : body.subarray(piece.start, piece.end),
  );

const NOWHERE: Elided = { start: 0, end: 0 };
