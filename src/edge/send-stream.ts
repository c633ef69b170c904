/** Sends a body whose source writes it part by part, as fast as the client reads the parts. */
import type { AnswerStream } from "../base/operation/answer.ts";
import type { BodyClient } from "../base/operation/body.ts";
import type { SocketReply } from "./reply.ts";

/**
 * Resolves once all is written, or the client has left. The answer ends early, as a broken connection, where the body fails after its
 * first part.
 * @param headers lines, each with its line end
 * @throws (as a rejection) what the body failed with; where that was before its first part, nothing is sent
 */
export function sendStream(reply: SocketReply, headers: string, { body, stop }: AnswerStream): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const client = new StreamClient(reply, headers, { resolve, reject });
  reply.onGone(() => {
    stop?.();
    client.left();
  });
  try {
    body(client);
  } catch (error) {
    client.fail(error);
  }
  return promise;
}

class StreamClient implements BodyClient {
  readonly #reply: SocketReply;
  readonly #headers: string;
  readonly #done: { resolve(): void; reject(error: unknown): void };
  #hasBegun = false;
  #resume: (() => void) | undefined;

  constructor(reply: SocketReply, headers: string, done: { resolve(): void; reject(error: unknown): void }) {
    this.#reply = reply;
    this.#headers = headers;
    this.#done = done;
  }

  /** Also where a HEAD has its answer: no part of a body follows that. */
  get gone(): boolean {
    return this.#reply.closed;
  }

  write(part: Uint8Array): boolean {
    this.#begin();
    return this.#reply.write(bufferOf(part));
  }

  end(): void {
    this.#begin();
    this.#reply.end();
    this.#done.resolve();
  }

  fail(error: unknown): void {
    // First: to abort is to be told that the client is gone.
    this.#done.reject(error);
    if (this.#hasBegun) this.#reply.abort();
  }

  onDrain(resume: () => void): void {
    if (this.gone) resume();
    else this.#resume = resume;
  }

  left(): void {
    this.#done.resolve();
    this.#goOn();
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    if (this.#reply.isBodiless) {
      this.#reply.send(200, this.#headers, "");
      this.left();
      return;
    }
    // An empty filler: between any two bytes of a file nothing may stand.
    this.#reply.openStream(this.#headers, "");
    this.#reply.onDrain(() => this.#goOn());
  }

  #goOn(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }
}

const bufferOf = (part: Uint8Array): Buffer =>
  part instanceof Buffer ? part : Buffer.from(part.buffer, part.byteOffset, part.byteLength);
