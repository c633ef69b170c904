/**
 * Answers that came in another form than was asked for, said again in that form and in the same dialect: a whole answer as the
 * events of a stream, a stream as a whole answer. What reads, splices and translates the dialect's answers then reads these. So
 * nothing is lost on the way that has a place in the dialect, and there is no code for a pair of formats.
 */

import { onOneLine } from "../json/latin1.ts";
import type { UpstreamError } from "../neutral/contract.ts";
import type { Emit } from "../neutral/reader.ts";
import { sseData } from "../neutral/sse.ts";

/** How a dialect says one answer in both forms. */
export interface Restating {
  /**
   * A whole answer as a stream: text as the dialect's streams have it, latin1.
   * @param body UTF-8 JSON of an answer that is no error
   * @throws WeirError `upstream_invalid_response` where it is no answer
   */
  events(body: Buffer): string;
  /** Puts a stream together. @param maxEventBytes the bound of one event @param listen is told what the events mean */
  folding(maxEventBytes: number, listen?: Emit): Folding;
  /** One event of a stream that holds this JSON, latin1. Absent: the dialect's events are more than JSON. */
  framed?(json: string): string;
}

/** A stream on its way to a whole answer. Its reader says how it ended, as for a stream that was asked for. */
export interface Folding {
  /** @param read latin1 @throws WeirError `upstream_invalid_response` where an event outgrows the bound */
  push(read: string): void;
  /** The upstream's body has ended. */
  end(): void;
  /** The upstream sent its last event. */
  readonly done: boolean;
  /** The answer is whole, with or without the last event. */
  readonly complete: boolean;
  readonly error: UpstreamError | undefined;
  /** Bytes of text behind the last report of tokens, where there was one: it does not count them. */
  readonly unreportedBytes: number;
  /** The whole answer as the dialect writes it, UTF-8 JSON. */
  whole(): Buffer;
}

/** {@link Restating.framed} of dialects whose events have no names, or have them in their JSON too. */
export const framed = (json: string): string => sseData(onOneLine(json));
