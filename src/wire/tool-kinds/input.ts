/**
 * The input of a custom tool, a text in free form, as arguments of the function that stands for it: an object with one string.
 * Models fill in that string; here it is taken out again, also piece by piece from a stream.
 */
import { utf8Of } from "../json/json.ts";
import { JsonText } from "../json/json-text.ts";
import { fragmentOf, textOf } from "../neutral/fragment.ts";
import type { Fragment, Grammar } from "../neutral/neutral.ts";

/** The member that has the text. */
const INPUT = "input";

/** The arguments for a text, as JSON text. */
export const argumentsOfInput = (input: string): string =>
  `{"${INPUT}":${JSON.stringify(input.toWellFormed())}}`;

/** The parameters of the function. A model that has no grammar to follow reads it as words. */
export function parametersOfInput(grammar: Grammar | undefined): JsonText {
  const description =
    grammar === undefined
      ? "The whole input of the tool, as plain text."
      : `The whole input of the tool, as plain text that follows this ${grammar.syntax} grammar:\n${grammar.definition}`;
  return JsonText.of({
    type: "object",
    properties: { [INPUT]: { type: "string", description } },
    required: [INPUT],
    additionalProperties: false,
  });
}

/** The text in a function's arguments; the arguments themselves where they are no such object. */
export function inputOf(json: string): string {
  const unwrapping = new Unwrapping();
  return textOf(unwrapping.push(fragmentOf(json)) + unwrapping.end());
}

const QUOTE = 34;
const BACKSLASH = 92;
const LOWER_U = 117;
const COLON = 58;
const COMMA = 44;
const OPEN = /[{[]/;
const CLOSE = /[}\]]/;
const SPACE = /^\s*$/;
/** Nothing, or an object with nothing: a call without input. */
const EMPTY = /^\s*(?:\{\s*\}\s*)?$/;

type State = "before" | "name" | "colon" | "value" | "skipped" | "input" | "behind" | "plain";

/** Takes the text out of arguments that come in pieces. What it returns are pieces of the text. */
export class Unwrapping {
  #state: State = "before";
  /** All that came before the text, given back as it is if no text comes. */
  #seen = "";
  #name = "";
  /** Brackets that are open in a value that is skipped. */
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** The beginning of an escape, or the first half of a pair, whose rest has not come. */
  #rest = "";

