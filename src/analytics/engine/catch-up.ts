/**
 * Records wait in the gateway for others of their batch. Before the engine answers a question that is not the gateway's own, its
 * process asks the gateway to insert those that have waited for long, so that an analyst does not see that they waited.
 */
import { inTime } from "../../base/clock.ts";

/** A statement with this header is the gateway's own: it waits for records itself where it needs them. */
export const OWN_HEADER = "x-weir-gateway";

/** A question waits this long for them; it is then answered from the records that are there. */
const WAIT_MS = 1000;

export class CatchUp {
  readonly #ask: (number: number) => void;
  readonly #waiting = new Map<number, () => void>();
  #asked = 0;

  /** @param ask sends the gateway a number, which its answer has */
  constructor(ask: (number: number) => void) {
    this.#ask = ask;
  }

  /** Resolves when the gateway has answered, or after a second. */
  async wait(): Promise<void> {
    const number = ++this.#asked;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(number, resolve);
    this.#ask(number);
    await inTime(promise, WAIT_MS, () => {});
    this.#waiting.delete(number);
  }

  /** The gateway has answered this number. */
  done(number: number): void {
    this.#waiting.get(number)?.();
  }
}
