/**
 * One call to a provider: turns the events of its connection into those of the exchange; either side can end it. After
 * `cancel` the handler receives nothing more, whatever still arrives.
 */
import { codingsOf, mayBeCoded, UNNAMED } from "./content-coding.ts";
import { Decoding } from "./decoding.ts";
import { failure, networkFailure, type UpstreamFailure } from "./failure.ts";
import type { AnswerHeaders } from "./http/answer-head.ts";
import type { AnswerHandler, OpenConnection } from "./http/connection.ts";

/**
 * Events of a call, in this order: `onHead` once, `onData` any number of times, then one of `onEnd` and `onFailure`. `onReadOver` comes
 * behind the data of a read.
 */
export interface UpstreamHandler {
  onHead(status: number, headers: AnswerHeaders): void;
  /**
   * Content: `bytes` from `start` up to `end`, in one piece or several for a read. The next read overwrites the memory: a handler copies
   * what it keeps longer than the current turn.
   */
  onData(bytes: Buffer, start: number, end: number): void;
  /** All data were told that have arrived by now. Not called where the end follows them at once. */
  onReadOver?(): void;
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

/** Some servers compress what another one has compressed, and name one coding, or none. */
const ALL_UNNAMED: readonly string[] = [UNNAMED, UNNAMED];
const READ_OVER = Promise.resolve();
const ENCODED = { code: "content_encoding", type: "", message: "" };

/** A call as its connection's handler and as its caller's handle; it may be cancelled before it has started. */
export class DispatchedCall implements AnswerHandler, UpstreamCall {
  readonly #handler: UpstreamHandler;
  /** Defined while the request is sent and its answer has not ended: it may carry another call's after that. */
  #connection: OpenConnection | undefined;
  #status = 0;
  #over = false;
  /** The content is told as it comes. */
  #isPlain = false;
  /** Defined if the content is coded, or may be. */
  #decoding: Decoding | undefined;
  /** Told behind what was still being decoded when the connection broke. */
  #broken: UpstreamFailure | undefined;

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
    this.#decoding?.stop();
    connection?.abort();
  }

  pause(): void {
    if (this.#decoding === undefined) this.#connection?.pause();
    else this.#decoding.pause();
  }

  resume(): void {
    if (this.#decoding === undefined) this.#connection?.resume();
    else this.#decoding.resume();
  }

  /** The request could not be sent. */
  fail(failed: UpstreamFailure): void {
    if (this.#over) return;
    this.#over = true;
    this.#connection = undefined;
    this.#decoding?.stop();
    this.#handler.onFailure(failed);
  }

  onSent(connection: OpenConnection): void {
    this.#connection = connection;
  }

  onHead(status: number, headers: AnswerHeaders): void {
    this.#status = status;
    const coding = headers["content-encoding"];
    if (coding !== undefined) {
      const codings = codingsOf(coding);
      if (codings.length > 0) this.#decode([UNNAMED, ...codings]);
    }
    this.#handler.onHead(status, headers);
  }

  onData(bytes: Buffer, start: number, end: number): void {
    if (this.#isPlain) this.#handler.onData(bytes, start, end);
    else this.#look(bytes, start, end);
  }

  onReadOver(): void {
    if (this.#isPlain) this.#handler.onReadOver?.();
    else this.#decoding?.decode();
  }

  onEnd(): void {
    this.#connection = undefined;
    // What is left to decode is told first.
    if (this.#decoding === undefined) this.#ended();
    else this.#decoding.end();
  }

  onError(error: unknown): void {
    if (this.#isRefusal && !this.#over) {
      // What matters of it came with its head.
      this.onEnd();
      return;
    }
    const failed = networkFailure(error, this.#status);
    this.#connection = undefined;
    if (this.#decoding === undefined || this.#over) this.fail(failed);
    else {
      this.#broken = failed;
      this.#decoding.end();
    }
  }

  /** The first data: nearly all content says by its first byte that it is not coded. */
  #look(bytes: Buffer, start: number, end: number): void {
    if (this.#decoding === undefined) {
      if (!mayBeCoded(bytes[start] as number)) {
        this.#isPlain = true;
        this.#handler.onData(bytes, start, end);
        return;
      }
      this.#decode(ALL_UNNAMED);
    }
    this.#decoding?.push(bytes.subarray(start, end));
  }

  get #isRefusal(): boolean {
    return this.#status >= 300;
  }

  #decode(codings: readonly string[]): void {
    const source = {
      pause: () => this.#connection?.pause(),
      resume: () => this.#connection?.resume(),
    };
    const sink = {
      onData: (chunk: Buffer) => {
        this.#handler.onData(chunk, 0, chunk.length);
        // The end may follow in this turn.
        READ_OVER.then(() => this.#handler.onReadOver?.());
      },
      onEnd: () => this.#ended(),
      onUndecoded: () => this.#undecoded(),
    };
    this.#decoding = new Decoding({ codings, mayBeText: this.#isRefusal }, source, sink);
  }

  #ended(): void {
    if (this.#over) return;
    if (this.#broken !== undefined) {
      this.fail(this.#broken);
      return;
    }
    this.#over = true;
    this.#handler.onEnd();
  }

  /** The decoding has stopped. A refusal's status and headers count whatever its content is. */
  #undecoded(): void {
    this.#connection?.abort();
    this.#connection = undefined;
    if (this.#isRefusal) this.#ended();
    else this.fail(this.#broken ?? failure("invalid_response", "protocol", this.#status, ENCODED));
  }
}
