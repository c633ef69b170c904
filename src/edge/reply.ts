/**
 * The answer's socket over uWebSockets.js. Its rules live here and nowhere else: no method of `res` is called after an
 * abort (T11), every burst of writes is corked into one system call, backpressure is passed up.
 */

import type { HttpResponse } from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import type { ClientReply } from "../exchange/call.ts";
import { KEEP_ALIVE } from "../wire/sse.ts";

export class SocketReply implements ClientReply {
  gone = false;
  #over = false;
  readonly #res: HttpResponse;
  #head: readonly string[] | undefined;
  #onGone: (() => void)[] = [];
  #onDrain: (() => void) | undefined;

  /** Must be made in the route handler itself, before it returns. */
  constructor(res: HttpResponse) {
    this.#res = res;
    res.onAborted(() => {
      this.gone = true;
      this.#onDrain = undefined;
      for (const tell of this.#onGone.splice(0)) tell();
    });
  }

  /** True when nothing may be written any more. */
  get closed(): boolean {
    return this.gone || this.#over;
  }

  send(status: number, headers: readonly string[], body: Buffer | string): void {
    if (this.closed) return;
    this.#over = true;
    this.#res.cork(() => {
      this.#writeHead(status, headers);
      if (status === 204) this.#res.endWithoutBody();
      else this.#res.end(body);
    });
  }

  openStream(headers: readonly string[]): void {
    this.#head = headers;
  }

  write(chunk: Buffer): boolean {
    if (this.closed) return true;
    let ok = true;
    this.#res.cork(() => {
      this.#writePendingHead();
      ok = this.#res.write(chunk);
    });
    return ok;
  }

  end(chunk?: Buffer): void {
    if (this.closed) return;
    this.#over = true;
    this.#res.cork(() => {
      this.#writePendingHead();
      // `end(chunk)` after `write` would set a length on a chunked answer: the last chunk goes out as the others.
      if (chunk !== undefined && chunk.length > 0) this.#res.write(chunk);
      this.#res.end();
    });
  }

  abort(): void {
    if (!this.closed) this.#res.close();
  }

  onDrain(resume: () => void): void {
    if (this.closed) return;
    const registered = this.#onDrain !== undefined;
    this.#onDrain = resume;
    if (registered) return;
    this.#res.onWritable(() => {
      // Once a handler is set, the socket's own buffer moves only with the next write: a comment line moves it on,
      // also when the upstream has nothing more to say for now.
      let drained = true;
      this.#res.cork(() => {
        drained = this.#res.write(KEEP_ALIVE);
      });
      if (drained) this.#onDrain?.();
      return drained;
    });
  }

  onGone(gone: () => void): void {
    if (this.gone) gone();
    else this.#onGone.push(gone);
  }

  #writePendingHead(): void {
    if (this.#head === undefined) return;
    const head = this.#head;
    this.#head = undefined;
    this.#writeHead(200, head);
  }

  /**
   * All headers in one call of `writeHeader`, which writes name and value as they are: each call into the binding costs
   * more than the header. No value may hold a line break; only `content-type` and names of ours come from elsewhere.
   */
  #writeHead(status: number, headers: readonly string[]): void {
    let block = headers[1] ?? "";
    for (let i = 2; i + 1 < headers.length; i += 2) block += `\r\n${headers[i]}: ${headers[i + 1]}`;
    this.#res.writeStatus(statusLine(status)).writeHeader(headers[0] ?? "", block);
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
