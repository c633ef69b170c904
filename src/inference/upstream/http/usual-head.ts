/**
 * The head of nearly all answers, read from its bytes in one pass: status 200 of HTTP/1.1, a type, a length or chunks. What else there may
 * be, and all that is at fault, is left to `answer-head.ts`.
 */
import { type AnswerHead, type AnswerHeaders, keepAliveOf, READ_NAMES, ReadHeaders } from "./answer-head.ts";

/** Such a head, and where it ends. */
export interface UsualHead extends AnswerHead {
  /** The index behind its empty line. */
  readonly end: number;
}

const START = Buffer.from("HTTP/1.1 200 OK\r\n");
const COLON = 0x3a;
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const ZERO = 0x30;
const LOWER = 0x20;
/** Longer heads are not usual. */
const MOST_BYTES = 4096;
/** More digits are at fault. */
const MOST_DIGITS = 15;

/** Characters of names and of values, as `answer-head.ts` allows them. */
const IN_NAME = tableOf(/[!#$%&'*+\-.^_`|~\dA-Za-z]/);
const IN_VALUE = tableOf(/[\t\x20-\x7e\x80-\xff]/);

function tableOf(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => Number(characters.test(String.fromCharCode(code))));
}

const TYPE = Buffer.from("content-type");
const LENGTH = Buffer.from("content-length");
const CODING = Buffer.from("transfer-encoding");
const CONNECTION = Buffer.from("connection");
const KEEP_ALIVE = Buffer.from("keep-alive");
const CHUNKED = Buffer.from("chunked");
/** Names of other lengths are not read. */
const IS_READ_LENGTH = Uint8Array.from({ length: MOST_BYTES }, (_, length) =>
  Number(READ_NAMES.some((name) => name.length === length)),
);
const READ = READ_NAMES.map((name) => Buffer.from(name));

/** Whether a name is one of those. */
function isRead(bytes: Uint8Array, from: number, to: number): boolean {
  for (const name of READ) if (isText(name, bytes, from, to)) return true;
  return false;
}

/** Whether a slice is a text of small letters, written in small or large ones. */
function isText(text: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  const { length } = text;
  if (to - from !== length) return false;
  for (let i = 0; i < length; i++) if (((bytes[from + i] as number) | LOWER) !== text[i]) return false;
  return true;
}

/** Headers by the type that is all they say: few types, again and again. */
const kept: { readonly type: Buffer; readonly headers: AnswerHeaders }[] = [];
const MOST_KEPT = 16;
const UNTYPED: AnswerHeaders = new ReadHeaders();

function headersOf(bytes: Buffer, from: number, to: number): AnswerHeaders {
  for (const { type, headers } of kept) if (isExactly(type, bytes, from, to)) return headers;
  const headers = new ReadHeaders();
  const type = bytes.toString("latin1", from, to);
  headers.take("content-type", type);
  if (kept.length < MOST_KEPT) kept.push({ type: Buffer.from(type, "latin1"), headers });
  return headers;
}

function isExactly(text: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  const { length } = text;
  if (to - from !== length) return false;
  for (let i = 0; i < length; i++) if (bytes[from + i] !== text[i]) return false;
  return true;
}

const isBlank = (byte: number): boolean => byte === SPACE || byte === TAB;

/** @param end of the bytes that have arrived @returns undefined where the head is another, or not whole */
export function usualHead(bytes: Buffer, end: number): UsualHead | undefined {
  const last = Math.min(end, MOST_BYTES) - 1;
  if (last < START.length || !isExactly(START, bytes, 0, START.length)) return undefined;
  let headers: AnswerHeaders | undefined;
  let length = -1;
  let isChunked = false;
  let keepAliveMs: number | undefined;
  let at = START.length;
  while (at < last) {
    if (bytes[at] === CR) {
      if (bytes[at + 1] !== LF || (isChunked && length >= 0)) return undefined;
      const body = isChunked ? "chunked" : length >= 0 ? length : "to_close";
      const isLast = body === "to_close";
      return { status: 200, headers: headers ?? UNTYPED, body, isLast, keepAliveMs, end: at + 2 };
    }
    const start = at;
    while (at < last && IN_NAME[bytes[at] as number] === 1) at++;
    const colon = at;
    if (colon === start || bytes[at] !== COLON) return undefined;
    at++;
    while (at < last && IN_VALUE[bytes[at] as number] === 1) at++;
    if (at >= last || bytes[at] !== CR || bytes[at + 1] !== LF) return undefined;
    if (IS_READ_LENGTH[colon - start] === 1) {
      let from = colon + 1;
      let to = at;
      while (from < to && isBlank(bytes[from] as number)) from++;
      while (to > from && isBlank(bytes[to - 1] as number)) to--;
      if (isText(TYPE, bytes, start, colon)) headers ??= headersOf(bytes, from, to);
      else if (isText(LENGTH, bytes, start, colon)) {
        if (length >= 0) return undefined;
        length = digits(bytes, from, to);
        if (length < 0) return undefined;
      } else if (isText(CODING, bytes, start, colon)) {
        if (isChunked || !isText(CHUNKED, bytes, from, to)) return undefined;
        isChunked = true;
      } else if (isText(CONNECTION, bytes, start, colon)) {
        if (!isText(KEEP_ALIVE, bytes, from, to)) return undefined;
      } else if (isText(KEEP_ALIVE, bytes, start, colon)) {
        if (keepAliveMs !== undefined) return undefined;
        keepAliveMs = keepAliveOf(bytes.toString("latin1", from, to));
      } else if (isRead(bytes, start, colon)) return undefined;
    }
    at += 2;
  }
  return undefined;
}

/** @returns -1 where it is no length */
function digits(bytes: Uint8Array, from: number, to: number): number {
  if (to === from || to - from > MOST_DIGITS) return -1;
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = (bytes[i] as number) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
