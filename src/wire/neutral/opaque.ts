/**
 * Text that was taken for media where it may be none: what is not counted as prompt must be counted as something else, or
 * a call would cost more than was held for it.
 */
import { MEDIA_KEYS, MEDIA_OVER } from "../json/named-strings.ts";
import { isObject } from "./reader.ts";

/** Whether a value has such text. A long string is empty in what was read of a body, or a data URL's first letters. */
export function holdsOpaque(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsOpaque);
  if (!isObject(value)) return false;
  for (const key in value) {
    const member = value[key];
    if (typeof member !== "string") {
      if (holdsOpaque(member)) return true;
    } else if (MEDIA_KEYS.includes(key)) {
      if (member === "" || member === "data:" || member.length > MEDIA_OVER) return true;
    }
  }
  return false;
}
