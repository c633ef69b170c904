/** The JSON that a text begins with, also where it was cut off, or has words behind it. */
import { objectAtStart } from "../../json/cut-object.ts";

/**
 * @returns undefined where the text begins with no object, list or string, or is damaged. What of a cut text is whole is there, and of a
 * string that was cut its beginning; of a list that is not whole, the first object.
 */
export function jsonAtStart(text: string): unknown {
  if (!/^[{["]/.test(text)) return undefined;
  return parsedJson(text) ?? parsedJson(objectAtStart(`${text.replace(/^\[\s*/, "")}"`) ?? "");
}

/** @returns undefined where the text is no JSON */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
