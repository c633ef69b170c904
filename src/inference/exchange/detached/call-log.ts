/** What is known of a detached call beside its events: whose it is, in which format it is told, and how it ended. */
import type { FormatName } from "../../../wire/format.ts";
import type { Broken } from "../errors/broken-off.ts";
import type { EventLog } from "./event-log.ts";

/** Whose call it is: readers have the same project and environment, or may read the org's payloads. */
export interface CallOwner {
  readonly orgId: string;
  readonly projectId: string;
  readonly environment: "live" | "test";
}

export interface LoggedCall extends CallOwner {
  /** Its request id. */
  readonly id: string;
  readonly format: FormatName;
  /** False: its answer is one body, not events. */
  readonly isStream: boolean;
  /** Its client is told no events, but asks for its state: an answer in the background. */
  readonly isPolled?: boolean;
  /** Nothing of what it says may be stored, by zero data retention or what the org logs: it ends with the process. */
  readonly isInMemory: boolean;
  /** Wall clock, milliseconds. */
  readonly startedMs: number;
}

/** How a call ended whose process was killed. */
export interface BrokenEnd {
  readonly how: Broken;
  /** The response in the background that it would have answered, as failed: JSON text. Undefined where there is none. */
  readonly response: string | undefined;
}

/** The answer of a call that is no stream. */
export interface WholeBody {
  readonly status: number;
  readonly body: Buffer;
}

export interface CallLog {
  readonly call: LoggedCall;
  readonly events: EventLog;
  /** When it ended, wall clock; 0 while it runs. */
  readonly endedMs: number;
  /** Its process was killed while it ran, and the last event says so; undefined: it was not. */
  readonly brokenOff: BrokenEnd | undefined;
  /** Once it has ended, the answer of a call that is no stream; undefined where it is not kept. */
  whole(): WholeBody | undefined;
  /** Ends the call as if its client had left; what was said is charged. Does nothing once it has ended. */
  cancel(): void;
}
