/** The signs of JSON text by which it is skimmed: braces, brackets, commas and opening quotes outside of strings, one after the other. */
import { CONTROL_IN_STRING, ESCAPE, lastFlags, positions, scanSigns } from "../../base/scan/scan.ts";
import { syntax } from "./json-string.ts";

export interface Signs {
  /** No string has an escape or a control character: what is between its quotes is valid, and needs no look. */
  readonly isPlain: boolean;
  /** Offset of the next sign behind the last one, or behind the last closing quote; the text's length where there is none. */
  next(): number;
  /** Offset of the quote that closes the string whose opening quote was the last sign. @throws `invalid_json` when none does */
  closing(): number;
}

/** Of larger text the ends of strings are searched: that is quicker than a look at all bytes where strings are long. */
const MOST = 16 * 1024;

/** @param bytes the text; no other may be skimmed before its last sign is read */
export const signsOf = (bytes: Buffer): Signs =>
  bytes.length > MOST ? new SearchedSigns(bytes) : new ScannedSigns(bytes);

class ScannedSigns implements Signs {
  readonly isPlain: boolean;
  readonly #bytes: number;
  readonly #count: number;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes.length;
    this.#count = scanSigns(bytes);
    this.isPlain = (lastFlags() & (ESCAPE | CONTROL_IN_STRING)) === 0;
  }

  next(): number {
    return this.#at < this.#count ? (positions[this.#at++] as number) : this.#bytes;
  }

  closing(): number {
    if (this.#at >= this.#count) throw syntax(this.#bytes);
    return positions[this.#at++] as number;
  }
}

const QUOTE = 34;
const COMMA = 44;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Most names and many values end within so many bytes; a search costs as much as a look at a hundred. */
const NEAR = 64;
/** Beyond so many quotes inside one string, looking at every byte costs less than looking for the next. */
const FEW_QUOTES = 16;

class SearchedSigns implements Signs {
  readonly isPlain = false;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  next(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    for (; at < bytes.length; at++) {
      const c = bytes[at];
      if (c === QUOTE || c === COMMA) break;
      if (c === OPEN_OBJECT || c === CLOSE_OBJECT || c === OPEN_ARRAY || c === CLOSE_ARRAY) break;
    }
    this.#at = at + 1;
    return at;
  }

  closing(): number {
    const quote = this.#closing(this.#at);
    this.#at = quote + 1;
    return quote;
  }

  #closing(from: number): number {
    const bytes = this.#bytes;
    const near = Math.min(from + NEAR, bytes.length);
    // Up to the first backslash no quote is escaped.
    for (let at = from; at < near; at++) {
      const c = bytes[at];
      if (c === QUOTE) return at;
      if (c === BACKSLASH) break;
    }
    let at = bytes.indexOf(QUOTE, from);
    for (let seen = 0; at >= 0 && seen < FEW_QUOTES; seen++) {
      if (this.#isClosing(at, from)) return at;
      at = bytes.indexOf(QUOTE, at + 1);
    }
    if (at < 0) throw syntax(bytes.length);
    if (this.#isClosing(at, from)) return at;
    // This quote is escaped. After it, each backslash escapes the byte behind it.
    for (at++; at < bytes.length; at++) {
      const c = bytes[at];
      if (c === BACKSLASH) at++;
      else if (c === QUOTE) return at;
    }
    throw syntax(bytes.length);
  }

  /** Whether the quote at `at` ends the string that begins at `from`: an even number of backslashes precedes it. */
  #isClosing(at: number, from: number): boolean {
    let back = at - 1;
    while (back >= from && this.#bytes[back] === BACKSLASH) back--;
    return ((at - 1 - back) & 1) === 0;
  }
}
