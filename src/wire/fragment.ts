/**
 * Pieces of JSON strings: the inside of a string, escaped, its UTF-8 bytes as latin1 text. Streams are put together from
 * such pieces, so that a piece can pass from one JSON text into another as it is.
 */
import { utf8Of } from "./json.ts";
import type { Fragment } from "./neutral.ts";

const BEYOND_ASCII = /[\u0080-\uffff]/;

/** The piece that stands for a text. */
export function fragmentOf(text: string): Fragment {
  const inside = JSON.stringify(text).slice(1, -1);
  return BEYOND_ASCII.test(inside) ? Buffer.from(inside).toString("latin1") : inside;
}

/** The text that whole pieces stand for; "" where they are no JSON. */
export function textOf(fragment: Fragment): string {
  try {
    return JSON.parse(`"${utf8Of(fragment)}"`) as string;
  } catch {
    return "";
  }
}

/** JSON text of a value as latin1 of its UTF-8 bytes: what stands beside pieces in a stream. */
export function latin1OfJson(value: unknown): string {
  const json = JSON.stringify(value);
  return BEYOND_ASCII.test(json) ? Buffer.from(json).toString("latin1") : json;
}
