/**
 * The interface of a shadow run towards the call that it copies. In its own file, because calls refer to runs and runs to
 * calls.
 */
import type { CallStatus } from "../../../record/record.ts";
import type { Metered } from "../meter.ts";

/** The end of a call, as recorded. */
export interface PrimaryEnding {
  readonly status: CallStatus;
  readonly stopReason: string;
  readonly metered: Metered;
}

/** A shadow copy of a call, running or ended. */
export interface ShadowRun {
  /**
   * The call is over. If its client left, there is nothing to compare, and the copy ends too. Only the first invocation
   * counts. Never throws. @param ending undefined if the call could not be settled
   */
  primaryEnded(ending: PrimaryEnding | undefined): void;
}
