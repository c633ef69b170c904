/** A detached call as its readers have it, whatever cell it is at. */
import type { BodyClient } from "../../../base/operation/body.ts";
import type { CallLog, LoggedCall, WholeBody } from "./call-log.ts";
import { LogReader } from "./log-reader.ts";
import { nextBehind, type ReadOptions, readWhole } from "./read-log.ts";

/** A detached call that can be read, here or at another cell. */
export interface ReadableCall {
  readonly call: LoggedCall;
  /** It went with its cell: of what it said only its end is told. */
  readonly isGone?: boolean;
  /**
   * Tells the call's events to a client, at that client's pace, until the call has ended. The client's `fail` gets a WeirError: 409 where
   * the events that it wants are not kept any more, 503 where the org has too many readers.
   * @param last `Last-Event-ID`, as sent: those behind it; empty: all
   * @throws WeirError 400 where that is no id
   */
  tell(last: string, client: BodyClient, options: ReadOptions): void;
  /** The answer of a call that is no stream, once it is there; undefined where the reader has left. @throws WeirError 409, 503 */
  whole(hasLeft: () => boolean): Promise<WholeBody | undefined>;
  /** Ends it. Resolves once its cell knows. */
  cancel(): Promise<void>;
}

/** A call of this process. */
export const readable = (log: CallLog): ReadableCall => ({
  call: log.call,
  tell: (last, client, options) => new LogReader(log, nextBehind(last), client, options).begin(),
  whole: (hasLeft) => readWhole(log, hasLeft),
  async cancel() {
    log.cancel();
  },
});
