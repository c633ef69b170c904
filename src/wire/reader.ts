/**
 * Reads an upstream's event stream into neutral events. What all dialects share is here: cutting the stream into events,
 * skipping what is no JSON, the end. A dialect says what an event means.
 */
import type { UpstreamError } from "./contract.ts";
import { DeltaFrames, type FrameKeys, type Passed } from "./delta-frame.ts";
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

/** Is told of the events as they came, each after what it means was emitted: a splice passes them on. */
export interface EventTap {
  /** An event as an object; undefined where it cannot be read, or cannot be passed on: it counts as malformed. */
  parse?(data: string): JsonObject | undefined;
  /** An event that was read in full. Returns how it was passed on; undefined where those like it must be read in full, too. */
  event(data: string, name: string, event: JsonObject): Passed | undefined;
  /** Events that are the last but for the text by which they lengthened a part; of this nothing was emitted. */
  run(part: PartPlace, run: Run): void;
}

/** Events one behind the other that lengthen one part. */
export type Run = Pick<DeltaFrames, "events" | "text" | "out">;

/** Which part of which choice. */
export interface PartPlace {
  readonly choice: number;
  readonly part: number;
}

/** A stream of server-sent events that hold JSON objects. */
export abstract class SseStreamReader implements StreamReader {
  done = false;
  error: UpstreamError | undefined;
  malformed = 0;
  #emit: Emit = () => {};
  readonly #sse: SseReader;
  readonly #frames: DeltaFrames;
  readonly #tap: EventTap | undefined;
  /** What the event that is read came to; of that what a part of text may do for its first delta. */
  #emitted = 0;
  #opened = 0;
  #last: StreamEvent | undefined;
  /** The part that events of the learned frame lengthen. */
  #grown: PartPlace = NOWHERE;
  readonly #each = (data: string, name: string) => this.#event(data, name);
  readonly #known = (text: string, from: number) => this.#fits(text, from);

  constructor(maxEventBytes: number, keys: FrameKeys, tap?: EventTap) {
    this.#sse = new SseReader(maxEventBytes);
    this.#frames = new DeltaFrames(keys);
    this.#tap = tap;
  }

  abstract get complete(): boolean;

  /** Whether `[DONE]` is the dialect's last word. Elsewhere it ends nothing: what has not ended before it was cut off. */
  protected get endsByDone(): boolean {
    return false;
  }

  /** Whether an event that begins a part of text by its first delta would, came it again, lengthen that part. */
  protected get beginsByDelta(): boolean {
    return false;
  }

  /** One event. Sets `done` or `error` where it says so. Must stand any shape. */
  protected abstract take(event: JsonObject, name: string): void;

  push(read: string, emit: Emit): void {
    this.#emit = emit;
    this.#sse.push(read, this.#each, this.#known);
  }

  end(emit: Emit): void {
    this.#emit = emit;
    this.#sse.end(this.#each);
  }

  protected emit(event: StreamEvent): void {
    this.#emitted++;
    if (event.type === "end" || (event.type === "begin" && event.kind !== "tool_call")) this.#opened++;
    this.#last = event;
    this.#emit(event);
  }

  #fits(text: string, from: number): number {
    const frames = this.#frames;
    const tap = this.#tap;
    if (tap === undefined) {
      const end = frames.fit(text, from, 1);
      if (end >= 0) {
        const { choice, part } = this.#grown;
        this.#emit({ type: "delta", choice, part, text: frames.text });
      }
      return end;
    }
    const end = frames.fit(text, from);
    if (end >= 0) {
      tap.run(this.#grown, frames);
      frames.release();
    }
    return end;
  }

  #event(data: string, name: string): void {
    this.#frames.forget();
    if (this.done || this.error !== undefined) return;
    if (data === "[DONE]") {
      this.done = this.endsByDone;
      return;
    }
    const tap = this.#tap;
    const event = tap?.parse === undefined ? parsed(data) : tap.parse(data);
    if (event === undefined) {
      this.malformed++;
      return;
    }
    this.#emitted = this.#opened = 0;
    this.take(event, name);
    const last = this.#last;
    this.#last = undefined;
    if (this.error !== undefined) return;
    const passed = tap?.event(data, name, event);
    if (last?.type !== "delta" || last.logprobs !== undefined || (tap !== undefined && passed === undefined))
      return;
    if (this.#emitted > 1 && !(this.beginsByDelta && this.#emitted === this.#opened + 1)) return;
    this.#grown = last;
    this.#frames.learn(data, name, last.text, passed);
  }
}

const NOWHERE = { choice: 0, part: 0 };

/** Undefined where the data are no JSON object. @param data latin1 */
export function parsed(data: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(utf8Of(data));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
