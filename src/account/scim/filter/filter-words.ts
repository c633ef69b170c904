/**
 * The words of a filter, one after another, without going back: linear in the length of the text (RFC 7644 figure 1).
 */
import { type ScimType, scimFail } from "../error.ts";
import type { Steps } from "../steps.ts";

/** Filters come in a URL; the longest that identity providers send have a few hundred characters. */
export const MAX_FILTER_CHARS = 4096;

export interface Word {
  readonly kind: "word" | "string" | "mark" | "end";
  /** As it was sent; of a string with its quotes. */
  readonly text: string;
}

const END: Word = { kind: "end", text: "" };

const MARKS = "()[]";
const BLANKS = " \t\r\n";
/** Names, URNs and numbers. */
const isWordCharacter = (c: string): boolean =>
  (c >= "a" && c <= "z") || (c >= "A" && c <= "Z") || (c >= "0" && c <= "9") || "._:-$+/%".includes(c);

export class FilterWords {
  /** The word that was not taken yet. */
  next: Word;
  readonly fault: ScimType;
  readonly #text: string;
  readonly #steps: Steps;
  #at = 0;

  /** @param fault the keyword of every failure. @throws ScimError if the text is too long or its first word is none */
  constructor(text: string, fault: ScimType, steps: Steps) {
    this.fault = fault;
    this.#text = text;
    this.#steps = steps;
    if (text.length > MAX_FILTER_CHARS) throw this.fail(`is longer than ${MAX_FILTER_CHARS} characters`);
    this.next = this.#read();
  }

  take(): Word {
    const { next } = this;
    this.next = this.#read();
    return next;
  }

  /** Takes the word if it is next; in any case of letters. */
  takes(text: string): boolean {
    if (!this.isNext(text)) return false;
    this.take();
    return true;
  }

  isNext(text: string): boolean {
    return this.next.kind !== "string" && this.next.text.toLowerCase() === text;
  }

  demand(text: string): void {
    if (!this.takes(text)) throw this.fail(`lacks "${text}"`);
  }

  /** @param what goes on after "The filter" or "The path" */
  fail(what: string) {
    const subject = this.fault === "invalidPath" ? "The path" : "The filter";
    return scimFail(this.fault, `${subject} ${what}, before character ${this.#at + 1}.`);
  }

  #read(): Word {
    const text = this.#text;
    const start = this.#skip((c) => BLANKS.includes(c));
    const first = text[start];
    if (first === undefined) return END;
    this.#steps.take(1);
    if (MARKS.includes(first)) return { kind: "mark", text: text.slice(start, ++this.#at) };
    if (first === '"') return this.#readString(start);
    const end = this.#skip(isWordCharacter);
    if (end === start) throw this.fail("has a character that is out of place");
    return { kind: "word", text: text.slice(start, end) };
  }

  #readString(start: number): Word {
    this.#at++;
    while (this.#text[this.#at] !== '"') {
      if (this.#at >= this.#text.length) throw this.fail("has a string without an end");
      // A backslash takes the next character with it.
      this.#move(this.#text[this.#at] === "\\" ? 2 : 1);
    }
    this.#at++;
    return { kind: "string", text: this.#text.slice(start, this.#at) };
  }

  #skip(isSkipped: (character: string) => boolean): number {
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined || !isSkipped(character)) return this.#at;
      this.#move(1);
    }
  }

  #move(by: number): void {
    this.#at += by;
    this.#steps.take(1);
  }
}
