/**
 * A body without its long strings, which no check reads: what is left is decoded in a fraction of the time. That they are valid is seen
 * here, because no parser sees them.
 */
import { refuseInvalid } from "./json-string.ts";
import { isKeyOf, isMedia, isProse, MEDIA_OVER } from "./named-strings.ts";

/** Longer strings are left out of the skeleton: prompts and images are passed on without being decoded. */
export const ELIDE_OVER = 4096;

/** Offsets of a long string without its quotes; of a data URL those of the data after its comma. */
export interface Elided {
  readonly start: number;
  readonly end: number;
}

/** The comma of a data URL is searched in so many characters: its media type is short. */
const DATA_HEAD = 256;

function dataOf(text: string, from: number): number {
  const comma = text.slice(from, from + DATA_HEAD).indexOf(",");
  return comma < 0 ? from : from + comma + 1;
}

/** A string as it stands in a body. */
interface Place {
  /** The string before it without its quotes: its key, if only a colon is between them. */
  readonly wordStart: number;
  readonly wordEnd: number;
  /** Offsets of its quotes. */
  readonly at: number;
  readonly quote: number;
  /** What is between quotes in this body needs no look to be valid. */
  readonly isPlain: boolean;
}

/** Grows with the long strings of a body, in their order. */
export class Skeleton {
  readonly elided: Elided[] = [];
  readonly media: number[] = [];
  #kept = "";
  #copied = 0;

  /** @returns its bytes where it is media, else 0 @throws WeirError `invalid_json` where it is left out and is none */
  longString(text: string, bytes: Uint8Array, { wordStart, wordEnd, at, quote, isPlain }: Place): number {
    const length = quote - at - 1;
    const isNamed = isKeyOf(bytes, wordEnd, at);
    if (length > ELIDE_OVER) {
      if (!isPlain) refuseInvalid(bytes, at + 1, quote);
      const head = text.startsWith("data:", at + 1) ? "data:" : "";
      this.elided.push({ start: head === "" ? at + 1 : dataOf(text, at + 1), end: quote });
      this.#leaveOut(text, at, quote, head);
    } else if (isNamed && isPlain && isProse(bytes, wordStart, wordEnd)) this.#leaveOut(text, at, quote, "");
    const isOpaque = isNamed && length > MEDIA_OVER && isMedia(text, wordStart, wordEnd, at, this.media);
    return isOpaque ? length : 0;
  }

  /** The body with what was left out as empty strings. */
  whole(text: string): string {
    return this.#copied === 0 ? text : this.#kept + text.slice(this.#copied);
  }

  #leaveOut(text: string, at: number, quote: number, head: string): void {
    this.#kept += text.slice(this.#copied, at + 1) + head;
    this.#copied = quote;
  }
}
