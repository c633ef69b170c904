/**
 * JSON that is only carried: arguments and results of tools, schemas, options of a provider. It stays the text that a caller or
 * a model wrote, since a value made from it would lose digits beyond 2^53, the form of numbers, the order of names that look
 * like indexes, and all but the last of equal names (RFC 8259, sections 4 and 6).
 */
import { randomBytes } from "node:crypto";
import type { Span } from "./spans.ts";

/** Where a text stands in a body, bytes of UTF-8. */
export interface Within extends Span {
  readonly bytes: Buffer;
}

/** What stands in the place of each text while the values around it are written. No caller can guess it, and it never leaves. */
const SIGN = `<weir-json:${randomBytes(12).toString("hex")}:`;
const PLACES = new RegExp(`"${SIGN}(\\d+)>"`);

/** The texts that were met while a value is written; undefined between. */
let met: JsonText[] | undefined;

/** A JSON value as its text. Put where a value goes, {@link jsonPieces} writes it as it is. */
export class JsonText {
  /** Where the text is a range of a body, it is not decoded until it is read. */
  readonly place: Within | undefined;
  #text: string | undefined;

  /** @param json valid JSON */
  constructor(json: string | Within) {
    if (typeof json === "string") this.#text = json;
    else this.place = json;
  }

  /** The text of a value that was never one: what the gateway made itself. */
  static of(value: unknown): JsonText {
    return value instanceof JsonText ? value : new JsonText(jsonTextOf(value));
  }

  get text(): string {
    if (this.#text === undefined) {
      const { bytes, start, end } = this.place as Within;
      this.#text = bytes.toString("utf8", start, end);
    }
    return this.#text;
  }

  /** A value of it, for what the gateway must read. It may have lost what the text has. */
  get value(): unknown {
    return JSON.parse(this.text);
  }

  /** @throws TypeError outside {@link jsonPieces}: a mark would be written instead of the text */
  toJSON(): string {
    if (met === undefined)
      throw new TypeError("JSON that is carried as text is written by jsonPieces or jsonTextOf.");
    return `${SIGN}${met.push(this) - 1}>`;
  }
}

/** What the JSON text of a value is made of: its own text, and the texts that it carries, in order. */
export function jsonPieces(value: unknown): (string | JsonText)[] {
  const before = met;
  const texts: JsonText[] = [];
  met = texts;
  let json: string;
  try {
    json = JSON.stringify(value);
  } finally {
    met = before;
  }
  if (texts.length === 0) return [json];
  // Every other piece is the number of a text.
  return json
    .split(PLACES)
    .map((piece, index) => (index % 2 === 0 ? piece : (texts[Number(piece)] as JsonText)));
}

/** JSON text of a value, and of the texts that it carries. */
export const jsonTextOf = (value: unknown): string =>
  jsonPieces(value)
    .map((piece) => (typeof piece === "string" ? piece : piece.text))
    .join("");
