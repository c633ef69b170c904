/**
 * How a call ended, and how one relay of it did. The way back of an answer has one word for each layer:
 * an upstream's `onHead`, `onData`, `onEnd` and `onFailure` reach the relay; a relay `begins` and `ends` for its attempt;
 * an attempt `begins` and `ends` for the call's attempts; these end the call, with an outcome, for `settle`.
 */
import type { WeirError } from "../errors.ts";
import type { UpstreamFailure } from "../upstream/failure.ts";
import type { AnswerStream, WholeAnswer } from "../wire/format.ts";

/** How far a stream got that is cut before its end. */
export interface Delivered {
  readonly textBytes: number;
  /** Of formats that number their events: the number of the next. */
  readonly nextSequence: number | undefined;
}

/** Everything that `settle` may be asked to close. One union, so that no way out is forgotten. */
export type Outcome =
  /** The upstream answered in full; nothing of it has left yet. */
  | { readonly kind: "whole"; readonly answer: WholeAnswer }
  /** The stream is complete; its last events have not left yet. */
  | { readonly kind: "streamed"; readonly stream: AnswerStream }
  /** The stream broke after its first content had left. */
  | { readonly kind: "broken"; readonly stream: AnswerStream; readonly failure: UpstreamFailure }
  /** The credit ran out under the stream, which had read more than was delivered. */
  | { readonly kind: "exhausted"; readonly stream: AnswerStream; readonly delivered: Delivered }
  /** The client left. `stream` where one had begun. */
  | { readonly kind: "cancelled"; readonly stream: AnswerStream | undefined }
  /** No attempt answered; undefined where none could even be made. */
  | { readonly kind: "failed"; readonly failure: UpstreamFailure | undefined }
  /** A step before the first attempt refused. */
  | { readonly kind: "refused"; readonly error: WeirError }
  /** The answer came and could not be written: a fault of ours. `stream` where a part of it had left. */
  | { readonly kind: "faulted"; readonly stream: AnswerStream | undefined; readonly error: WeirError }
  /** The process stops before the call ended. */
  | { readonly kind: "shut_down"; readonly stream: AnswerStream | undefined };

/** How a relay ended. What is no failure is the outcome of its call. */
export type RelayEnd =
  | Extract<Outcome, { readonly kind: "whole" | "streamed" | "exhausted" }>
  | { readonly kind: "failed"; readonly failure: UpstreamFailure };
