/**
 * Reads an upstream's event stream into neutral events. What all dialects share is here: cutting the stream into events,
 * skipping what is no JSON, the end. A dialect says what an event means.
 */
import type { UpstreamError } from "./contract.ts";
import { utf8Of } from "./json.ts";
import type { StreamEvent } from "./neutral.ts";
import { SseReader } from "./sse.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An object as it is, anything else as an empty one: for reading what an upstream may have sent in any shape. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** A count of tokens; 0 where it is no such. */
export const countOf = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;

export type Emit = (event: StreamEvent) => void;

/** One upstream stream. Text is latin1, one character a byte, also where the dialect's framing is binary. */
export interface StreamReader {
  /** @throws WeirError `upstream_invalid_response` where an event outgrows the bound. */
  push(read: string, emit: Emit): void;
  /** The upstream's body is over. */
  end(emit: Emit): void;
  /** The upstream said its last word; what follows is not read. */
  readonly done: boolean;
  /** The answer is whole, whether or not the last word came. */
  readonly complete: boolean;
  /** An error event; what follows it is not read. */
  readonly error: UpstreamError | undefined;
  /** Events that could not be read: skipped. */
  readonly malformed: number;
}

/** A stream of server-sent events that hold JSON objects. */
export abstract class SseStreamReader implements StreamReader {
  done = false;
  error: UpstreamError | undefined;
  malformed = 0;
  #emit: Emit = () => {};
  readonly #sse: SseReader;
  readonly #each = (data: string, name: string) => this.#event(data, name);

  constructor(maxEventBytes: number) {
    this.#sse = new SseReader(maxEventBytes);
  }

  abstract get complete(): boolean;

  /** One event. Sets `done` or `error` where it says so. Must stand any shape. */
  protected abstract take(event: JsonObject, name: string): void;

  push(read: string, emit: Emit): void {
    this.#emit = emit;
    this.#sse.push(read, this.#each);
  }

  end(emit: Emit): void {
    this.#emit = emit;
    this.#sse.end(this.#each);
  }

  protected emit(event: StreamEvent): void {
    this.#emit(event);
  }

  #event(data: string, name: string): void {
    if (this.done || this.error !== undefined) return;
    if (data === "[DONE]") {
      this.done = true;
      return;
    }
    let event: unknown;
    try {
      event = JSON.parse(utf8Of(data));
    } catch {
      this.malformed++;
      return;
    }
    if (isObject(event)) this.take(event, name);
    else this.malformed++;
  }
}
