/**
 * Parses an answer of HTTP/1.1 as it arrives, in pieces of any size (RFC 9112). It is strict: what another parser could
 * read otherwise is refused, because that is how one answer is smuggled into the next. It knows no socket.
 */
import { type AnswerHead, type AnswerHeaders, areFields, readHead } from "./answer-head.ts";
import { ProtocolError } from "./errors.ts";
import { usualHead } from "./usual-head.ts";

/** Receives the parts of one answer, in this order; it may call `stop` of the parser in any of them. */
export interface ParserSink {
  /** The final head: 1xx heads before it are dropped. */
  onHead(status: number, headers: AnswerHeaders): void;
  /**
   * Content: `bytes` from `start` up to `end`, all of a read in one piece however many chunks it has: a provider may send a byte in each.
   * The next read overwrites the memory: a sink copies what it keeps longer than the current turn.
   */
  onData(bytes: Buffer, start: number, end: number): void;
  /**
   * The answer is complete.
   * @param isLast whether the connection cannot carry another one: the provider said so, or has sent more than the answer
   */
  onEnd(isLast: boolean): void;
}

/** Node's own limit of a head; here for all heads of an answer together, and for its trailer. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Larger chunks than this exist nowhere; the sum of such sizes stays an exact integer. */
const MAX_CHUNK_BYTES = 2 ** 40;
/** Digits of a size that is read in one step: few enough for a small integer. */
const MAX_USUAL_DIGITS = 7;
/** Extensions of chunks mean nothing to us; RFC 9112, 7.1.1 asks for a limit. */
const MAX_EXTENSION_BYTES = 1024;

// States of the parser: what it expects next.
const NOTHING = 0;
const HEAD = 1;
const BODY_OF_LENGTH = 2;
const BODY_TO_CLOSE = 3;
const CHUNK_SIZE = 4;
const CHUNK_EXTENSION = 5;
const CHUNK_SIZE_LF = 6;
const CHUNK_DATA = 7;
const CHUNK_DATA_CR = 8;
const CHUNK_DATA_LF = 9;
const TRAILER = 10;
const CHUNK_SIZE_BLANK = 11;

const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const DELETE = 0x7f;
const SEMICOLON = 0x3b;
const HEAD_END = Buffer.from("\r\n\r\n");

export class ResponseParser {
  readonly #sink: ParserSink;
  #state = NOTHING;
  /** The beginning of a head, or of a trailer, that ends in a later read; latin1. */
  #partial = "";
  /** Bytes of the 1xx heads before. */
  #headBytes = 0;
  /** Bytes that are missing of the body or the chunk. */
  #remaining = 0;
  /** Content of the read that is not given yet. */
  #from = 0;
  #to = 0;
  #sizeDigits = 0;
  #extensionBytes = 0;
  #isLast = false;
  #keepAliveMs: number | undefined;

  constructor(sink: ParserSink) {
    this.#sink = sink;
  }

  /** Expects an answer. */
  begin(): void {
    this.#state = HEAD;
    this.#partial = "";
    this.#headBytes = 0;
    this.#isLast = false;
    this.#keepAliveMs = undefined;
  }

  /** Nothing more is wanted: the sink is not called again. */
  stop(): void {
    this.#state = NOTHING;
    this.#partial = "";
  }

