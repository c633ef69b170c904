/**
 * The answer's socket over uWebSockets.js. Its rules live here and nowhere else: no method of `res` is called after an
 * abort (T11), every burst of writes is corked into one system call, backpressure is passed up. A client that is behind
 * gets every byte as long as it takes some now and then: uWebSockets.js itself would end the connection after 10 s.
 */

import type { HttpResponse } from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import type { ClientReply } from "../client-reply.ts";

/** Bodies beyond this are handed over as the client takes them; `end` would copy all that the socket does not take. */
const LARGE_BYTES = 256 * 1024;
/** A client that is behind is held this often, well within the 10 s after which its connection would be ended. */
const HOLD_MS = 4000;
/** A client that takes nothing for this many holds is cut off. */
const PATIENCE = 15;

/**
 * `drain`: the client is told that the connection ends, and what it still sends of this request is read and dropped, so that it
 * gets to read the answer. `close`: nothing more is read.
 */
export type Afterwards = "keep" | "drain" | "close";

const CLOSING = "connection: close\r\n";

/** How long a connection stays open between two requests, as uWebSockets.js has it: 10 s, less up to 2 by its clock's steps. */
const KEEP_ALIVE = "keep-alive: timeout=8";
/** Answers hold secrets, payloads or an org's data: no cache between us and the client may keep them. */
const PRIVATE = `cache-control: no-store\r\n${KEEP_ALIVE}`;

export class SocketReply implements ClientReply {
  gone = false;
  /** What happens to the connection after this answer. */
  afterwards: Afterwards = "keep";
  #over = false;
  readonly #res: HttpResponse;
  readonly #bodiless: boolean;
  readonly #isCrowded: () => boolean;
  #head: string | undefined;
  #filler = "";
  #onGone: (() => void) | undefined;
  #onDrain: (() => void) | undefined;
  /** Runs while the client is behind. */
  #holding: NodeJS.Timeout | undefined;
  #holds = 0;
  #watching = false;
  #common = PRIVATE;

  /**
   * Must be made in the route handler itself, before it returns.
   * @param bodiless the answer to a HEAD: a body after its headers would be read as the next answer.
   * @param isCrowded whether too many connections are open: a 503 then ends its own.
   */
  constructor(res: HttpResponse, bodiless: boolean, isCrowded: () => boolean) {
    this.#isCrowded = isCrowded;
    this.#res = res;
    this.#bodiless = bodiless;
    res.onAborted(() => {
      this.gone = true;
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
    if (this.closed) return;
    this.#over = true;
    if (this.afterwards === "keep") {
      this.#send(status, headers, body);
      return;
    }
    // uWebSockets.js closes the connection at a further request only while an answer is due: what came with this one is
    // parsed before the answer leaves.
    setImmediate(() => {
      if (!this.gone) this.#send(status, headers, body);
    });
  }

  #send(status: number, headers: string, body: Buffer | string): void {
    this.#res.cork(() => {
      const closes = this.afterwards === "close" || (status === 503 && this.#isCrowded());
      const hasNone = status === 204 || status === 304;
      const isBodiless = this.#bodiless || hasNone;
      // `endWithoutBody(length)` writes the length itself, and unless it closes the connection it waits for a body.
      const lengths =
        isBodiless && !closes && !hasNone ? `content-length: ${Buffer.byteLength(body)}\r\n` : "";
      this.#writeHead(status, headers + lengths + (this.afterwards === "drain" ? CLOSING : ""));
      if (isBodiless && closes) this.#res.endWithoutBody(Buffer.byteLength(body), true);
      else if (isBodiless) this.#res.endWithoutBody();
      else if (body.length > LARGE_BYTES && !closes)
        this.#sendLarge(typeof body === "string" ? Buffer.from(body) : body);
      else this.#res.end(body, closes);
    });
  }

  /** The answer is the same for everybody and holds no secret: caches may keep it as they think right. */
  isPublic(): void {
    this.#common = KEEP_ALIVE;
  }

  openStream(headers: string, filler: string): void {
    this.#head = this.afterwards === "keep" ? headers : headers + CLOSING;
    this.#filler = filler;
  }

  write(chunk: Buffer): boolean {
    if (this.closed) return true;
    let ok = true;
    this.#res.cork(() => {
      this.#writePendingHead();
      ok = this.#res.write(chunk);
    });
    if (!ok) this.#behind();
    return ok;
  }

  end(chunk?: Buffer): void {
    if (this.closed) return;
    this.#over = true;
    this.#res.cork(() => {
      this.#writePendingHead();
      // `end(chunk)` after `write` would set a length on a chunked answer: the last chunk goes out as the others.
      if (chunk !== undefined && chunk.length > 0 && !this.#res.write(chunk)) this.#behind();
      // Ended now, a client that is behind would be left to uWebSockets.js, which ends its connection after 10 s.
      if (this.#holding === undefined) this.#res.end();
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

  /** The socket did not take all of a write. */
  #behind(): void {
    this.#hold();
    if (this.#watching) return;
    this.#watching = true;
    this.#res.onWritable(() => {
      this.#holds = 0;
      // Once a handler is set, the socket's own buffer moves only with the next write: a comment line moves it on,
      // also when the upstream has nothing more to say for now.
      let drained = true;
      this.#res.cork(() => {
        drained = this.#res.write(this.#filler);
      });
      if (drained) {
        this.#caughtUp();
        if (this.#over) this.#res.end();
        else this.#onDrain?.();
      }
      return drained;
    });
  }

  #sendLarge(body: Buffer): void {
    if (this.#res.tryEnd(body, body.length)[1]) return;
    this.#hold();
    this.#res.onWritable((offset) => {
      this.#holds = 0;
      const [ok, done] = this.#res.tryEnd(body.subarray(offset), body.length);
      if (done) this.#caughtUp();
      return ok;
    });
  }

  #hold(): void {
    this.#holding ??= setInterval(() => {
      if (++this.#holds >= PATIENCE) {
        this.#res.close();
        return;
      }
      // Both set the connection's timeout anew and change nothing else.
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

  /**
   * All headers in one call of `writeHeader`, which writes name and value as they are and ends the line: each call into
   * the binding costs more than the header.
   */
  #writeHead(status: number, headers: string): void {
    const colon = headers.indexOf(": ");
    this.#res
      .writeStatus(statusLine(status))
      .writeHeader(headers.slice(0, colon), `${headers.slice(colon + 2)}${this.#common}`);
  }
}

const lines = new Map<number, string>();

function statusLine(status: number): string {
  let line = lines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
    lines.set(status, line);
  }
  return line;
}
