/**
 * Cuts a text into the JSON values that follow one another in it: on lines of their own, one behind the other, or as the elements of a
 * list. So servers stream that know no server-sent events: chunks on lines (hackclub/ai#17, comet-ml/opik#5149), Gemini's
 * streamGenerateContent without `alt=sse` as a list. Text is latin1 and comes in pieces; every character is looked at once.
 */
import { fail } from "../../base/errors.ts";
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from "../json/characters.ts";
import { copied } from "../json/latin1.ts";
import { contentStart, formOf, isBlank, unknownPart } from "./first-bytes.ts";

export class JsonValues {
  /** The beginning of a text between values that is none of them. The text from there on is not read. */
  rest = "";
  /** The bound of one value. It may be set anew between two. */
  maxBytes: number;
  /** A text that may begin with a byte order mark. */
  #opening = "";
  #hasBegun = false;
  /** The pieces of the value that has begun. */
  #value = "";
  /** Brackets that are open within it. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** @param maxBytes of one value */
  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Whether a value has begun and not ended. */
  get isWithin(): boolean {
    return this.#depth > 0;
  }

  /**
   * Takes a piece of text. Returns the objects that ended in it.
   * @throws WeirError `upstream_invalid_response` where one outgrows the bound
   */
  push(piece: string): string[] {
    const values: string[] = [];
    if (this.rest !== "") {
      this.rest = (this.rest + piece.slice(0, MOST_REST)).slice(0, MOST_REST);
      return values;
    }
    let text = piece;
    if (!this.#hasBegun) {
      text = this.#opening + piece;
      const start = contentStart(text);
      if (start === text.length) {
        this.#opening = unknownPart(text);
        return values;
      }
      this.#opening = "";
      this.#hasBegun = true;
      text = text.slice(start);
      // The elements of a list are read, and not the list.
      if (text.charCodeAt(0) === OPEN_ARRAY) text = text.slice(1);
    }
    let at = 0;
    while (at < text.length && this.rest === "") {
      const start = this.#depth > 0 ? at : this.#nextObject(text, at);
      if (start < 0) break;
      at = this.#endIn(text, start);
      this.#value += copied(text.slice(start, at));
      if (this.#value.length > this.maxBytes) {
        throw fail("upstream_invalid_response", "The provider sent an event larger than the gateway takes.");
      }
      if (this.#depth > 0) break;
      values.push(this.#value);
      this.#value = "";
    }
    return values;
  }

  /** The index of the next object's bracket; -1 where no more values come in this text. */
  #nextObject(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === OPEN_OBJECT) return at;
      if (isBlank(code) || code === COMMA || code === CLOSE_ARRAY) continue;
      this.rest = copied(text.slice(at, at + MOST_REST));
      return -1;
    }
    return -1;
  }

  /** The index behind the value, or behind the text if it goes on. */
  #endIn(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (code === BACKSLASH) this.#isEscaped = true;
        else if (code === QUOTE) this.#isInString = false;
      } else if (code === QUOTE) this.#isInString = true;
      else if (code === OPEN_OBJECT || code === OPEN_ARRAY) this.#depth++;
      else if ((code === CLOSE_OBJECT || code === CLOSE_ARRAY) && --this.#depth === 0) return at + 1;
    }
    return text.length;
  }
}

/** Whether what is behind a whole answer says no more than a stream's end. @param rest as {@link JsonValues.rest} */
export const endsAnswer = (rest: string): boolean =>
  rest === "" || rest.startsWith("[DONE]") || (formOf(rest) === "events" && !rest.includes("{"));

/** Enough of what is no value to see what it is. */
const MOST_REST = 64;
