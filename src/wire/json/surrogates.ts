/**
 * Halves of pairs: JSON may have the escape of one half of a character beyond the basic plane without the other (RFC 8259,
 * section 8.2), but UTF-8 cannot. Providers refuse it, and Python's clients cannot encode it. It is written as U+FFFD.
 */
import { isClosing } from "./json-string.ts";

const HALF = /\\u[dD][89a-fA-F]/;
/** A pair, one half, or any other escape, whose second character begins none. */
const ESCAPES =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\./gs;
const HALF_LENGTH = 6;
const REPLACED = "\\ufffd";

/** JSON text, or the inside of a JSON string, whose halves are the escape of U+FFFD; all else stays as it is. */
export function wellFormedJson(json: string): string {
  if (!json.includes("\\u") || !HALF.test(json)) return json;
  return json.replace(ESCAPES, (found) => (found.length === HALF_LENGTH ? REPLACED : found));
}

/** The same on bytes of UTF-8. */
export function wellFormedBytes(json: Buffer): Buffer {
  if (!json.includes("\\u")) return json;
  const text = json.toString("latin1");
  const formed = wellFormedJson(text);
  return formed === text ? json : Buffer.from(formed, "latin1");
}

/** The same, but halves whose other one may stand in the text before or behind this one are kept. */
export function wellFormedWithin(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(ESCAPES, (found, at: number) => {
    const isEdge = (at === 0 && isSecond(found)) || (at + HALF_LENGTH === json.length && !isSecond(found));
    return found.length === HALF_LENGTH && !isEdge ? REPLACED : found;
  });
}

const isSecond = (half: string): boolean => /^\\u[dD][c-fC-F]/.test(half);

/** Whether the inside of a JSON string begins with the second half of a pair. */
export const beginsWithHalf = (json: string): boolean =>
  json.charCodeAt(0) === BACKSLASH && json.charCodeAt(1) === LOWER_U && isSecond(json);

/** Whether the inside of a JSON string may begin or end with a half: what most texts are asked. */
export const mayHaveHalf = (json: string): boolean =>
  json.charCodeAt(json.length - HALF_LENGTH) === BACKSLASH || json.charCodeAt(0) === BACKSLASH;

/** Whether the inside of a JSON string ends with the first half of a pair. */
export function endsWithHalf(json: string): boolean {
  const at = json.length - HALF_LENGTH;
  if (json.charCodeAt(at) !== BACKSLASH || json.charCodeAt(at + 1) !== LOWER_U) return false;
  return /\\u[dD][89abAB][\da-fA-F]{2}$/.test(json) && isClosing(json, at, 0);
}

const BACKSLASH = 92;
const LOWER_U = 117;
