/**
 * Control characters that a model writes as they are in the strings of a call's arguments, in pieces of a stream: line breaks in code,
 * above all. JSON has them as escapes only, and clients that parse the arguments fail. All is looked at as it stands inside of a JSON
 * string, where a quote of the arguments is an escape, and a backslash two.
 */
import { BACKSLASH, LOWER_U, QUOTE, SLASH, SPACE } from "../json/characters.ts";
import type { Fragment } from "../neutral/neutral.ts";

const UNICODE_LENGTH = 6;

/** The arguments of one call. */
export class CallStrings {
  /** Undefined until something has come; false where it is no object. */
  #isObject: boolean | undefined;
  #isInString = false;
  /** The last piece ended with a backslash of the arguments, which escapes what follows. */
  #isEscaped = false;

  /** Whether the next piece must be taken although it has no backslash. */
  get isEscaped(): boolean {
    return this.#isEscaped;
  }

  /** @returns the piece with such characters as escapes */
  take(piece: Fragment): Fragment {
    if (this.#isObject === undefined && piece !== "") this.#isObject = beginsObject(piece);
    if (this.#isObject !== true) return piece;
    let out = "";
    let from = 0;
    let at = piece.indexOf("\\");
    if (at !== 0) this.#isEscaped = false;
    while (at >= 0) {
      const end = at + (piece.charCodeAt(at + 1) === LOWER_U ? UNICODE_LENGTH : 2);
      const isEscaped = this.#isEscaped;
      if (this.#isRaw(piece, at)) {
        // A backslash before it is one of the text: in a shell it joins two lines.
        out += piece.slice(from, at) + (isEscaped ? "\\\\\\" : "\\");
        from = at;
      }
      at = piece.indexOf("\\", end);
      if (at !== end && end < piece.length) this.#isEscaped = false;
    }
    return out === "" ? piece : out + piece.slice(from);
  }

  /** Looks at the escape at `at`. @returns whether it is a control character within a string */
  #isRaw(piece: Fragment, at: number): boolean {
    const c = piece.charCodeAt(at + 1);
    const isEscaped = this.#isEscaped;
    this.#isEscaped = c === BACKSLASH && this.#isInString && !isEscaped;
    if (c === QUOTE) {
      if (!isEscaped) this.#isInString = !this.#isInString;
      return false;
    }
    if (c === BACKSLASH || c === SLASH || !this.#isInString) return false;
    return c !== LOWER_U || Number.parseInt(piece.slice(at + 2, at + UNICODE_LENGTH), 16) < SPACE;
  }
}

/** Behind white space, where a line break is an escape. After white space alone, the next piece decides. */
function beginsObject(piece: Fragment): boolean | undefined {
  const begins = BEGINNING.exec(piece)?.[0] ?? "";
  return begins.length === piece.length ? undefined : piece.startsWith("{", begins.length);
}

const BEGINNING = /^(?: |\\[nrt])*/;
