/**
 * Puts the server-sent events of an answer together to a whole one. The dialect's own reader says what the stream is: complete, cut, or
 * an error; a fold of the dialect collects what its events hold.
 */

import { jsonTextOf } from "../json/json-text.ts";
import { NO_PATHS, type OpaquePaths } from "../json/opaque.ts";
import { wellFormedJson } from "../json/surrogates.ts";
import type { UpstreamError } from "../neutral/contract.ts";
import type { StreamEvent } from "../neutral/neutral.ts";
import { meantBy } from "../neutral/odd-events/meant-data.ts";
import { type Emit, type JsonObject, parsed, type StreamReader } from "../neutral/reader.ts";
import { SseReader, sseData, sseEvent } from "../neutral/sse.ts";
import type { Folding } from "./restating.ts";

/** Collects the events of one answer. */
export interface Fold {
  /** Where its events have JSON that is only carried. */
  readonly carries?: OpaquePaths;
  /** @param name of the event, where its data has no type */
  take(event: JsonObject, name: string): void;
  /** What the events mean, for what servers write in too many ways. */
  tell?(event: StreamEvent): void;
  /** The whole answer. */
  whole(): unknown;
}

/** What a dialect's reader says of the stream, and the whole that a fold makes of it. */
export abstract class ReadFolding implements Folding {
  protected readonly fold: Fold;
  readonly #reader: StreamReader;
  readonly #tell: Emit;
  #textBytes = 0;
  /** The first bytes of text that a report counts; undefined before any. */
  #reportedBytes: number | undefined;

  constructor(reader: StreamReader, fold: Fold, listen?: Emit) {
    this.#reader = reader;
    this.fold = fold;
    this.#tell = (event) => {
      if (event.type === "delta") this.#textBytes += event.text.length;
      else if (event.type === "usage") this.#reportedBytes = this.#textBytes;
      listen?.(event);
      fold.tell?.(event);
    };
  }

  get done(): boolean {
    return this.#reader.done;
  }

  get complete(): boolean {
    return this.#reader.complete;
  }

  get error(): UpstreamError | undefined {
    return this.#reader.error;
  }

  get unreportedBytes(): number {
    return this.#textBytes - (this.#reportedBytes ?? this.#textBytes);
  }

  push(read: string): void {
    this.#reader.push(read, this.#tell);
  }

  end(): void {
    this.#reader.end(this.#tell);
  }

  whole(): Buffer {
    return Buffer.from(wellFormedJson(jsonTextOf(this.fold.whole())));
  }
}

export class SseFolding extends ReadFolding {
  readonly #sse: SseReader;
  readonly #each = (data: string, name: string) => this.#event(data, name);

  constructor(reader: StreamReader, fold: Fold, maxEventBytes: number, listen?: Emit) {
    super(reader, fold, listen);
    this.#sse = new SseReader(maxEventBytes);
  }

  override push(read: string): void {
    this.#sse.push(read, this.#each);
  }

  override end(): void {
    this.#sse.end({ onEvent: this.#each });
    super.end();
  }

  /** The reader gets events one by one: those behind the one that it ends by are none of the answer's. */
  #event(data: string, name: string): void {
    if (this.done || this.error !== undefined) return;
    const event = parsed(data, this.fold.carries ?? NO_PATHS);
    const meant = event === undefined ? meantBy(data) : [];
    for (const each of meant) this.#event(each, name);
    if (meant.length > 0) return;
    super.push(eventOf(name, data));
    if (event !== undefined) this.fold.take(event, name);
  }
}

/** An event as it was read. */
function eventOf(name: string, data: string): string {
  const lines = data.replaceAll("\n", "\ndata: ");
  return name === "" ? sseData(lines) : sseEvent(name, lines);
}
