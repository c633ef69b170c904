/**
 * The outcome of a call, and that of one relay. Each layer has its own words on the way back of an answer: an upstream's
 * `onHead`, `onData`, `onEnd` and `onFailure` reach the relay; a relay `begins` and `ends` for its attempt; an attempt
 * `begins` and `ends` for the call's attempts; these end the call, with an outcome, for `settle`.
 */
import type { WeirError } from "../../base/errors.ts";
import type { AnswerStream, WholeAnswer } from "../../wire/format.ts";
import type { UpstreamFailure } from "../upstream/failure.ts";

/** How much of a stream was delivered before it was cut off. */
export interface Delivered {
  readonly textBytes: number;
  /** The next event's number, in formats that number events. */
  readonly nextSequence: number | undefined;
}

/** All outcomes that `settle` closes. One union, so that the compiler checks that none is missing. */
export type Outcome =
  /** The upstream answered in full; nothing was sent to the client yet. */
  | { readonly kind: "whole"; readonly answer: WholeAnswer }
  /**
   * The stream is complete. Its last events were not sent yet: neither those of the last read, `unsent`, nor those that
   * end it.
   */
  | { readonly kind: "streamed"; readonly stream: AnswerStream; readonly unsent: Buffer }
  /** The stream broke after its first content was sent. */
  | { readonly kind: "broken"; readonly stream: AnswerStream; readonly failure: UpstreamFailure }
  /**
   * The credit ran out during the stream; the gateway had read more than it delivered. `error`: whether there is more credit could not
   * be known.
   */
  | {
      readonly kind: "exhausted";
      readonly stream: AnswerStream;
      readonly delivered: Delivered;
      readonly error?: WeirError;
    }
  /** The client left. `stream` is set if one had begun. */
  | { readonly kind: "cancelled"; readonly stream: AnswerStream | undefined }
  /** No attempt answered; `failure` is undefined if none could be made. */
  | { readonly kind: "failed"; readonly failure: UpstreamFailure | undefined }
  /** A step before the first attempt refused. */
  | { readonly kind: "refused"; readonly error: WeirError }
  /**
   * The answer could not be written: a fault of the gateway. If a part of it was sent, `stream` is set, and `unsent` is sent
   * before the error.
   */
  | {
      readonly kind: "faulted";
      readonly stream: AnswerStream | undefined;
      readonly unsent: Buffer;
      readonly error: WeirError;
    }
  /** The process stops before the call ended. */
  | { readonly kind: "shut_down"; readonly stream: AnswerStream | undefined };

/** The end of a relay. Unless it failed, it is the call's outcome. */
export type RelayEnd =
  | Extract<Outcome, { readonly kind: "whole" | "streamed" | "exhausted" }>
  | { readonly kind: "failed"; readonly failure: UpstreamFailure };

export const NOTHING_UNSENT = Buffer.alloc(0);

/** The events of a stream that were read from the provider and are not sent to the client yet. Empty for other outcomes. */
export const unsentOf = (outcome: Outcome): Buffer => ("unsent" in outcome ? outcome.unsent : NOTHING_UNSENT);

export const streamOf = (outcome: Outcome): AnswerStream | undefined =>
  "stream" in outcome ? outcome.stream : undefined;
