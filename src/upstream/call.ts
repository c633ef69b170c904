/**
 * One call to a provider: undici's events as the exchange wants them, and the end that either side may put to it. After
 * `cancel` no method of the handler is called, whatever still arrives.
 */
import type { Dispatcher } from "undici";
import { failure, networkFailure, type UpstreamFailure } from "./failure.ts";

export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Called in this order: `onHead` once, `onData` any number of times, then one of `onEnd` and `onFailure`. */
export interface UpstreamHandler {
  onHead(status: number, headers: UpstreamHeaders): void;
  /** Valid beyond the call; not to be written to. */
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** Not called after `cancel`. */
  onFailure(failure: UpstreamFailure): void;
}

export interface UpstreamCall {
  /** Closes the connection at once. */
  cancel(): void;
  pause(): void;
  resume(): void;
}

const CANCELLED = new Error("cancelled");
const ENCODED = { code: "content_encoding", type: "", message: "" };

/** A call under way, as undici tells of it and as its caller may end it; also before it has started. */
export class Call implements Dispatcher.DispatchHandler, UpstreamCall {
  readonly #handler: UpstreamHandler;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #over = false;

  constructor(handler: UpstreamHandler) {
    this.#handler = handler;
  }

  /** Ended or cancelled: what has not been sent need not be. */
  get over(): boolean {
    return this.#over;
  }

  cancel(): void {
    if (this.#over) return;
    this.#over = true;
    this.#controller?.abort(CANCELLED);
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  /** It could not even be sent. */
  fail(failed: UpstreamFailure): void {
    if (this.#over) return;
    this.#over = true;
    this.#handler.onFailure(failed);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Cancelled while it waited for a connection.
    if (this.#over) controller.abort(CANCELLED);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: UpstreamHeaders): void {
    // Slices of the first read: they would keep its 64 KB alive as long as the call lasts.
    controller.rawHeaders = null;
    // 1xx answers precede the real one.
    if (this.#over || status < 200) return;
    this.#status = status;
    if (status < 300 && (headers["content-encoding"] ?? "identity") !== "identity") {
      this.fail(failure("invalid_response", "protocol", status, ENCODED));
      controller.abort(CANCELLED);
      return;
    }
    this.#handler.onHead(status, headers);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#over) this.#handler.onData(chunk);
  }

  onResponseEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#handler.onEnd();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(networkFailure(error, this.#status));
  }
}
