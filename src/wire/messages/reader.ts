/** Reads an upstream's messages stream into neutral events. */
import type { UpstreamError } from "../contract.ts";
import type { Emit, StreamReader } from "../reader.ts";
import { SseReader } from "../sse.ts";
import { MessagesEvents } from "./events.ts";

/** Not on `SseStreamReader`, which parses every event: most events here are taken as they stand. */
export class MessagesStreamReader implements StreamReader {
  readonly #events = new MessagesEvents();
  readonly #sse: SseReader;
  #emit: Emit = () => {};
  readonly #each = (data: string, name: string) => {
    const events = this.#events;
    if (!events.done && events.error === undefined) events.take(data, name, this.#emit);
  };

  constructor(maxEventBytes: number) {
    this.#sse = new SseReader(maxEventBytes);
  }

  get done(): boolean {
    return this.#events.done;
  }

  get complete(): boolean {
    return this.#events.complete;
  }

  get error(): UpstreamError | undefined {
    return this.#events.error;
  }

  get malformed(): number {
    return this.#events.malformed;
  }

  push(read: string, emit: Emit): void {
    this.#emit = emit;
    this.#sse.push(read, this.#each);
  }

  end(emit: Emit): void {
    this.#emit = emit;
    this.#sse.end(this.#each);
  }
}
