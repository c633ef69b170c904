/** A log as one reader gets it: at its own pace, from an event on, until the call has ended. */
import type { Clock } from "../../../base/clock.ts";
import { fail, type WeirError } from "../../../base/errors.ts";
import { SharedTurns } from "../../../base/turns/shared-turns.ts";
import { brokenOffEvents } from "./broken-off.ts";
import type { BrokenEnd, CallLog, LoggedCall, WholeBody } from "./call-log.ts";

/** A detached call that can be read, here or at another cell. */
export interface ReadableCall {
  readonly call: LoggedCall;
  /** It went with its cell: of what it said only its end is told. */
  readonly isGone?: boolean;
  /**
   * Its events. @param last `Last-Event-ID`, as sent: those behind it; empty: all
   * @throws WeirError 400 where that is no id; with its first part 409 where what is asked for is not kept any more, 503 where the org
   * has too many readers
   */
  events(last: string, options: ReadOptions): AsyncGenerator<Buffer>;
  /** The answer of a call that is no stream, once it is there; undefined where the reader has left. @throws WeirError 409, 503 */
  whole(hasLeft: () => boolean): Promise<WholeBody | undefined>;
  /** Ends it. Resolves once its cell knows. */
  cancel(): Promise<void>;
}

/** A call of this process. */
export const readable = (log: CallLog): ReadableCall => ({
  call: log.call,
  events: (last, options) => readEvents(log, nextBehind(last), options),
  whole: (hasLeft) => readWhole(log, hasLeft),
  async cancel() {
    log.cancel();
  },
});

export interface ReadOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** What is sent while nothing is said; empty: nothing. */
  readonly filler: string;
  /** Silence before that, milliseconds; 0: it is not sent. */
  readonly keepAliveMs: number;
  /** Whether the reader has left. */
  readonly hasLeft: () => boolean;
}

/** Readers that have much to catch up with take turns, each with a part. */
const turns = new SharedTurns();

/** @throws WeirError 409 where events that it should get are not kept any more */
export async function* readEvents(log: CallLog, from: number, options: ReadOptions): AsyncGenerator<Buffer> {
  const { clock, keepAliveMs } = options;
  const filler = Buffer.from(options.filler);
  const { events } = log;
  const broken = behindEnd(log, from);
  if (broken !== undefined) yield brokenOffEvents(log.call, from, broken).bytes;
  let next = from;
  // The first look finds nothing: the reader is told at once that it is connected.
  let lastMs = Number.NEGATIVE_INFINITY;
  while (!options.hasLeft()) {
    const part = events.read(next);
    if (part === "lost") throw notKept(events.keptFrom, next);
    if (part !== undefined) {
      next = part.end;
      if (part.bytes.length > 0) yield part.bytes;
      lastMs = clock.monotonic();
      if (next < events.next) await turns.next(log.call.orgId);
    } else if (events.isOver) return;
    else if (keepAliveMs > 0 && clock.monotonic() - lastMs >= keepAliveMs) {
      // Something may be said while the reader takes it.
      yield filler;
      lastMs = clock.monotonic();
    } else await events.changed();
  }
}

/** The number of the event that a reader wants first. @param last `Last-Event-ID`, as sent; empty: from the start. @throws WeirError 400 */
export function nextBehind(last: string): number {
  if (last === "") return 0;
  if (!/^\d{1,15}$/.test(last))
    throw fail("invalid_value", "Last-Event-ID is not the id of an event of this stream: a whole number.", {
      param: "Last-Event-ID",
    });
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
