/**
 * Pieces of JSON strings: the inside of a string, escaped, its UTF-8 bytes as latin1 text. Streams are written from
 * such pieces, so that a piece is passed from one JSON text into another unchanged.
 */
import { utf8Of } from "../json/json.ts";
import { wellFormedWithin } from "../json/surrogates.ts";
import type { Fragment } from "./neutral.ts";

const BEYOND_ASCII = /[\u0080-\uffff]/;

/** A text as a piece. It has a half of a pair only where the other may be in the piece before or behind it. */
export function fragmentOf(text: string): Fragment {
  const escaped = JSON.stringify(text).slice(1, -1);
  const inside = escaped.length === text.length ? escaped : wellFormedWithin(escaped);
  return BEYOND_ASCII.test(inside) ? Buffer.from(inside).toString("latin1") : inside;
}

/** The text of whole pieces; "" if they are no valid JSON. */
export function textOf(fragment: Fragment): string {
  try {
    return JSON.parse(`"${utf8Of(fragment)}"`) as string;
  } catch {
    return "";
  }
}

const SPACE = 32;
const QUOTE = 34;
const BACKSLASH = 92;
const SLASH = 47;
const LOWER_U = 117;
const HEX = /^[0-9a-fA-F]{4}$/;
const HEX_DIGITS = 4;
const ESCAPES = [...'"\\/bfnrt'].map((c) => c.charCodeAt(0));

/**
 * The end of the piece that begins at `start` inside a JSON string: the index of the string's closing quote, or -1 where it
 * does not end or is no valid JSON. Looked at byte by byte: tokens are short, and what passes unparsed must parse at the
 * client.
 */
export function fragmentEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) return at;
    if (c < SPACE) return -1;
    if (c !== BACKSLASH) continue;
    const escaped = text.charCodeAt(++at);
    if (escaped === LOWER_U) {
      if (!HEX.test(text.slice(at + 1, at + 1 + HEX_DIGITS))) return -1;
    } else if (!ESCAPES.includes(escaped)) return -1;
  }
  return -1;
}

/** What is in the way of a piece of bytes: nothing, or escapes that a reader writes otherwise. */
export interface PieceEnd {
  /** The index of the string's closing quote, or -1. */
  at: number;
  hasUnusual: boolean;
}

/**
 * As {@link fragmentEnd}, of bytes up to `limit`.
 * @param into what is found, as an object for each token would cost more than the look at it
 */
export function findFragmentEnd(bytes: Buffer, start: number, limit: number, into: PieceEnd): void {
  into.hasUnusual = false;
  into.at = -1;
  for (let at = start; at < limit; at++) {
    const c = bytes[at] as number;
    if (c === QUOTE) {
      into.at = at;
      return;
    }
    if (c < SPACE) return;
    if (c !== BACKSLASH) continue;
    at++;
    if (at >= limit) return;
    const escaped = bytes[at] as number;
    if (escaped === LOWER_U) {
      if (at + HEX_DIGITS >= limit || !HEX.test(bytes.toString("latin1", at + 1, at + 1 + HEX_DIGITS)))
        return;
      into.hasUnusual = true;
    } else if (!ESCAPES.includes(escaped)) return;
    else if (escaped === SLASH) into.hasUnusual = true;
  }
}

/** JSON text of a value as latin1 of its UTF-8 bytes, to be written beside pieces in a stream. */
export function latin1OfJson(value: unknown): string {
  const json = JSON.stringify(value);
  return BEYOND_ASCII.test(json) ? Buffer.from(json).toString("latin1") : json;
}
