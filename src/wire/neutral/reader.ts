/**
 * Reads an upstream's event stream into neutral events. What all dialects share is here: cutting the stream into events,
 * skipping what is no JSON, the end. A dialect says what an event means.
 */

import { utf8Of } from "../json/json.ts";
import { copied } from "../json/latin1.ts";
import { NO_PATHS, type OpaquePaths } from "../json/opaque.ts";
import type { PassedBytes } from "../json/passed-bytes.ts";
import { isObject, type JsonObject } from "../json/values.ts";
import type { Report } from "./asked-extras.ts";
import { parseCarrying } from "./carried.ts";
import type { UpstreamError } from "./contract.ts";
import { DeltaFrames, type Growth } from "./frames/delta-frames.ts";
import type { Passed } from "./frames/frame.ts";
import type { Fragment, StreamEvent } from "./neutral.ts";
import { meantBy } from "./odd-events/meant-data.ts";
import { WHOLE_EVENT, wholeIn } from "./odd-events/whole-event.ts";
import { type EventSink, SseReader } from "./sse.ts";
import { errorOfData } from "./upstream-errors/event.ts";

export { countOf, isObject, type JsonObject, listOf, objectOf, stringOf } from "../json/values.ts";

export type Emit = (event: StreamEvent) => void;

/** One upstream stream. Text is latin1, one character a byte, also where the dialect's framing is binary. */
export interface StreamReader {
  /** @throws WeirError `upstream_invalid_response` where an event outgrows the bound. */
  push(read: string, emit: Emit): void;
  /** The same of bytes, from `start` up to `end`, which are not kept. */
  read(bytes: Buffer, start: number, end: number, emit: Emit): void;
  /** The upstream's body has ended. */
  end(emit: Emit): void;
  /** The upstream sent its last event; what follows is not read. */
  readonly done: boolean;
  /** The answer is whole, with or without the last event. */
  readonly complete: boolean;
  /** An error event; what follows it is not read. */
  readonly error: UpstreamError | undefined;
  /** Count of events that could not be read and were skipped. */
  readonly malformed: number;
  /** What was reported beside tokens so far. */
  readonly report?: Report | undefined;
  /** Uses of the provider's tools so far. */
  readonly toolUses?: number;
}

/** Gets each upstream event after its neutral events were emitted. A splice passes them on. */
export interface EventTap {
  /** The event as an object; undefined if it cannot be read or passed on: it counts as malformed. */
  parse?(data: string): JsonObject | undefined;
  /** An event that was read in full. Returns how it was passed on; undefined if similar events must be read in full, too. */
  event(data: string, name: string, event: JsonObject): Passed | undefined;
  /** Where events go that differ from the last one only in the text that they add to a part. Nothing is emitted for them. */
  passing(): PassedBytes;
  /** Such events, by their text: the bytes from `start` up to `end`. */
  grewBy(part: PartPlace, read: Buffer, start: number, end: number, events: number): void;
  grewByText(part: PartPlace, text: Fragment): void;
}

/** A part by its number and its choice's. */
export interface PartPlace {
  readonly choice: number;
  readonly part: number;
}

/** A stream of server-sent events that hold JSON objects. */
export abstract class SseStreamReader implements StreamReader, EventSink, Growth {
  done = false;
  error: UpstreamError | undefined;
  malformed = 0;
  #emit: Emit = () => {};
  readonly #sse: SseReader;
  readonly #frames: DeltaFrames;
  readonly #tap: EventTap | undefined;
  /** Neutral events emitted for the current event; `#opened` counts those that begin a text part or end one. */
  #emitted = 0;
  #opened = 0;
  #last: StreamEvent | undefined;
  /** The part that events of the learned frame add text to. */
  #grown: PartPlace = NOWHERE;

  /** @param keys see {@link frameKeys} */
  constructor(maxEventBytes: number, keys: RegExp, tap?: EventTap) {
    this.#sse = new SseReader(maxEventBytes);
    this.#frames = new DeltaFrames(keys);
    this.#tap = tap;
  }

