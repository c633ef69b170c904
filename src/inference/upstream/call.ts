/**
 * One call to a provider: turns the events of its connection into those of the exchange; either side can end it. After
 * `cancel` the handler receives nothing more, whatever still arrives.
 */
import { failure, networkFailure, type UpstreamFailure } from "./failure.ts";
import type { AnswerHeaders } from "./http/answer-head.ts";
import type { AnswerHandler, OpenConnection } from "./http/connection.ts";

/** Events of a call, in this order: `onHead` once, `onData` any number of times, then one of `onEnd` and `onFailure`. */
export interface UpstreamHandler {
  onHead(status: number, headers: AnswerHeaders): void;
  /** The next read overwrites the chunk's memory: a handler copies what it keeps. */
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

const ENCODED = { code: "content_encoding", type: "", message: "" };

/** A call as its connection's handler and as its caller's handle; it may be cancelled before it has started. */
export class DispatchedCall implements AnswerHandler, UpstreamCall {
  readonly #handler: UpstreamHandler;
  /** Defined while the request is sent and its answer has not ended: it may carry another call's after that. */
  #connection: OpenConnection | undefined;
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
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.abort();
  }

  pause(): void {
    this.#connection?.pause();
  }

  resume(): void {
    this.#connection?.resume();
  }

  /** The request could not be sent. */
  fail(failed: UpstreamFailure): void {
    if (this.#over) return;
    this.#over = true;
    this.#connection = undefined;
    this.#handler.onFailure(failed);
  }

  onSent(connection: OpenConnection): void {
    this.#connection = connection;
  }

  onHead(status: number, headers: AnswerHeaders): void {
    this.#status = status;
    if (status < 300 && (headers["content-encoding"] ?? "identity") !== "identity") {
      this.#connection?.abort();
      this.fail(failure("invalid_response", "protocol", status, ENCODED));
      return;
    }
    this.#handler.onHead(status, headers);
  }

  onData(chunk: Buffer): void {
    this.#handler.onData(chunk);
  }

  onEnd(): void {
    this.#connection = undefined;
    if (this.#over) return;
    this.#over = true;
    this.#handler.onEnd();
  }

  onError(error: unknown): void {
    this.fail(networkFailure(error, this.#status));
  }
}
