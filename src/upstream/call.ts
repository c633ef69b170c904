/**
 * One call to a provider: turns undici's events into those of the exchange; either side can end it. After `cancel` the
 * handler receives nothing more, whatever still arrives.
 */
import type { Dispatcher } from "undici";
import { failure, networkFailure, type UpstreamFailure } from "./failure.ts";

export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Events of a call, in this order: `onHead` once, `onData` any number of times, then one of `onEnd` and `onFailure`. */
export interface UpstreamHandler {
  onHead(status: number, headers: UpstreamHeaders): void;
  /** The chunk stays valid after the call; it must not be modified. */
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

/** A call as undici's handler and as its caller's handle; it may be cancelled before it has started. */
export class DispatchedCall implements Dispatcher.DispatchHandler, UpstreamCall {
  readonly #handler: UpstreamHandler;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #over = false;

  constructor(handler: UpstreamHandler) {
    this.#handler = handler;
  }

  /** Ended or cancelled: unsent data need not be sent. */
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

  /** The request could not be sent. */
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
    // These slices would keep the 64 KB of the first read alive for the duration of the call.
    controller.rawHeaders = null;
    // 1xx responses precede the final one.
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