  abstract get complete(): boolean;

  /** Whether `[DONE]` is the dialect's last event. In others it ends nothing: a stream that had not ended was cut off. */
  protected get endsByDone(): boolean {
    return false;
  }

  /** Where its events have JSON that is only carried. */
  protected get carries(): OpaquePaths {
    return NO_PATHS;
  }

  /** Whether an event that begins a text part with its first delta would add to that part if it came again. */
  protected get beginsByDelta(): boolean {
    return false;
  }

  /** Reads one event of any shape. Sets `done` or `error` if the event says so. */
  protected abstract take(event: JsonObject, name: string): void;

  push(read: string, emit: Emit): void {
    this.read(Buffer.from(read, "latin1"), 0, read.length, emit);
  }

  read(bytes: Buffer, start: number, end: number, emit: Emit): void {
    this.#emit = emit;
    this.#sse.read(bytes, start, end, this);
  }

  end(emit: Emit): void {
    this.#emit = emit;
    this.#sse.end(this);
  }

  protected emit(event: StreamEvent): void {
    this.#emitted++;
    if (event.type === "end" || (event.type === "begin" && event.kind !== "tool_call")) this.#opened++;
    this.#last = event;
    this.#emit(event);
  }

  // -- EventSink --

  onEvent(data: string, name: string): void {
    this.#frames.forget();
    if (this.done || this.error !== undefined) return;
    if (data === "[DONE]") {
      this.done = this.endsByDone;
      return;
    }
    const tap = this.#tap;
    const event = tap?.parse === undefined ? parsed(data, this.carries) : tap.parse(data);
    if (event === undefined) {
      this.#oddEvent(data, name);
      return;
    }
    this.#emitted = this.#opened = 0;
    this.take(event, name);
    const last = this.#last;
    this.#last = undefined;
    if (this.error !== undefined) {
      this.#failedBy(data);
      return;
    }
    const passed = tap?.event(data, name, event);
    if (last?.type !== "delta" || last.logprobs !== undefined || (tap !== undefined && passed === undefined))
      return;
    if (this.#emitted > 1 && !(this.beginsByDelta && this.#emitted === this.#opened + 1)) return;
    this.#grown = { choice: last.choice, part: last.part };
    this.#frames.learn(data, name, last.text, passed);
  }

  known(bytes: Buffer, from: number, to: number): number {
    return this.#frames.fit(bytes, from, to, this);
  }

  // -- Growth --

  passing(): PassedBytes | undefined {
    return this.#tap?.passing();
  }

  grewBy(read: Buffer, start: number, end: number, events: number): void {
    if (this.#tap === undefined) this.grewByText(read.toString("latin1", start, end));
    else this.#tap.grewBy(this.#grown, read, start, end, events);
  }

  grewByText(text: Fragment): void {
    if (this.#tap !== undefined) {
      this.#tap.grewByText(this.#grown, text);
      return;
    }
    const { choice, part } = this.#grown;
    this.#emit({ type: "delta", choice, part, text });
  }

  /** Readers have no event's text. */
  #failedBy(data: string): void {
    if (this.error === WHOLE_EVENT) this.error = wholeIn(copied(data));
  }

  /** What is no JSON. */
  #oddEvent(data: string, name: string): void {
    if (this.error !== undefined) return;
    const meant = meantBy(data);
    if (meant.length > 0) for (const each of meant) this.onEvent(each, name);
    else {
      this.error = errorOfData(data, name);
      if (this.error === undefined) this.malformed++;
    }
  }
}

const NOWHERE = { choice: 0, part: 0 };

/** Undefined if the data are no JSON object. @param data latin1 @param carries where JSON is left as text */
export function parsed(data: string, carries: OpaquePaths = NO_PATHS): JsonObject | undefined {
  try {
    const value: unknown = parseCarrying(utf8Of(data), carries);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
