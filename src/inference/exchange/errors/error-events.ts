/** Events by which a stream ends with an error, and which calls get a stream for the sake of their error alone. */
import type { Clock } from "../../../base/clock.ts";
import type { WeirError } from "../../../base/errors.ts";
import type { Charged } from "../../../wire/format.ts";
import type { Call } from "../call.ts";

/**
 * Whether the error of a call that was sent nothing yet is told within a stream, with status 200: a prompt that is too long, in a format
 * whose clients read that in the answer alone. Every other error is an ordinary HTTP error.
 */
export function isToldInStream(call: Call, { kind }: WeirError): boolean {
  if (kind !== "context_length_exceeded" || call.isPolled) return false;
  const { incoming, request } = call;
  return request?.facts.stream === true && incoming.format.failedEvents !== undefined;
}

interface ErrorEventsAt {
  /** Bytes to send before them. */
  readonly unsent: Buffer;
  /** Number of the first of them, in formats that number events. */
  readonly sequence: number;
  /** What the answer that fails tells of its charge. */
  readonly charged?: Charged | undefined;
}

/** The events, as bytes. */
export function errorEvents(
  clock: Clock,
  call: Call,
  error: WeirError,
  { unsent, sequence, charged }: ErrorEventsAt,
): Buffer {
  const { format } = call.incoming;
  const { request } = call;
  const isOverflow = isToldInStream(call, error);
  // What no event came before is no answer that fails, but an error, though a comment may have opened the stream for it.
  const fails = sequence > 0 || isOverflow;
  const failed =
    fails && request && format.failedEvents?.(error, request, call.answerNames(clock), sequence, charged);
  if (!failed) {
    const event = format.errorEvent(error, call.requestId, sequence);
    return Buffer.concat([unsent, Buffer.from(event)]);
  }
  const begun = Buffer.concat([unsent, Buffer.from(failed.text, "latin1")]);
  // SDKs throw on an error's own event. An overflow before any other event is an answer of its own, which clients read to its end.
  if (sequence === 0) return begun;
  return Buffer.concat([begun, Buffer.from(format.errorEvent(error, call.requestId, failed.next))]);
}
