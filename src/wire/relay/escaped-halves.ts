/**
 * Halves of surrogate pairs that a model writes as escapes in JSON of its own: the arguments of a call, in pieces of a stream. Each
 * becomes U+FFFD: a client that parses the arguments could not write them as UTF-8. All is looked at as it stands inside of a JSON
 * string, where each backslash of the arguments is two.
 */
import type { Fragment } from "../neutral/neutral.ts";

/** A backslash of the arguments, in a regular expression. */
const BACKSLASH = "\\\\\\\\";
const HEX = "[0-9a-fA-F]";
const FIRST = `u[dD][89abAB]${HEX}{2}`;
const SECOND = `u[dD][c-fC-F]${HEX}{2}`;
/** What may become the escape of a second half. */
const SECOND_BEGUN = `${BACKSLASH}(?:u(?:[dD](?:[c-fC-F]${HEX}?)?)?)?`;

/** One escape: a pair; one whose rest may still come; a half; any other. */
const ESCAPE = new RegExp(
  `${BACKSLASH}(?:${FIRST}${BACKSLASH}${SECOND}|((?:${FIRST}(?:${SECOND_BEGUN})?|u${HEX}{0,3}|)$)|(u[dD][89a-fA-F]${HEX}{2})|\\\\[^]|[^])`,
  "g",
);
const SUSPECT = new RegExp(`${BACKSLASH}(?:u[dD][89a-fA-F]|(?:u${HEX}{0,3})?$)`);
const LONE = new RegExp(`^${BACKSLASH}${FIRST}`);
const REPLACED: Fragment = "\\\\ufffd";

/** Whether a piece may have such a half, or a part of one at its end. */
const mayHaveEscapedHalf = (piece: Fragment): boolean => piece.includes("\\\\") && SUSPECT.test(piece);

export interface Mended {
  readonly text: Fragment;
  /** The beginning of an escape, to be put before the next piece. */
  readonly rest: Fragment;
}

/** @param piece the new piece, behind the rest of the piece before */
export function withoutEscapedHalves(piece: Fragment): Mended {
  if (!mayHaveEscapedHalf(piece)) return { text: piece, rest: "" };
  let rest = "";
  const text = piece.replace(ESCAPE, (found: string, begun?: string, half?: string) => {
    if (begun === undefined) return half === undefined ? found : REPLACED;
    rest = found;
    return "";
  });
  return { text, rest };
}

/** A rest that nothing followed. */
export const endedRest = (rest: Fragment): Fragment => rest.replace(LONE, REPLACED);
