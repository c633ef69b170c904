/**
 * An upstream's answer as a value in which JSON that is only carried is a string: its own text behind a sign. So readers need
 * no table of what was taken out, and an event of a stream costs nothing more where it has none.
 */
import { randomBytes } from "node:crypto";
import { hasCarried, type OpaquePaths, opaqueSpans } from "../json/opaque.ts";

/** No upstream can guess it, and no client sees it. */
const SIGN = `<weir-carried:${randomBytes(12).toString("hex")}>`;

/**
 * As `JSON.parse`, but objects and lists at the paths are strings for {@link carriedIn}.
 * @throws where the text is no JSON
 */
export function parseCarrying(text: string, paths: OpaquePaths): unknown {
  if (!hasCarried(text, paths)) return JSON.parse(text);
  const bytes = Buffer.from(text);
  let shell = "";
  let from = 0;
  for (const { start, end } of opaqueSpans(bytes, 0, paths)) {
    const json = bytes.toString("utf8", start, end);
    // Checked here, because it is not read again.
    JSON.parse(json);
    shell += bytes.toString("utf8", from, start) + JSON.stringify(SIGN + json);
    from = end;
  }
  return JSON.parse(shell + bytes.toString("utf8", from));
}

/** The text of an object or a list that is carried; undefined of any other value. */
export const carriedIn = (value: unknown): string | undefined =>
  typeof value === "string" && value.startsWith(SIGN) ? value.slice(SIGN.length) : undefined;
