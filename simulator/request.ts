/**
 * Parses HTTP/1.1 requests from a socket's bytes, however they are split: heads, sized and chunked bodies. Hand-written
 * because the replies need byte-exact control of the same socket, and so that a repeated head (a client on a keep-alive
 * connection sends the same one thousands of times) is parsed once.
 */
import { fail } from "../src/base/errors.ts";

export interface RequestHead {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** Names in lower case; a repeated header's values are joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly contentLength: number;
  readonly chunked: boolean;
  readonly expectsContinue: boolean;
  /** The client asked for the connection to be closed after the reply. */
  readonly close: boolean;
}

export interface HttpRequest {
  readonly head: RequestHead;
  readonly body: Buffer;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");
const EMPTY = Buffer.alloc(0);
const MAX_HEAD_BYTES = 65_536;
const MAX_BODY_BYTES = 134_217_728;
const MAX_KNOWN_HEADS = 1_000;

/** Cache shared by all connections: head text to its parsed form. */
export class HeadParser {
  readonly #known = new Map<string, RequestHead>();

  /** @throws WeirError `invalid_value` on a head that is not HTTP/1.1 */
  parse(text: string): RequestHead {
    let head = this.#known.get(text);
    if (head === undefined) {
      head = parseHead(text);
      if (this.#known.size >= MAX_KNOWN_HEADS) this.#known.clear();
      this.#known.set(text, head);
    }
    return head;
  }
}

function parseHead(text: string): RequestHead {
  const lines = text.split("\r\n");
  const [method, target, version] = (lines[0] ?? "").split(" ");
  if (!method || !target || version !== "HTTP/1.1") {
    throw fail("invalid_value", "The simulator speaks HTTP/1.1 only.", {
      status: version?.startsWith("HTTP/") ? 505 : 400,
    });
  }
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(":");
    if (colon < 1) throw fail("invalid_value", "A header line has no name.");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const length = headers["content-length"] ?? "0";
  if (!/^\d{1,15}$/.test(length)) throw fail("invalid_value", "Content-Length is not a number.");
  return Object.freeze({
    method,
    target,
    headers: Object.freeze(headers),
    contentLength: Number(length),
    chunked: /\bchunked\b/i.test(headers["transfer-encoding"] ?? ""),
    expectsContinue: /^100-continue$/i.test(headers.expect ?? ""),
    close: /\bclose\b/i.test(headers.connection ?? ""),
  });
}

type State = "head" | "data" | "chunk_size" | "chunk_end" | "trailer";

export class RequestReader {
  readonly #heads: HeadParser;
  readonly #sendContinue: () => void;
  #state: State = "head";
  #pending: Buffer = EMPTY;
  #head: RequestHead | undefined;
  #parts: Buffer[] = [];
  #bodyBytes = 0;
  /** Missing bytes of the body, or of its current chunk. */
  #left = 0;

  constructor(heads: HeadParser, sendContinue: () => void) {
    this.#heads = heads;
    this.#sendContinue = sendContinue;
  }

  push(bytes: Buffer): void {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
  }

  /**
   * The next complete request, or undefined until more bytes arrive.
   * @throws WeirError on bytes that are not HTTP; the connection is then unusable
   */
  next(): HttpRequest | undefined {
    for (;;) {
      switch (this.#state) {
        case "head":
          if (!this.#readHead()) return undefined;
          break;
        case "data":
          if (!this.#readData()) return undefined;
          if (this.#head?.chunked !== true) return this.#take();
          this.#state = "chunk_end";
          break;
        case "chunk_size": {
          const line = this.#readLine();
          if (line === undefined) return undefined;
          this.#startChunk(line);
          break;
        }
        case "chunk_end":
          if (this.#readLine() === undefined) return undefined;
          this.#state = "chunk_size";
          break;
        case "trailer": {
          const line = this.#readLine();
          if (line === undefined) return undefined;
          if (line === "") return this.#take();
          break;
        }
      }
    }
  }

  #readHead(): boolean {
    const end = this.#pending.indexOf(HEAD_END);
    if (end < 0) {
      if (this.#pending.length > MAX_HEAD_BYTES)
        throw fail("invalid_value", "The head is too large.", { status: 431 });
      return false;
    }
    const head = this.#heads.parse(this.#pending.toString("latin1", 0, end));
    this.#pending = this.#pending.subarray(end + HEAD_END.length);
    this.#head = head;
    this.#left = head.contentLength;
    this.#state = head.chunked ? "chunk_size" : "data";
    this.#boundBody(head.contentLength);
    if (head.expectsContinue && this.#pending.length === 0) this.#sendContinue();
    return true;
  }

  #readData(): boolean {
    const taken = Math.min(this.#left, this.#pending.length);
    if (taken > 0) {
      this.#parts.push(this.#pending.subarray(0, taken));
      this.#pending = this.#pending.subarray(taken);
      this.#left -= taken;
      this.#bodyBytes += taken;
    }
    return this.#left === 0;
  }

  #startChunk(line: string): void {
    const size = /^[0-9a-f]{1,8}(?=$|;|\s)/i.exec(line)?.[0];
    if (size === undefined) throw fail("invalid_value", "A chunk size is not a hexadecimal number.");
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? "trailer" : "data";
    this.#boundBody(this.#bodyBytes + this.#left);
  }

  #boundBody(bytes: number): void {
    if (bytes > MAX_BODY_BYTES) throw fail("payload_too_large", "The body is larger than 128 MB.");
  }

  #readLine(): string | undefined {
    const end = this.#pending.indexOf(LINE_END);
    if (end < 0) {
      if (this.#pending.length > MAX_HEAD_BYTES) throw fail("invalid_value", "A chunk line is too long.");
      return undefined;
    }
    const line = this.#pending.toString("latin1", 0, end);
    this.#pending = this.#pending.subarray(end + LINE_END.length);
    return line;
  }

  #take(): HttpRequest {
    const body = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
    const request = { head: this.#head as RequestHead, body };
    this.#state = "head";
    this.#head = undefined;
    this.#parts = [];
    this.#bodyBytes = 0;
    return request;
  }
}
