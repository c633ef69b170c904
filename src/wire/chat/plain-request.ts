/**
 * Reads the usual chat request from its bytes alone: messages of text, and options that are numbers, words or flags. Nothing of it is parsed
 * into objects. What it does not know, or finds at fault, it leaves to the reader of all bodies, which says what is wrong.
 */
import { isUtf8 } from "node:buffer";
import { bodyTable } from "../extras/tables.ts";
import { CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from "../json/characters.ts";
import type { Member } from "../json/json.ts";
import { skipSpace } from "../json/json-string.ts";
import { isSame, KeptTexts, Names } from "../json/names.ts";
import { type Signs, signsOf } from "../json/signs.ts";
import { ELIDE_OVER, type Elided } from "../json/skeleton.ts";
import { MAX_MODEL_NAME } from "../neutral/request-bounds.ts";

/** What is read of a member. */
type Kind = "model" | "messages" | "flag" | "options" | "count" | "few" | "unread";

/** Members that a request may have here, by what is read of them. */
const KINDS: Readonly<Record<string, Kind>> = {
  model: "model",
  messages: "messages",
  stream: "flag",
  stream_options: "options",
  parallel_tool_calls: "flag",
  max_tokens: "count",
  max_completion_tokens: "count",
  n: "few",
  best_of: "few",
  ...Object.fromEntries(
    [
      ["temperature", "top_p", "top_k", "min_p", "seed", "frequency_penalty", "presence_penalty"],
      ["repetition_penalty", "stop", "user", "safety_identifier", "logprobs", "top_logprobs", "store"],
      ["reasoning_effort", "verbosity", "prompt_cache_key", "prompt_cache_retention", "enable_thinking"],
    ]
      .flat()
      .map((name) => [name, "unread"] as const),
  ),
};

/** Members of messages, all of them strings. */
const OF_MESSAGES: readonly string[] = ["role", "content", "name"];
const CONTENT = "content";

/** Longer strings that are no text of a message may be media, or have bounds. */
const MOST_CHARACTERS = 128;
/** Fewer bytes than a list takes whose length is bounded. */
const MOST_LISTED = 1000;
/** More members than there are names. */
const MOST_MEMBERS = 32;
/** A number of more digits may be none that is exact. */
const MOST_DIGITS = 15;
/** `n` and `best_of`. */
const MOST_ANSWERS = 128;
const ZERO = 48;
const LOWER_D = 100;

/** A member that is known. */
interface Known {
  readonly key: string;
  readonly kind: Kind;
  readonly isPrompt: boolean;
}

/** What the request says, as the body would have it; absent members are undefined. */
export class PlainRequest {
  readonly members: Member[] = [];
  readonly elided: Elided[] = [];
  proseBytes = 0;
  model = "";
  stream: boolean | undefined = undefined;
  stream_options: { readonly include_usage?: boolean | null | undefined } | undefined = undefined;
  parallel_tool_calls: boolean | undefined = undefined;
  max_tokens: number | undefined = undefined;
  max_completion_tokens: number | undefined = undefined;
  n: number | undefined = undefined;
  best_of: number | undefined = undefined;
}

/** @param noPrompt members that no model reads */
function namesOf(noPrompt: readonly string[]): Names<Known> {
  const { members } = bodyTable("chat");
  const isFree = (key: string) => members.get(key)?.is === "free";
  return new Names(
    Object.entries(KINDS)
      .filter(([key]) => isFree(key))
      .map(([key, kind]) => ({ key, kind, isPrompt: !noPrompt.includes(key) })),
  );
}

const messageNames = new Names(OF_MESSAGES.map((key) => ({ key })));

/** @param noPrompt members that no model reads @returns the reader of a body; it gives undefined for one that it does not know */
export function plainReader(noPrompt: readonly string[]): (bytes: Buffer) => PlainRequest | undefined {
  const names = namesOf(noPrompt);
  return (bytes) => {
    const signs = signsOf(bytes);
    if (!signs.isPlain || (!signs.isAscii && !isUtf8(bytes))) return undefined;
    return new PlainWalk(bytes, signs, names).request();
  };
}

/** Goes from sign to sign. Each step gives false, and the offset -1, for what is not plain. */
class PlainWalk {
  readonly #bytes: Buffer;
  readonly #list: Int32Array;
  readonly #count: number;
  readonly #names: Names<Known>;
  readonly #request = new PlainRequest();
  /** The next sign. */
  #sign = 0;

  constructor(bytes: Buffer, { list, count }: Signs, names: Names<Known>) {
    this.#bytes = bytes;
    this.#list = list;
    this.#count = count;
    this.#names = names;
  }

  request(): PlainRequest | undefined {
    const request = this.#request;
    const bytes = this.#bytes;
    let at = this.#sees(OPEN_OBJECT, 0);
    if (at < 0) return undefined;
    for (let members = 0; members < MOST_MEMBERS; members++) {
      at = this.#member(at);
      if (at < 0) return undefined;
      const comma = this.#sees(COMMA, at);
      if (comma >= 0) {
        at = comma;
        continue;
      }
      at = this.#sees(CLOSE_OBJECT, at);
      const isWhole = at >= 0 && this.#sign === this.#count && skipSpace(bytes, at) === bytes.length;
      return isWhole && this.#hasAll() ? request : undefined;
    }
    return undefined;
  }

  /** It has what it must, and no member twice. */
  #hasAll(): boolean {
    const { members, model } = this.#request;
    let messages = 0;
    for (let i = 0; i < members.length; i++) {
      const { key } = members[i] as Member;
      if (key === "messages") messages++;
      for (let j = 0; j < i; j++) if ((members[j] as Member).key === key) return false;
    }
    return messages === 1 && model !== "";
  }

  /** @returns the offset behind the next sign, which must be this one, with nothing before it from an offset on; else -1 */
  #sees(sign: number, from: number): number {
    if (this.#sign >= this.#count) return -1;
    const place = this.#list[this.#sign] as number;
    if (this.#bytes[place] !== sign || skipSpace(this.#bytes, from) !== place) return -1;
    this.#sign++;
    return place + 1;
  }

  /** @returns the offset of the quote that ends the string whose quote was seen last; else -1 */
  #closing(): number {
    return this.#sign < this.#count ? (this.#list[this.#sign++] as number) : -1;
  }

  /** @returns the offset of the value behind a name; else -1 */
  #behindColon(nameEnd: number): number {
    const bytes = this.#bytes;
    const colon = skipSpace(bytes, nameEnd);
    if (colon === bytes.length || bytes[colon] !== COLON) return -1;
    return skipSpace(bytes, colon + 1);
  }

  /** @returns the offset behind the member that begins behind an offset; else -1 */
  #member(from: number): number {
    const bytes = this.#bytes;
    const open = this.#sees(QUOTE, from);
    const quote = open < 0 ? -1 : this.#closing();
    if (quote < 0) return -1;
    const name = this.#names.at(bytes, open, quote);
    const valueStart = this.#behindColon(quote + 1);
    if (name === undefined || valueStart < 0) return -1;
    const valueEnd = this.#value(name, valueStart);
    if (valueEnd < 0) return -1;
    const request = this.#request;
    if (name.isPrompt) request.proseBytes += valueEnd - valueStart;
    const { key } = name;
    request.members.push({
      key,
      start: open - 1,
      keyEnd: quote + 1,
      valueStart,
      valueEnd,
      opaqueBytes: 0,
    });
    return valueEnd;
  }

  #value({ key, kind }: Known, from: number): number {
    const c = from < this.#bytes.length ? (this.#bytes[from] as number) : 0;
    switch (kind) {
      case "model":
        return this.#model(from);
      case "messages":
        return this.#messages(from);
      case "flag":
        return this.#flag(key as "stream" | "parallel_tool_calls", from);
      case "count":
        return this.#counted(key as "max_tokens" | "max_completion_tokens", from, Number.MAX_SAFE_INTEGER);
      case "few":
        return this.#counted(key as "n" | "best_of", from, MOST_ANSWERS);
      case "options":
        return c === OPEN_OBJECT ? this.#options(from) : -1;
      default:
        if (c === QUOTE) return this.#string(from, MOST_CHARACTERS);
        return c === OPEN_OBJECT || c === OPEN_ARRAY ? this.#parsed(from) : this.#scalar(from);
    }
  }

  /** @returns the offset behind a string of at most so many bytes; else -1 */
  #string(from: number, most: number): number {
    const open = this.#sees(QUOTE, from);
    const quote = open < 0 ? -1 : this.#closing();
    return quote < 0 || quote - open > most ? -1 : quote + 1;
  }

  #model(from: number): number {
    const end = this.#string(from, MAX_MODEL_NAME);
    if (end < 0) return -1;
    const model = modelNames.at(this.#bytes, from + 1, end - 1);
    if (model === undefined) return -1;
    this.#request.model = model;
    return end;
  }

  #flag(key: "stream" | "parallel_tool_calls", from: number): number {
    const end = this.#scalarEnd(from);
    const isTrue = isSame(TRUE, this.#bytes, from, end);
    if (!isTrue && !isSame(FALSE, this.#bytes, from, end)) return -1;
    if (key === "stream") this.#request.stream = isTrue;
    else this.#request.parallel_tool_calls = isTrue;
    return end;
  }

  #counted(
    key: "max_tokens" | "max_completion_tokens" | "n" | "best_of",
    from: number,
    most: number,
  ): number {
    const end = this.#scalarEnd(from);
    const count = digitsOf(this.#bytes, from, end);
    if (count <= 0 || count > most) return -1;
    const request = this.#request;
    if (key === "max_tokens") request.max_tokens = count;
    else if (key === "max_completion_tokens") request.max_completion_tokens = count;
    else if (key === "n") request.n = count;
    else request.best_of = count;
    return end;
  }

  /** The offset behind what stands before the next sign, without white space at its end. */
  #scalarEnd(from: number): number {
    let end = this.#sign < this.#count ? (this.#list[this.#sign] as number) : this.#bytes.length;
    while (end > from && (this.#bytes[end - 1] as number) <= SPACE) end--;
    return end;
  }

  #scalar(from: number): number {
    const end = this.#scalarEnd(from);
    return end > from && SCALAR.test(this.#bytes.toString("latin1", from, end)) ? end : -1;
  }

  /** A small list or object. */
  #parsed(from: number): number {
    const end = this.#bracketEnd(from);
    if (end < 0 || end - from > MOST_CHARACTERS) return -1;
    return parsedAt(this.#bytes, from, end) === undefined ? -1 : end;
  }

  #options(from: number): number {
    const end = this.#bracketEnd(from);
    if (end < 0 || end - from > MOST_LISTED) return -1;
    const options = parsedAt(this.#bytes, from, end) as PlainRequest["stream_options"];
    const isFlag = options !== undefined && /^(?:boolean|undefined)$/.test(typeof options.include_usage);
    if (!isFlag) return -1;
    this.#request.stream_options = options;
    return end;
  }

  /** @returns the offset behind the bracket that closes the one at an offset, where the next sign must be; else -1 */
  #bracketEnd(from: number): number {
    const bytes = this.#bytes;
    const list = this.#list;
    if (this.#sign >= this.#count || list[this.#sign] !== from) return -1;
    let depth = 0;
    while (this.#sign < this.#count) {
      const place = list[this.#sign++] as number;
      const c = bytes[place];
      if (c === OPEN_OBJECT || c === OPEN_ARRAY) depth++;
      else if ((c === CLOSE_OBJECT || c === CLOSE_ARRAY) && --depth === 0) return place + 1;
    }
    return -1;
  }

  #messages(from: number): number {
    let at = this.#sees(OPEN_ARRAY, from);
    while (at >= 0) {
      at = this.#message(at);
      if (at < 0) return -1;
      const comma = this.#sees(COMMA, at);
      if (comma < 0) return this.#sees(CLOSE_ARRAY, at);
      at = comma;
    }
    return -1;
  }

  #message(from: number): number {
    let at = this.#sees(OPEN_OBJECT, from);
    while (at >= 0) {
      at = this.#ofMessage(at);
      if (at < 0) return -1;
      const comma = this.#sees(COMMA, at);
      if (comma < 0) return this.#sees(CLOSE_OBJECT, at);
      at = comma;
    }
    return -1;
  }

  /** A member of a message. */
  #ofMessage(from: number): number {
    const bytes = this.#bytes;
    const open = this.#sees(QUOTE, from);
    const quote = open < 0 ? -1 : this.#closing();
    if (quote < 0) return -1;
    const name = messageNames.at(bytes, open, quote);
    const start = this.#behindColon(quote + 1);
    if (name === undefined || start < 0) return -1;
    if (name.key !== CONTENT) return this.#string(start, MOST_CHARACTERS);
    const end = this.#string(start, bytes.length);
    if (end - start - 2 > ELIDE_OVER) {
      // It may be a data URL, of which the head is kept.
      if (bytes[start + 1] === LOWER_D) return -1;
      this.#request.elided.push({ start: start + 1, end: end - 1 });
    }
    return end;
  }
}

const COLON = 58;
const SPACE = 32;
const TRUE = Buffer.from("true");
const FALSE = Buffer.from("false");
const SCALAR = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** A whole number as JSON writes it; -1 for anything else. */
function digitsOf(bytes: Uint8Array, from: number, to: number): number {
  const digits = to - from;
  if (digits < 1 || digits > MOST_DIGITS || (digits > 1 && bytes[from] === ZERO)) return -1;
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = (bytes[i] as number) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** The object or list at an offset; undefined where it is no JSON. */
function parsedAt(bytes: Buffer, from: number, to: number): object | undefined {
  try {
    return JSON.parse(bytes.toString("latin1", from, to)) as object;
  } catch {
    return undefined;
  }
}

const modelNames = new KeptTexts();
