/**
 * The signs of JSON text by which it is skimmed: braces, brackets and commas outside of strings, and the quotes around strings. They come
 * as lists of offsets, a part of the text after the other.
 */
import {
  BYTE_BEYOND_ASCII,
  CONTROL_IN_STRING,
  ESCAPE,
  LOOSE_BACKSLASH,
  lastFlags,
  positions,
  scanSigns,
} from "../../base/scan/scan.ts";

export interface Signs {
  /** No string has an escape or a control character: what is between its quotes is valid, and needs no look. */
  readonly isPlain: boolean;
  /** No byte is beyond ASCII. False also where that was not looked at. */
  readonly isAscii: boolean;
  /** Offsets of signs; those of the two quotes of a string follow each other, and a string without its end is the last. Only `count` are of this part. */
  readonly list: Int32Array;
  readonly count: number;
  /** Goes on to the next part. @returns false where the text has ended */
  more(): boolean;
}

/** Strings of larger text are searched for their ends: that is quicker than a look at all bytes where they are long. */
const MOST = 16 * 1024;

/** @param bytes the text; no other may be skimmed before its last sign is read */
export function signsOf(bytes: Buffer): Signs {
  if (bytes.length > MOST) return new SearchedSigns(bytes);
  const count = scanSigns(bytes);
  const flags = lastFlags();
  // It is no JSON. Where it ceases to be is told as for larger text.
  if ((flags & LOOSE_BACKSLASH) !== 0) return new SearchedSigns(bytes);
  const isPlain = (flags & (ESCAPE | CONTROL_IN_STRING)) === 0;
  return { isPlain, isAscii: (flags & BYTE_BEYOND_ASCII) === 0, list: positions, count, more: never };
}

const never = () => false;

const QUOTE = 34;
const COMMA = 44;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** An even number, for the two quotes of a string. */
const PART = 1024;
/** Most names and many values end within so many bytes; a search costs as much as a look at a hundred. */
const NEAR = 64;
/** Beyond so many quotes inside one string, looking at every byte costs less than looking for the next. */
const FEW_QUOTES = 16;

/** One for all texts, as the offsets of scanned ones have: no text is skimmed within another. */
const searched = new Int32Array(PART + 1);

class SearchedSigns implements Signs {
  readonly isPlain = false;
  readonly isAscii = false;
  readonly list = searched;
  count = 0;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  more(): boolean {
    const bytes = this.#bytes;
    let count = 0;
    let at = this.#at;
    for (; at < bytes.length && count < PART; at++) {
      const c = bytes[at];
      if (c === QUOTE) {
        searched[count++] = at;
        at = this.#closing(at + 1);
        if (at < bytes.length) searched[count++] = at;
      } else if (
        c === COMMA ||
        c === OPEN_OBJECT ||
        c === CLOSE_OBJECT ||
        c === OPEN_ARRAY ||
        c === CLOSE_ARRAY
      )
        searched[count++] = at;
    }
    this.#at = at;
    this.count = count;
    return count > 0;
  }

  /** The offset of the quote that closes the string whose first byte is at `from`; the text's length where none does. */
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
    if (at < 0) return bytes.length;
    if (this.#isClosing(at, from)) return at;
    // This quote is escaped. After it, each backslash escapes the byte behind it.
    for (at++; at < bytes.length; at++) {
      const c = bytes[at];
      if (c === BACKSLASH) at++;
      else if (c === QUOTE) return at;
    }
    return bytes.length;
  }

  /** Whether the quote at `at` ends the string that begins at `from`: an even number of backslashes precedes it. */
  #isClosing(at: number, from: number): boolean {
    let back = at - 1;
    while (back >= from && this.#bytes[back] === BACKSLASH) back--;
    return ((at - 1 - back) & 1) === 0;
  }
}
