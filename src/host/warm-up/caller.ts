/** The client of a warm-up, over connections of the client for providers: so what they need is compiled, too. */
import type { AnswerHandler } from "../../inference/upstream/http/connection.ts";
import type { ConnectionPool } from "../../inference/upstream/http/pool.ts";
import type { WarmCall, WarmPath } from "./calls.ts";

/** What is sent next; undefined: nothing more. */
export type NextCall = () => WarmCall | undefined;

/** The head of each request. */
export type Heads = Readonly<Record<WarmPath, string>>;

/** Sends one call after the other, as long as there is one. */
class Caller implements AnswerHandler {
  readonly over = false;
  readonly ended: Promise<void>;
  #status = 0;
  readonly #pool: ConnectionPool;
  readonly #heads: Heads;
  readonly #next: NextCall;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;

  constructor(pool: ConnectionPool, heads: Heads, next: NextCall) {
    this.#pool = pool;
    this.#heads = heads;
    this.#next = next;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  send(): void {
    const call = this.#next();
    if (call === undefined) this.#resolve();
    else this.#pool.send({ head: this.#heads[call.path], parts: [call.body] }, this);
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
 * @throws Error where a call was not answered with 200
 */
export async function callAtOnce(
  pool: ConnectionPool,
  heads: Heads,
  callers: number,
  next: NextCall,
): Promise<void> {
  const all = Array.from({ length: callers }, () => new Caller(pool, heads, next));
  for (const caller of all) caller.send();
  await Promise.all(all.map(({ ended }) => ended));
}
