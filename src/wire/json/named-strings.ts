/** What long strings of a body are by their keys: media, or text of messages and answers. */
import { skipSpace } from "./json-string.ts";

const COLON = 58;

/** Shorter strings always count as prose: their share of a prompt is small. */
export const MEDIA_OVER = 256;

/** Longer texts of messages and answers need not be decoded to know what the gateway must. */
export const PROSE_OVER = 128;

/** Keys under which the formats carry media. Under any other key, such text is prose to a model. */
export const MEDIA_KEYS: readonly string[] = ["url", "data", "file_data", "image_url", "result"];
/** A letter of base64 as encoders of JSON write it: PHP's escapes slashes, and .NET's plus signs. */
const LETTER = String.raw`(?:[A-Za-z0-9+=_-]|\\?/|\\u00[\da-fA-F]{2})`;
/** In one line, or in lines of MIME (RFC 2045, section 6.8) or PEM (RFC 7468, section 2). */
const BASE64 = new RegExp(String.raw`${LETTER}{128}|${LETTER}{64,76}(?:\\r)?\\n${LETTER}{32}`, "y");

/**
 * Whether the string that opens at `at`, and has the key before it, is media: a data URL or base64 behind one of the formats' keys. Both are
 * required, because media is not counted as prompt, and the prompt's tokens are billed. Adds the place of the string to `found`.
 */
export function isMedia(
  text: string,
  wordStart: number,
  wordEnd: number,
  at: number,
  found: number[],
): boolean {
  if (!MEDIA_KEYS.includes(text.slice(wordStart, wordEnd))) return false;
  BASE64.lastIndex = at + 1;
  if (!text.startsWith("data:", at + 1) && !BASE64.test(text)) return false;
  found.push(at + 1);
  return true;
}

/** Whether the string that ends at `wordEnd` is the key of the one that begins at `at`: nothing but a colon is between them. */
export function isKeyOf(bytes: Uint8Array, wordEnd: number, at: number): boolean {
  const colon = skipSpace(bytes, wordEnd + 1);
  return colon < at && bytes[colon] === COLON && skipSpace(bytes, colon + 1) === at;
}

const CONTENT = Buffer.from("content");
const TEXT = Buffer.from("text");

/** Whether the key from `start` to `end` is that of texts of a message or of an answer, which no check reads. */
export const isProse = (bytes: Uint8Array, start: number, end: number): boolean =>
  isName(CONTENT, bytes, start, end) || isName(TEXT, bytes, start, end);

function isName(name: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== name.length) return false;
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name[i]) return false;
  return true;
}
