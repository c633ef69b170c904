/** The client of a warm-up, over connections of the client for providers: so what they need is compiled, too. */
import type { AnswerHandler } from "../../inference/upstream/http/connection.ts";
import type { ConnectionPool } from "../../inference/upstream/http/pool.ts";

/** What is sent next; undefined: nothing more. */
export type NextBody = () => Buffer | undefined;

/** Sends one call after the other, as long as there is a body to send. */
class Caller implements AnswerHandler {
  readonly over = false;
  readonly ended: Promise<void>;
  #status = 0;
  readonly #pool: ConnectionPool;
  readonly #head: string;
  readonly #next: NextBody;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;

  constructor(pool: ConnectionPool, head: string, next: NextBody) {
    this.#pool = pool;
    this.#head = head;
    this.#next = next;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  send(): void {
    const body = this.#next();
    if (body === undefined) this.#resolve();
    else this.#pool.send({ head: this.#head, parts: [body] }, this);
  }

  // -- AnswerHandler --

  onSent(): void {}

  onHead(status: number): void {
    this.#status = status;
  }

  onData(): void {}

  onEnd(): void {
    if (this.#status === 200) this.send();
    else this.#reject(new Error(`a call was answered with ${this.#status}`));
  }

  onError(error: unknown): void {
    this.#reject(error);
  }
}

/**
 * Several callers at once, until there is nothing more to send and all is answered.
 * @param head of each request. @throws Error where a call was not answered with 200
 */
export async function callAtOnce(
  pool: ConnectionPool,
  head: string,
  callers: number,
  next: NextBody,
): Promise<void> {
  const all = Array.from({ length: callers }, () => new Caller(pool, head, next));
  for (const caller of all) caller.send();
  await Promise.all(all.map(({ ended }) => ended));
}
