/** The log of a call that has ended: in the store alone. */
import type { BrokenEnd, CallLog, LoggedCall, WholeBody } from "./call-log.ts";
import type { EventLog } from "./event-log.ts";

interface Ended {
  readonly call: LoggedCall;
  readonly events: EventLog;
  readonly endedMs: number;
  readonly brokenOff: BrokenEnd | undefined;
  /** Status of a whole answer; undefined where there is none. */
  readonly status: number | undefined;
  /** The part that is a whole answer. */
  readonly part: () => Buffer | undefined;
}

export class EndedLog implements CallLog {
  readonly call: LoggedCall;
  readonly events: EventLog;
  readonly endedMs: number;
  readonly brokenOff: BrokenEnd | undefined;
  readonly #ended: Ended;

  constructor(ended: Ended) {
    this.#ended = ended;
    this.call = ended.call;
    this.events = ended.events;
    this.endedMs = ended.endedMs;
    this.brokenOff = ended.brokenOff;
  }

  whole(): WholeBody | undefined {
    const { status, part } = this.#ended;
    const body = status === undefined ? undefined : part();
    return status === undefined || body === undefined ? undefined : { status, body };
  }

  cancel(): void {}
}
