/**
 * The object that a text begins with, also where the text was cut off: models reach their output limit within the arguments
 * of a call. What is whole of it stays as it was written; the member or element that was cut is left out, and brackets are
 * closed. Anthropic's SDKs show a call that is streamed in the same way ("Fine-grained tool streaming").
 */
import { MAX_DEPTH } from "./json.ts";
import { closingQuote } from "./json-string.ts";

/**
 * Some servers send the empty object that a call begins with, and then its arguments: `{}{"a":1}`.
 * @param space a sign of white space, as a pattern
 */
export const emptyObjects = (space: string): RegExp =>
  new RegExp(`^(?:${space}*\\{${space}*\\}(?=${space}*\\{))+`);

export const EMPTY_OBJECTS = emptyObjects("\\s");

/** The text of an object with the control characters of its strings as escapes: models write line breaks in code as they are. */
export function withEscapedControls(text: string): string {
  if (!CONTROL.test(text) || !BEGINS_OBJECT.test(text)) return text;
  let out = "";
  let from = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', from)) {
    const end = stringEnd(text, at);
    out += text.slice(from, at) + text.slice(at, end).replace(ESCAPES, escaped);
    from = end;
  }
  return out + text.slice(from);
}

const BEGINS_OBJECT = /^[ \t\n\r]*\{/;
const CONTROL = /[^ -\uffff]/;
/** An escape, or a control character. */
const ESCAPES = /\\.|[^ -\uffff]/gs;

/** A backslash before a line break is one of the text: in a shell it joins two lines. */
const escaped = (found: string): string => (CONTROL.test(found) ? JSON.stringify(found).slice(1, -1) : found);

/** The index behind the string that begins at a quote; the text's end where it is cut. */
function stringEnd(text: string, quote: number): number {
  try {
    return closingQuote(text, quote + 1) + 1;
  } catch {
    return text.length;
  }
}

/** A number or a word. */
const SCALAR = /[-+.\w]*/y;
const WHOLE_SCALAR = /^(?:true|false|null|-?\d[\d.eE+-]*)$/;
const WORDS = ["true", "false", "null"];

/**
 * The first object of the text. Where it is whole, what follows it is left out.
 * @returns JSON text, not checked in all; undefined where the text begins with no object, or is damaged before its end
 */
export function objectAtStart(text: string): string | undefined {
  const from = EMPTY_OBJECTS.exec(text)?.[0].length ?? 0;
  const start = text.indexOf("{", from);
  if (start < 0 || text.slice(from, start).trim() !== "") return undefined;
  return new ObjectScan(text, start).object();
}

/** What may come next; `first…` directly behind an opening bracket. */
type Next = "firstName" | "name" | "colon" | "firstValue" | "value" | "comma";

class ObjectScan {
  readonly #text: string;
  readonly #start: number;
  /** The closing brackets of what is open, innermost last. */
  readonly #closers: string[] = [];
  #at: number;
  /** Up to here the text is whole but for those brackets. */
  #whole: number;
  #next: Next = "value";
  /** The text ended within something. */
  #isCut = false;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#start = this.#at = this.#whole = start;
  }

  object(): string | undefined {
    do {
      if (!this.#step()) return undefined;
    } while (!this.#isCut && this.#closers.length > 0);
    return this.#text.slice(this.#start, this.#whole) + this.#closers.reverse().join("");
  }

  /** Reads one bracket, name, value or mark. @returns false where the text is damaged, or nests too deep */
  #step(): boolean {
    const text = this.#text;
    while (" \t\n\r".includes(text.charAt(this.#at) || "x")) this.#at++;
    const c = text.charAt(this.#at);
    if (c === "") {
      this.#isCut = true;
      return true;
    }
    const next = this.#next;
    if (c === this.#closers.at(-1) && next !== "name" && next !== "value" && next !== "colon") {
      this.#closers.pop();
      return this.#ends(this.#at + 1);
    }
    switch (next) {
      case "comma":
        return c === "," && this.#passes(this.#closers.at(-1) === "}" ? "name" : "value");
      case "colon":
        return c === ":" && this.#passes("value");
      case "firstName":
      case "name":
        return c === '"' && this.#string("colon");
      default:
        return this.#value(c);
    }
  }

  #value(c: string): boolean {
    if (c === '"') return this.#string("comma");
    if (c !== "{" && c !== "[") return this.#scalar();
    this.#closers.push(c === "{" ? "}" : "]");
    this.#ends(this.#at + 1);
    this.#next = c === "{" ? "firstName" : "firstValue";
    return this.#closers.length <= MAX_DEPTH;
  }

  /** A value ends, or an object or a list begins: all up to there is whole. */
  #ends(at: number): true {
    this.#at = this.#whole = at;
    this.#next = "comma";
    return true;
  }

  #passes(next: Next): true {
    this.#at++;
    this.#next = next;
    return true;
  }

  #string(next: "colon" | "comma"): true {
    try {
      const end = closingQuote(this.#text, this.#at + 1) + 1;
      if (next === "comma") return this.#ends(end);
      this.#at = end;
      this.#next = next;
    } catch {
      this.#isCut = true;
    }
    return true;
  }

  /** A number that the text ends with may have had more digits. */
  #scalar(): boolean {
    SCALAR.lastIndex = this.#at;
    const scalar = SCALAR.exec(this.#text)?.[0] ?? "";
    const end = this.#at + scalar.length;
    if (end < this.#text.length || WORDS.includes(scalar))
      return WHOLE_SCALAR.test(scalar) && this.#ends(end);
    this.#isCut = true;
    return /^-?[\d.eE+-]*$/.test(scalar) || WORDS.some((word) => word.startsWith(scalar));
  }
}
