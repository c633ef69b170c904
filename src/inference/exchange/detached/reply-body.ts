/** The client of a call, whose stream is open, as the client of a body. */
import type { BodyClient } from "../../../base/operation/body.ts";
import type { ClientReply } from "../../client-reply.ts";

/** Hears how the body went. */
interface Outcome {
  /** The client has all, or has left. */
  resolve(): void;
  /** The answer broke off. */
  reject(error: unknown): void;
}

export class ReplyBody implements BodyClient {
  readonly #reply: ClientReply;
  readonly #outcome: Outcome;
  #resume = () => {};

  constructor(reply: ClientReply, outcome: Outcome) {
    this.#reply = reply;
    this.#outcome = outcome;
    reply.onDrain(() => this.#resume());
    reply.onGone(() => {
      this.#resume();
      outcome.resolve();
    });
  }

  get gone(): boolean {
    return this.#reply.gone;
  }

  write(part: Buffer): boolean {
    return this.#reply.write(part) || this.#reply.gone;
  }

  end(): void {
    this.#reply.end();
    this.#outcome.resolve();
  }

  fail(error: unknown): void {
    // First: to abort is to be told that the client is gone.
    this.#outcome.reject(error);
    this.#reply.abort();
  }

  onDrain(resume: () => void): void {
    this.#resume = resume;
  }
}
