/**
 * The response over uWebSockets.js. Only this file handles its rules: no method of `res` is called after an abort
 * (T11), every burst of writes is corked into one system call, backpressure is passed up. A slow client gets every byte
 * as long as it keeps reading some: uWebSockets.js itself would close the connection after 10 s.
 */

import type { HttpResponse } from "uWebSockets.js";
import { STATUS_CODES } from "../base/network/node-http.ts";
import type { ClientReply } from "../inference/client-reply.ts";
import { JSON_TYPE, STREAM_TYPE } from "../inference/exchange/headers.ts";
import type { OpenRequests } from "./open-requests.ts";
import type { SecurityHeaders } from "./security-headers.ts";

/**
 * Larger bodies are written as the client reads them, so that it is known when the system has all of an answer: `end` copies what the
 * socket does not accept, and does not say so. Smaller ones leave with their head in one write of uWebSockets.js (its cork buffer),
 * which the system does not accept only where the client has not read its earlier answers.
 */
const LARGE_BYTES = 16 * 1024;
/** The most bytes of a UTF-16 unit in UTF-8. */
const BYTES_PER_UNIT = 3;
/** How often a slow client's timeout is renewed, well within the 10 s of uWebSockets.js. */
const HOLD_MS = 4000;
/** A client that reads nothing for this many renewals is disconnected. */
const PATIENCE = 15;

/**
 * `drain`: the client is told that the connection closes, and the rest of its request is read and dropped, so that it
 * can read the answer. `close`: nothing more is read.
 */
export type Afterwards = "keep" | "drain" | "close";

const NOTHING = Buffer.alloc(0);

const CLOSING = "connection: close\r\n";

/** How long uWebSockets.js keeps an idle connection: 10 s, minus up to 2 s of timer granularity. */
const KEEP_ALIVE = "keep-alive: timeout=8";
/** Answers contain secrets, payloads or an org's data: no cache may store them. */
const NOT_STORED = "cache-control: no-store\r\n";
const PRIVATE = `${NOT_STORED}${KEEP_ALIVE}`;
/** The rest of the line of the type. */
const JSON_VALUE = JSON_TYPE.slice("content-type: ".length);
/** How the headers of model calls, and of all that says nothing more of itself than its type, begin. */
const JSON_FIRST = `${JSON_TYPE}x-svc-request-id`;
const EVENTS_FIRST = `${STREAM_TYPE}x-svc-request-id`;

export class SocketReply implements ClientReply {
  gone = false;
  /** What to do with the connection after this answer. */
  afterwards: Afterwards = "keep";
  /** Path and query that a person opened in a browser: an error is a page. Empty: a program asks. */
  openedAt = "";
  /** The answer to a HEAD, where only `send` may be called: a body would be read as the next answer. */
  readonly isBodiless: boolean;
  #over = false;
  readonly #res: HttpResponse;
  readonly #isCrowded: () => boolean;
  readonly #security: SecurityHeaders;
  readonly #requests: OpenRequests | undefined;
  #head: string | undefined;
  #filler = "";
  #onGone: (() => void) | undefined;
  #onDrain: (() => void) | undefined;
  /** Timer that runs while the client is slow. */
  #holding: NodeJS.Timeout | undefined;
  #holds = 0;
  #watching = false;
  /** The answer is whole, and a part of it is not yet with the socket library. */
  #isSending = false;
  /** See `hasNoEnd`. */
  #isEndless = false;
  /** Writes `#chunk`, and says whether the socket accepted all of it. One for all writes of a stream, which has thousands of them. */
  #writing: (() => void) | undefined;
  #chunk: Buffer = NOTHING;
  #isTaken = true;
  #common = PRIVATE;