  /** @param piece of the arguments' JSON text */
  push(piece: Fragment): Fragment {
    // The arguments are JSON inside of a JSON string: this removes the outer escapes. Text is latin1 here, one character a byte.
    const json = Buffer.from(textOf(piece)).toString("latin1");
    if (this.#state === "plain") return piece;
    if (this.#state === "behind") return "";
    if (this.#state === "input") return this.#inputOf(json, 0);
    this.#seen += json;
    for (let at = 0; at < json.length; at++) {
      const state = this.#step(json[at] as string);
      if (state === "input") return this.#inputOf(json, at + 1);
      if (state === "plain") return this.#giveBack();
    }
    return "";
  }

  /** No more comes. */
  end(): Fragment {
    if (this.#state === "input") return this.#rest === "" ? "" : HALF;
    return this.#state === "behind" || this.#state === "plain" ? "" : this.#giveBack();
  }

  /** What came is no object with such a member: it is the text. */
  #giveBack(): Fragment {
    this.#state = "plain";
    const seen = this.#seen;
    this.#seen = "";
    return EMPTY.test(seen) ? "" : fragmentOf(utf8Of(seen));
  }

  /** One character before the text. */
  #step(c: string): State {
    switch (this.#state) {
      case "before":
        if (c === "{" && this.#seen.trimStart().startsWith("{")) this.#state = "name";
        else if (!SPACE.test(c)) this.#state = "plain";
        break;
      case "name":
        this.#nameStep(c);
        break;
      case "colon":
        if (c.charCodeAt(0) === COLON) this.#state = "value";
        break;
      case "value":
        if (SPACE.test(c)) break;
        if (c.charCodeAt(0) === QUOTE && this.#name === INPUT) this.#state = "input";
        else this.#skip(c);
        break;
      case "skipped":
        this.#skip(c);
        break;
      default:
        break;
    }
    return this.#state;
  }

  #nameStep(c: string): void {
    if (!this.#inString) {
      if (c.charCodeAt(0) === QUOTE) {
        this.#inString = true;
        this.#name = "";
      }
    } else if (c.charCodeAt(0) === QUOTE && !this.#isEscaped) {
      this.#inString = false;
      this.#name = unescaped(this.#name);
      this.#state = "colon";
    } else {
      this.#isEscaped = c.charCodeAt(0) === BACKSLASH && !this.#isEscaped;
      this.#name += c;
    }
  }

  /** A character of another member's value. */
  #skip(c: string): void {
    this.#state = "skipped";
    const code = c.charCodeAt(0);
    if (this.#inString) {
      if (code === QUOTE && !this.#isEscaped) this.#inString = false;
      this.#isEscaped = code === BACKSLASH && !this.#isEscaped;
    } else if (code === QUOTE) this.#inString = true;
    else if (OPEN.test(c)) this.#depth++;
    else if (CLOSE.test(c)) this.#depth--;
    else if (code === COMMA && this.#depth === 0) this.#state = "name";
  }

  /**
   * The inside of a JSON string is a piece of text already, but for an escape that is cut, and for what weak models write
   * there: line breaks, and escapes that JSON does not know.
   */
  #inputOf(json: string, from: number): Fragment {
    const text = this.#rest + json.slice(from);
    this.#rest = "";
    if (!SPECIAL.test(text)) return text;
    let out = "";
    for (let at = 0; at < text.length; ) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#state = "behind";
        return out;
      }
      if (code !== BACKSLASH) {
        out += code < SPACE_CODE ? fragmentOf(text[at] as string) : text[at];
        at++;
        continue;
      }
      const end = escapeEnd(text, at);
      if (end > text.length) {
        this.#rest = text.slice(at);
        return out;
      }
      const escaped = text.slice(at, end);
      out += LONE.test(escaped) ? HALF : KNOWN.test(escaped) ? escaped : `\\${escaped}`;
      at = end;
    }
    return out;
  }
}

const SPACE_CODE = 32;
/** Quotes, backslashes and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: models write them raw
const SPECIAL = /["\\\u0000-\u001f]/;
const KNOWN = /^(?:\\["\\/bfnrt]|(?:\\u[0-9a-fA-F]{4}){1,2})$/;
/** The escape of half of a surrogate pair: UTF-8 cannot have it. */
const LONE = /^\\u[dD][89a-fA-F][0-9a-fA-F]{2}$/;
const HIGH = /^\\u[dD][89abAB][0-9a-fA-F]{2}/;
/** The beginning of the escape of a second half, or all of it. */
const SECOND = /^(?:\\(?:u(?:[dD](?:[c-fC-F](?:[0-9a-fA-F]{1,2})?)?)?)?)?$/;

/** What cannot be read as a character: an escape that is cut, or half of a pair. */
const HALF = "\\ufffd";

const UNIT = 6;

/** Where the escape ends that begins at a backslash, with both escapes of a surrogate pair; beyond the text where its rest may come. */
function escapeEnd(text: string, at: number): number {
  if (text.charCodeAt(at + 1) !== LOWER_U) return at + 2;
  const end = at + UNIT;
  if (!HIGH.test(text.slice(at, end))) return Math.min(end, unknownEnd(text, at));
  // The other half is here, or may still come.
  return SECOND.test(text.slice(end, end + UNIT)) ? end + UNIT : end;
}

/** An escape that is no such escape ends behind its letter; else anywhere. */
const unknownEnd = (text: string, at: number): number =>
  /^\\u[0-9a-fA-F]*$/.test(text.slice(at, at + UNIT)) ? at + UNIT : at + 2;

/** A name may be written with escapes. */
function unescaped(name: string): string {
  if (!name.includes("\\")) return name;
  try {
    return JSON.parse(`"${utf8Of(name)}"`) as string;
  } catch {
    return name;
  }
}

/** Puts the pieces of a custom call's text into the arguments of a function. */
export class Wrapping {
  #hasBegun = false;

  push(piece: Fragment): Fragment {
    const escaped = piece.replace(/[\\"]/g, "\\$&");
    if (this.#hasBegun) return escaped;
    this.#hasBegun = true;
    return HEAD + escaped;
  }

  end(): Fragment {
    return this.#hasBegun ? TAIL : HEAD + TAIL;
  }
}

const HEAD = fragmentOf(`{"${INPUT}":"`);
const TAIL = fragmentOf('"}');
