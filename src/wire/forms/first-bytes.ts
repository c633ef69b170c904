/**
 * What a body is by its first bytes, whatever its content type says: an event stream, JSON, or neither. Text is latin1 and may be cut
 * anywhere.
 */

/** Lines that event streams begin with (WHATWG HTML, "Server-sent events"), and llama.cpp's own (ggml-org/llama.cpp#16109). */
const FIELDS: readonly string[] = [":", "data:", "event:", "id:", "retry:", "error: {"];

const BOM = "\u00ef\u00bb\u00bf";
/** The first byte of a frame of AWS's: the highest of its length, which no bound allows to be more. */
const FRAME_BEGINS = 0;

/** `frames`: AWS's binary event stream. `unknown`: more bytes are needed. */
export type BodyForm = "events" | "frames" | "json" | "unknown" | "other";

/** @param text the body so far, from its beginning */
export function formOf(text: string): BodyForm {
  if (text.charCodeAt(0) === FRAME_BEGINS) return "frames";
  const start = contentStart(text);
  if (start === text.length) return "unknown";
  const first = text[start];
  if (first === "{" || first === "[") return "json";
  const begun = text.slice(start, start + LONGEST);
  if (FIELDS.some((field) => begun.startsWith(field))) return "events";
  return FIELDS.some((field) => field.startsWith(begun)) ? "unknown" : "other";
}

const LONGEST = Math.max(...FIELDS.map(({ length }) => length));

/** The index of the first sign behind a byte order mark and white space. A mark that may go on counts as nothing so far. */
export function contentStart(text: string): number {
  let at = 0;
  if (text.startsWith(BOM)) at = BOM.length;
  else if (text.length < BOM.length && BOM.startsWith(text)) return text.length;
  while (at < text.length && isBlank(text.charCodeAt(at))) at++;
  return at;
}

/**
 * What of a text of unknown form must be kept to know it with what follows: blank lines mean nothing, and may be many, and a byte order
 * mark may have begun.
 */
export function unknownPart(text: string): string {
  const start = contentStart(text);
  if (start < text.length) return text.slice(start);
  return text.length < BOM.length ? text : "";
}

/** Whether a character is white space of JSON. @param code of the character */
export const isBlank = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;
