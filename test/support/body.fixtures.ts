/** Reads a body as a client does. */
import type { Body, BodyClient } from "../../src/base/operation/body.ts";

/** A client that takes all it is told, until it leaves. */
export class BodyReader implements BodyClient {
  gone = false;
  /** It has enough with the next part, until `resume` is called. */
  isFull = false;
  resume: () => void = () => {};
  readonly parts: Buffer[] = [];
  /** Resolves with the first part, or with the end where there is none. */
  readonly begun: Promise<void>;
  /** Resolves with all parts once the body has ended; rejects with what it failed with. */
  readonly all: Promise<readonly Buffer[]>;
  readonly #begun = Promise.withResolvers<void>();
  readonly #all = Promise.withResolvers<readonly Buffer[]>();

  constructor(body: Body) {
    this.begun = this.#begun.promise;
    this.all = this.#all.promise;
    // Whoever looks at one of them has the error.
    this.begun.catch(() => {});
    this.all.catch(() => {});
    body(this);
  }

  /** All that it was told so far. */
  get text(): string {
    return Buffer.concat(this.parts).toString();
  }

  write(part: Uint8Array): boolean {
    if (!this.gone) this.parts.push(Buffer.from(part));
    this.#begun.resolve();
    return !this.isFull;
  }

  end(): void {
    this.#begun.resolve();
    this.#all.resolve(this.parts);
  }

  fail(error: unknown): void {
    this.#begun.reject(error);
    this.#all.reject(error);
  }

  onDrain(resume: () => void): void {
    this.resume = resume;
  }
}
