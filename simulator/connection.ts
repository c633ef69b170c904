/**
 * One client connection: requests in, replies out, one at a time, with keep-alive. Every started call is ended exactly
 * once, by its script or by the client's disconnect.
 */
import type { Socket } from "node:net";
import type { Clock } from "../src/base/clock.ts";
import { asWeirError } from "../src/base/errors.ts";
import { type CallLog, CallRecord } from "./calls.ts";
import { type Ending, Playback, type PlaybackEvents } from "./playback.ts";
import { type Provider, refusal } from "./provider.ts";
import { type HeadParser, type HttpRequest, RequestReader } from "./request.ts";
import { wholeScript } from "./script.ts";

/** What all connections of one simulator share. */
export interface Shared {
  readonly heads: HeadParser;
  readonly provider: Provider;
  readonly log: CallLog;
  readonly clock: Clock;
}

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

export class Connection implements PlaybackEvents {
  readonly #socket: Socket;
  readonly #shared: Shared;
  readonly #reader: RequestReader;
  #call: CallRecord | undefined;
  #playback: Playback | undefined;
  /** Guards {@link Connection.#readNext}: requests that arrived together are served in a loop, not by recursion. */
  #serving = false;
  /** The current request is the last one. */
  #last = false;

  constructor(socket: Socket, shared: Shared) {
    this.#socket = socket;
    this.#shared = shared;
    this.#reader = new RequestReader(shared.heads, () => socket.write(CONTINUE));
    socket.setNoDelay(true);
    socket.on("data", (bytes: Buffer) => {
      // Data after the last request is read and dropped, so that the client can finish sending.
      if (this.#last) return;
      this.#reader.push(bytes);
      this.#readNext();
    });
    socket.on("drain", () => this.#playback?.drained());
    socket.on("end", () => this.#gone());
    socket.on("close", () => this.#gone());
    // A reset by the client is a normal end; "close" follows.
    socket.on("error", () => this.#gone());
  }

  wrote(bytes: number): void {
    if (this.#call !== undefined) this.#call.bytesWritten += bytes;
  }

  finished(ending: Ending): void {
    const call = this.#call;
    this.#call = undefined;
    this.#playback = undefined;
    if (call !== undefined) this.#shared.log.end(call, false);
    if (ending !== "keep") this.#last = true;
    if (ending === "reset") this.#socket.resetAndDestroy();
    else if (this.#last) this.#socket.end();
    else this.#readNext();
  }

  /** Serves the requests that have arrived one after the other; called again when a delayed reply ends. */
  #readNext(): void {
    if (this.#serving) return;
    this.#serving = true;
    try {
      while (this.#playback === undefined && !this.#last) {
        const request = this.#reader.next();
        if (request === undefined) break;
        this.#serve(request);
      }
    } catch (thrown) {
      this.#refuse(thrown);
    }
    this.#serving = false;
  }

  #serve(request: HttpRequest): void {
    const shared = this.#shared;
    const call = new CallRecord(request.head, request.body, shared.clock.now());
    this.#call = call;
    this.#last = request.head.close;
    shared.log.add(call);
    this.#playback = new Playback(this.#socket, shared.provider.scriptFor(request), this);
    this.#playback.start();
  }

  /** Refuses bytes that are not HTTP: nothing after them can be trusted. */
  #refuse(thrown: unknown): void {
    this.#last = true;
    const script = wholeScript(refusal(asWeirError(thrown)), {});
    for (const step of script.steps) this.#socket.write(step.bytes);
    this.#socket.end();
  }

  #gone(): void {
    this.#playback?.cancel();
    this.#playback = undefined;
    const call = this.#call;
    this.#call = undefined;
    if (call === undefined) return;
    this.#shared.log.end(call, true);
    this.#socket.destroy();
  }
}