  get #isStopped(): boolean {
    return this.#state === NOTHING;
  }

  /** For how long the provider keeps the connection open after this answer, if it said so, in milliseconds. */
  get keepAliveMs(): number | undefined {
    return this.#keepAliveMs;
  }

  /**
   * Parses `bytes` up to `end`, and keeps none of them. Content of later chunks is moved to that of the first one.
   * @throws ProtocolError
   */
  push(bytes: Buffer, end: number): void {
    let at = 0;
    if (this.#state === HEAD) at = this.#readHead(bytes, end);
    switch (this.#state) {
      case NOTHING:
      case HEAD:
        return;
      case BODY_OF_LENGTH:
        this.#readLength(bytes, at, end);
        return;
      case BODY_TO_CLOSE:
        this.#give(bytes, at, end);
        return;
      default:
        this.#readChunks(bytes, at, end);
    }
  }

  /** The connection has ended. @returns whether the answer is complete by that: its end was the end of the connection */
  finish(): boolean {
    if (this.#state !== BODY_TO_CLOSE) return false;
    this.stop();
    this.#sink.onEnd(true);
    return true;
  }

  /** @returns the index of the first byte behind the head, if its end is in these bytes */
  #readHead(bytes: Buffer, end: number): number {
    const usual = this.#partial === "" && this.#headBytes === 0 ? usualHead(bytes, end) : undefined;
    if (usual !== undefined) {
      this.#begin(usual, usual.end < end);
      return usual.end;
    }
    let at = 0;
    while (this.#state === HEAD) {
      const next = this.#endOfHead(bytes, at, end);
      if (next < 0) {
        this.#keepPartial(bytes.toString("latin1", at, end), this.#headBytes);
        return end;
      }
      // Without the last CRLF, and with nothing of it where it began in the read before.
      const head = (this.#partial + bytes.toString("latin1", at, next)).slice(0, -HEAD_END.length);
      this.#partial = "";
      this.#headBytes += head.length;
      if (this.#headBytes > MAX_HEAD_BYTES) throw new ProtocolError("head_too_large");
      at = next;
      this.#takeHead(head, at < end);
    }
    return at;
  }

  /** @returns the index behind the empty line, or -1 */
  #endOfHead(bytes: Buffer, at: number, end: number): number {
    if (this.#partial !== "") {
      // The empty line may have begun in the read before.
      const before = this.#partial.slice(-HEAD_END.length + 1);
      const seam = before + bytes.toString("latin1", at, Math.min(end, at + HEAD_END.length - 1));
      const found = seam.indexOf("\r\n\r\n");
      if (found >= 0) return at + found + HEAD_END.length - before.length;
    }
    const found = bytes.indexOf(HEAD_END, at);
    return found < 0 || found + HEAD_END.length > end ? -1 : found + HEAD_END.length;
  }

  #keepPartial(text: string, bytesBefore: number): void {
    this.#partial += text;
    // Its last bytes may be those of the empty line, which do not count.
    if (bytesBefore + this.#partial.length >= MAX_HEAD_BYTES + HEAD_END.length) {
      throw new ProtocolError("head_too_large");
    }
  }

  /** @param hasMore whether more bytes have arrived than the head */
  #takeHead(text: string, hasMore: boolean): void {
    const head = readHead(text);
    if (head !== undefined) this.#begin(head, hasMore);
  }

  #begin(head: AnswerHead, hasMore: boolean): void {
    const { status, headers, body } = head;
    this.#isLast = head.isLast;
    this.#keepAliveMs = head.keepAliveMs;
    if (body === "chunked") {
      this.#expectChunk();
    } else if (body === "to_close") {
      this.#state = BODY_TO_CLOSE;
    } else {
      this.#state = BODY_OF_LENGTH;
      this.#remaining = body;
    }
    this.#sink.onHead(status, headers);
    if (body === 0 && !this.#isStopped) this.#end(hasMore);
  }

  #readLength(bytes: Buffer, at: number, end: number): void {
    const upTo = Math.min(end, at + this.#remaining);
    this.#remaining -= upTo - at;
    this.#give(bytes, at, upTo);
    if (!this.#isStopped && this.#remaining === 0) this.#end(upTo < end);
  }

  #readChunks(bytes: Buffer, start: number, end: number): void {
    this.#from = this.#to = start;
    try {
      const next = this.#gather(bytes, start, end);
      if (next < 0) return;
      const behind = this.#readTrailer(bytes, next, end);
      if (behind < 0) return;
      this.#give(bytes, this.#from, this.#to);
      this.#from = this.#to;
      if (!this.#isStopped) this.#end(behind < end);
    } finally {
      // Also what came before a fault, and before the beginning of a trailer.
      this.#give(bytes, this.#from, this.#to);
    }
  }

  /** Puts the content of chunks together. @returns the index of the trailer; -1 where it has not come */
  #gather(bytes: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end) {
      if (this.#state === CHUNK_DATA) {
        const upTo = Math.min(end, at + this.#remaining);
        this.#remaining -= upTo - at;
        if (this.#remaining === 0) this.#state = CHUNK_DATA_CR;
        if (this.#from === this.#to) this.#from = this.#to = at;
        if (at > this.#to) bytes.copyWithin(this.#to, at, upTo);
        this.#to += upTo - at;
        at = upTo;
      } else if (this.#state === TRAILER) return at;
      else {
        const next = this.#usualSize(bytes, at, end);
        if (next > at) at = next;
        else this.#readChunkSyntax(bytes[at++] as number);
      }
    }
    return -1;
  }

  /**
   * Reads the line of a size without extension, and the end of the chunk before it, in one step where all of it has arrived: nearly
   * always.
   * @returns the index behind the line; `from` where it is not so
   */
  #usualSize(bytes: Buffer, from: number, end: number): number {
    let at = from;
    if (this.#state === CHUNK_DATA_CR) {
      if (end - at < 2 || bytes[at] !== CR || bytes[at + 1] !== LF) return from;
      at += 2;
      if (at === end) {
        this.#expectChunk();
        return at;
      }
    } else if (this.#state !== CHUNK_SIZE || this.#sizeDigits > 0) return from;
    const upTo = Math.min(end, at + MAX_USUAL_DIGITS);
    let size = 0;
    const digits = at;
    for (; at < upTo; at++) {
      const digit = hexDigit(bytes[at] as number);
      if (digit < 0) break;
      size = size * 16 + digit;
    }
    if (at === digits || size === 0 || end - at < 2 || bytes[at] !== CR || bytes[at + 1] !== LF) return from;
    this.#expectChunk();
    this.#remaining = size;
    this.#state = CHUNK_DATA;
    return at + 2;
  }

  #readChunkSyntax(byte: number): void {
    switch (this.#state) {
      case CHUNK_SIZE:
        this.#readSize(byte);
        return;
      case CHUNK_SIZE_BLANK:
        this.#readBehindSize(byte);
        return;
      case CHUNK_EXTENSION:
        this.#extensionBytes += 1;
        if (byte === CR) this.#state = CHUNK_SIZE_LF;
        else if (!isFieldByte(byte) || this.#extensionBytes > MAX_EXTENSION_BYTES) throw invalidChunk();
        return;
      case CHUNK_SIZE_LF:
        if (byte !== LF) throw invalidChunk();
        // The last chunk is empty; behind it a trailer ends with an empty line.
        this.#state = this.#remaining === 0 ? TRAILER : CHUNK_DATA;
        this.#partial = "";
        return;
      case CHUNK_DATA_CR:
        if (byte !== CR) throw invalidChunk();
        this.#state = CHUNK_DATA_LF;
        return;
      default:
        if (byte !== LF) throw invalidChunk();
        this.#expectChunk();
    }
  }

  #readSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.#remaining = this.#remaining * 16 + digit;
      this.#sizeDigits += 1;
      if (this.#remaining > MAX_CHUNK_BYTES || this.#sizeDigits > 16) throw invalidChunk();
      return;
    }
    if (this.#sizeDigits === 0) throw invalidChunk();
    this.#readBehindSize(byte);
  }

  /** Blanks may stand there, but nothing else: `1 2` could be read as 0x12. */
  #readBehindSize(byte: number): void {
    if (byte === CR) {
      this.#state = CHUNK_SIZE_LF;
    } else if (byte === SEMICOLON) {
      this.#state = CHUNK_EXTENSION;
    } else if (byte === SPACE || byte === TAB) {
      this.#state = CHUNK_SIZE_BLANK;
      this.#extensionBytes += 1;
      if (this.#extensionBytes > MAX_EXTENSION_BYTES) throw invalidChunk();
    } else {
      throw invalidChunk();
    }
  }

  #expectChunk(): void {
    this.#state = CHUNK_SIZE;
    this.#remaining = 0;
    this.#sizeDigits = 0;
    this.#extensionBytes = 0;
  }

  /** @returns the index behind the trailer, or -1 while its end has not arrived */
  #readTrailer(bytes: Buffer, at: number, end: number): number {
    // Nearly always there is none: two bytes.
    if (this.#partial === "" && end - at >= 2 && bytes[at] === CR && bytes[at + 1] === LF) return at + 2;
    // As if behind a line, so that its fields are read as a head's are.
    const before = this.#partial === "" ? "\r\n" : this.#partial;
    const text = before + bytes.toString("latin1", at, end);
    const found = text.indexOf("\r\n\r\n");
    if (found < 0) {
      this.#partial = "";
      this.#keepPartial(text, 0);
      return -1;
    }
    if (found > MAX_HEAD_BYTES) throw new ProtocolError("head_too_large");
    if (!areFields(text.slice(0, found))) throw new ProtocolError("invalid_trailer");
    this.#partial = "";
    return at + found + HEAD_END.length - before.length;
  }

  #give(bytes: Buffer, start: number, end: number): void {
    if (end > start) this.#sink.onData(bytes, start, end);
  }

  #end(hasMore: boolean): void {
    this.stop();
    this.#sink.onEnd(this.#isLast || hasMore);
  }
}

const isFieldByte = (byte: number): boolean => byte === TAB || (byte >= SPACE && byte !== DELETE);

const invalidChunk = () => new ProtocolError("invalid_chunk");

/** The value of a hexadecimal digit, or -1. */
function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
