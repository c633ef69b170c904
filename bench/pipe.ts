/**
 * The bare pipe that every target is compared with: uWebSockets.js in front, undici behind, nothing between. No keys,
 * no parsing, no records. Simple but not handicapped: all writes are corked, and an answer of known length is sent with
 * `tryEnd`. One uWS write per data callback of undici. Usage: node bench/pipe.ts --port N --upstream http://127.0.0.1:M
 */

import { App, type HttpRequest, type HttpResponse } from "uWebSockets.js";
import { parseArgs } from "node:util";
import { type Dispatcher, Pool } from "undici";

const { values } = parseArgs({ options: { port: { type: "string" }, upstream: { type: "string" } } });
if (values.port === undefined || values.upstream === undefined)
  throw new Error("--port and --upstream are required");
const pool = new Pool(values.upstream);

const HOP_BY_HOP = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "keep-alive",
  "expect",
]);

/** One call: its client socket, and the head of the answer as far as it has arrived. */
class PipedCall implements Dispatcher.DispatchHandler {
  readonly #res: HttpResponse;
  #upstream: Dispatcher.DispatchController | undefined;
  #gone = false;
  #status = "";
  #headers: readonly (readonly [string, string])[] = [];
  #length = -1;
  #headSent = false;

  constructor(res: HttpResponse) {
    this.#res = res;
    res.onAborted(() => {
      this.#gone = true;
      this.#upstream?.abort(new Error("the client is gone"));
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#upstream = controller;
    if (this.#gone) controller.abort(new Error("the client is gone"));
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = String(status);
    this.#length = headers["content-length"] === undefined ? -1 : Number(headers["content-length"]);
    this.#headers = Object.entries(headers)
      .filter(([name]) => !HOP_BY_HOP.has(name))
      .map(([name, value]) => [name, String(value)]);
    // A stream's head is sent at once; a body of known length follows immediately.
    if (this.#length <= 0 && !this.#gone) this.#res.cork(() => this.#sendHead());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#gone) return;
    const res = this.#res;
    res.cork(() => {
      this.#sendHead();
      const from = res.getWriteOffset();
      const ok = this.#length > 0 ? res.tryEnd(chunk, this.#length)[0] : res.write(chunk);
      if (ok) return;
      controller.pause();
      res.onWritable((offset) => this.#resume(controller, chunk, from, offset));
    });
  }

  onResponseEnd(): void {
    if (this.#gone || this.#length > 0) return;
    this.#res.cork(() => this.#res.end());
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#gone) return;
    this.#gone = true;
    if (this.#headSent) this.#res.close();
    else this.#res.cork(() => this.#res.writeStatus("502").end(error.message));
  }

  #sendHead(): void {
    if (this.#headSent) return;
    this.#headSent = true;
    this.#res.writeStatus(this.#status);
    for (const [name, value] of this.#headers) this.#res.writeHeader(name, value);
  }

  /** `write` buffers what it could not send; `tryEnd` does not, and needs the rest again. */
  #resume(controller: Dispatcher.DispatchController, chunk: Buffer, from: number, offset: number): boolean {
    if (this.#length > 0) {
      const [ok] = this.#res.tryEnd(chunk.subarray(offset - from), this.#length);
      if (!ok) return false;
    }
    controller.resume();
    return true;
  }
}

function forward(res: HttpResponse, req: HttpRequest): void {
  const path = req.getUrl();
  const headers: string[] = [];
  req.forEach((name, value) => {
    if (!HOP_BY_HOP.has(name)) headers.push(name, value);
  });
  const call = new PipedCall(res);
  const parts: Buffer[] = [];
  res.onData((part, last) => {
    // uWS reuses its memory after the callback.
    parts.push(Buffer.from(Buffer.from(part)));
    if (last) pool.dispatch({ method: "POST", path, headers, body: Buffer.concat(parts) }, call);
  });
}

App()
  .get("/healthz", (res) => {
    res.end("ok");
  })
  .post("/*", forward)
  .listen("127.0.0.1", Number(values.port), (socket) => {
    if (!socket) throw new Error(`port ${values.port} is taken`);
  });
process.on("disconnect", () => process.exit(0));
