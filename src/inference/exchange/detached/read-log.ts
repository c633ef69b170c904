/** What readers of a detached call ask for, and what they are told where it is not kept. */
import type { Clock } from "../../../base/clock.ts";
import { fail, type WeirError } from "../../../base/errors.ts";
import type { BrokenEnd, CallLog, WholeBody } from "./call-log.ts";

export interface ReadOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** What is sent while nothing is said; empty: nothing. */
  readonly filler: string;
  /** Silence before that, milliseconds; 0: it is not sent. */
  readonly keepAliveMs: number;
}

/** The number of the event that a reader wants first. @param last `Last-Event-ID`, as sent; empty: from the start. @throws WeirError 400 */
export function nextBehind(last: string): number {
  if (last === "") return 0;
  if (!/^\d{1,15}$/.test(last))
    throw fail(
      "invalid_value",
      "Last-Event-ID is not the id of an event of this stream, which is a whole number. Send the id of the last event that you have, or leave the header out to read from the start.",
      { param: "Last-Event-ID" },
    );
  return Number(last) + 1;
}

/**
 * How the call ended, where a reader may have more than is kept: the call's process was killed before it had stored that. The error at the
 * end then follows what the reader has, with a number behind that; one that knows it gets it once more.
 */
export const behindEnd = ({ brokenOff, events }: CallLog, next: number): BrokenEnd | undefined =>
  next >= events.next ? brokenOff : undefined;

/** @param keptFrom the first event that is kept */
export const notKept = (keptFrom: number, next: number): WeirError => {
  const message =
    next < keptFrom
      ? `The stream of this call is kept from event ${keptFrom} on: it is longer than what is kept of one. GET /v1/requests/{id} has its answer.`
      : "The stream of this call is not kept any more. GET /v1/requests/{id} has its answer.";
  return fail("state", message, { param: "Last-Event-ID", details: { kept_from: keptFrom } });
};

/** The answer of a call that is no stream, once it is there; undefined where the reader has left. @throws WeirError 409 */
export async function readWhole(log: CallLog, hasLeft: () => boolean): Promise<WholeBody | undefined> {
  while (!log.events.isOver && !hasLeft()) await log.events.changed();
  if (hasLeft()) return undefined;
  const whole = log.whole();
  if (whole === undefined) throw notKept(log.events.keptFrom, Number.MAX_SAFE_INTEGER);
  return whole;
}
