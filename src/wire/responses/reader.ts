/** A streamed response in neutral events (OpenAI API reference, "Responses: streaming events"). */
import type { StreamEvent } from "../neutral.ts";
import { type JsonObject, SseStreamReader } from "../reader.ts";
import { ResponsesEvents } from "./events.ts";

export class ResponsesReader extends SseStreamReader {
  readonly #events = new ResponsesEvents();
  readonly #each = (event: StreamEvent) => this.emit(event);

  get complete(): boolean {
    return this.#events.done;
  }

  protected take(event: JsonObject, name: string): void {
    this.#events.take(event, name, this.#each);
    this.done = this.#events.done;
    this.error = this.#events.error;
  }
}