  /**
   * Must be constructed in the route handler itself, before it returns.
   * @param isBodiless the answer to a HEAD
   * @param isCrowded whether too many connections are open: a 503 then closes its own.
   * @param security what every answer says to browsers
   * @param requests hears of the end of this one, and until when its answer is sent
   */
  constructor(
    res: HttpResponse,
    isBodiless: boolean,
    isCrowded: () => boolean,
    security: SecurityHeaders,
    requests?: OpenRequests,
  ) {
    this.#isCrowded = isCrowded;
    this.#security = security;
    this.#requests = requests;
    this.#res = res;
    this.isBodiless = isBodiless;
    res.onAborted(() => {
      if (!this.closed && !this.#isEndless) this.#requests?.requestEnded();
      this.gone = true;
      this.#sends(false);
      this.#onDrain = undefined;
      this.#caughtUp();
      this.#onGone?.();
    });
  }

  /** True when nothing may be written any more. */
  get closed(): boolean {
    return this.gone || this.#over;
  }

  send(status: number, headers: string, body: Buffer | string): void {
    this.#answer(status, headers, body, false);
  }

  sendJson(status: number, headers: string, body: Buffer | string): void {
    this.#answer(status, headers, body, true);
  }

  /** @param isJson the headers are without the type, which is that of JSON */
  #answer(status: number, headers: string, body: Buffer | string, isJson: boolean): void {
    if (this.closed) return;
    this.#isOver();
    if (this.afterwards === "keep") {
      this.#send(status, headers, body, isJson);
      return;
    }
    // uWebSockets.js closes the connection on a further request only while an answer is pending: a request in the same
    // packet is parsed before the answer is sent.
    this.#sends(true);
    setImmediate(() => {
      if (this.gone) return;
      this.#send(status, headers, body, isJson);
      if (this.#holding === undefined) this.#sends(false);
    });
  }

  #isOver(): void {
    this.#over = true;
    if (!this.#isEndless) this.#requests?.requestEnded();
  }

  #sends(isSending: boolean): void {
    if (this.#isSending === isSending) return;
    this.#isSending = isSending;
    this.#requests?.sending(isSending ? 1 : -1);
  }

  #send(status: number, headers: string, body: Buffer | string, isJson: boolean): void {
    this.#res.cork(() => {
      const closes = this.afterwards === "close" || (status === 503 && this.#isCrowded());
      const hasNone = status === 204 || status === 304;
      const isEmpty = this.isBodiless || hasNone;
      // `endWithoutBody(length)` writes the length itself, and unless it closes the connection it waits for a body.
      const lengths = isEmpty && !closes && !hasNone ? `content-length: ${Buffer.byteLength(body)}\r\n` : "";
      const large = isEmpty ? undefined : largeBody(body);
      // `end` and `endWithoutBody` write the line themselves where they close.
      const isTold = this.afterwards === "drain" || (closes && large !== undefined);
      const lines = headers + lengths + (isTold ? CLOSING : "");
      if (isJson) this.#writeJsonHead(status, lines);
      else this.#writeHead(status, lines, body);
      if (isEmpty && closes) this.#res.endWithoutBody(Buffer.byteLength(body), true);
      else if (isEmpty) this.#res.endWithoutBody();
      else if (large !== undefined) this.#sendLarge(large, closes);
      else this.#res.end(body, closes);
    });
  }

  /** The answer goes on until its client leaves, as a live tail does: a server that stops does not wait for it. Called once. */
  hasNoEnd(): void {
    if (this.closed) return;
    this.#isEndless = true;
    this.#requests?.requestEnded();
  }

  /** The answer is the same for everybody and contains no secret: caches may store it. */
  isPublic(): void {
    this.#common = this.#common.replace(NOT_STORED, "");
  }

  /** @param lines further headers of the answer, each with its line end; called once, before the answer begins */
  carries(lines: string): void {
    this.#common = lines + this.#common;
  }

  openStream(headers: string, filler: string): void {
    this.#head = this.afterwards === "keep" ? headers : headers + CLOSING;
    this.#filler = filler;
  }

  write(chunk: Buffer): boolean {
    if (this.closed) return true;
    this.#chunk = chunk;
    this.#writing ??= () => {
      this.#writePendingHead();
      this.#isTaken = this.#res.write(this.#chunk);
    };
    this.#res.cork(this.#writing);
    this.#chunk = NOTHING;
    if (!this.#isTaken) this.#behind();
    return this.#isTaken;
  }

  end(chunk?: Buffer): void {
    if (this.closed) return;
    this.#isOver();
    this.#res.cork(() => {
      this.#writePendingHead();
      // `end(chunk)` after `write` would add a length to a chunked answer, so the last chunk is written like the
      // others.
      if (chunk !== undefined && chunk.length > 0 && !this.#res.write(chunk)) this.#behind();
      // If the answer ended now, uWebSockets.js would disconnect a slow client after 10 s.
      if (this.#holding === undefined) this.#res.end();
      else this.#sends(true);
    });
  }

  abort(): void {
    if (!this.closed) this.#res.close();
  }

  onDrain(resume: () => void): void {
    this.#onDrain = resume;
  }

  onGone(gone: () => void): void {
    if (this.gone) gone();
    else this.#onGone = gone;
  }

  /** The socket accepted only part of a write. */
  #behind(): void {
    this.#hold();
    if (this.#watching) return;
    this.#watching = true;
    this.#res.onWritable(() => {
      this.#holds = 0;
      // With a drain handler, the socket's buffer moves only with the next write: a comment line triggers it even when
      // the upstream sends nothing for now.
      let drained = true;
      this.#res.cork(() => {
        drained = this.#res.write(this.#filler);
      });
      if (drained) {
        this.#caughtUp();
        if (this.#over) {
          this.#res.end();
          this.#sends(false);
        } else this.#onDrain?.();
      }
      return drained;
    });
  }

  #sendLarge(body: Buffer, closes: boolean): void {
    if (closes ? this.#isTakenToClose(body, 0) : this.#res.tryEnd(body, body.length)[1]) return;
    this.#sends(true);
    this.#hold();
    this.#res.onWritable((offset) => {
      this.#holds = 0;
      if (closes) return this.#isTakenToClose(body, offset);
      const [ok, done] = this.#res.tryEnd(body.subarray(offset), body.length);
      if (done) {
        this.#caughtUp();
        this.#sends(false);
      }
      return ok;
    });
  }

  /**
   * Writes a body behind which the connection is closed, and says whether the system has all of it. `tryEnd` cannot close, and nothing
   * can be done with a response that has ended: so it is told of one byte more than there is, and the response stays open until it is
   * closed with its connection.
   */
  #isTakenToClose(body: Buffer, offset: number): boolean {
    const last = body.length - 1;
    // The first call writes the length into the head.
    if (offset === 0 && !this.#res.tryEnd(body.subarray(0, last), body.length)[0]) return false;
    if (!this.#res.tryEnd(body.subarray(offset === 0 ? last : offset), body.length + 1)[0]) return false;
    this.#caughtUp();
    this.#sends(false);
    // The client is not gone: it has its answer.
    this.#onGone = undefined;
    // uWebSockets.js still works with the response when it returns from here.
    setImmediate(() => {
      if (!this.gone) this.#res.close();
    });
    return true;
  }

  #hold(): void {
    this.#holding ??= setInterval(() => {
      if (++this.#holds >= PATIENCE) {
        this.#res.close();
        return;
      }
      // Both renew the connection's timeout and change nothing else.
      this.#res.pause();
      this.#res.resume();
    }, HOLD_MS).unref();
  }

  #caughtUp(): void {
    clearInterval(this.#holding);
    this.#holding = undefined;
    this.#holds = 0;
  }

  #writePendingHead(): void {
    if (this.#head === undefined) return;
    const head = this.#head;
    this.#head = undefined;
    this.#writeHead(200, head);
  }

  /** As `#writeHead`. To look into text that was joined of many parts has V8 copy it. */
  #writeJsonHead(status: number, lines: string): void {
    this.#res
      .writeStatus(statusLine(status))
      .writeHeader("content-type", `${JSON_VALUE}${lines}${this.#security.plain}${this.#common}`);
  }

  /**
   * Writes all headers in one call of `writeHeader`, which writes name and value unchanged and ends the line: each call
   * into the binding costs more than the header.
   */
  #writeHead(status: number, headers: string, body?: Buffer | string): void {
    // Not `startsWith`, which compares character by character.
    const isPlain = first(headers, JSON_FIRST) || first(headers, EVENTS_FIRST);
    const security = isPlain ? this.#security.plain : this.#security.of(headers, body);
    const colon = headers.indexOf(": ");
    this.#res
      .writeStatus(statusLine(status))
      .writeHeader(headers.slice(0, colon), `${headers.slice(colon + 2)}${security}${this.#common}`);
  }
}

/** The bytes of a body that is large; undefined: it is small. */
function largeBody(body: Buffer | string): Buffer | undefined {
  if (typeof body === "string" && body.length * BYTES_PER_UNIT <= LARGE_BYTES) return undefined;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  return bytes.length > LARGE_BYTES ? bytes : undefined;
}

const first = (headers: string, start: string): boolean => headers.slice(0, start.length) === start;

const lines = new Map<number, string>();

function statusLine(status: number): string {
  let line = lines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
    lines.set(status, line);
  }
  return line;
}
