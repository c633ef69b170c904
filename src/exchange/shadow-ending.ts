/**
 * What a shadow run gets to know of the call that it copies. In a file of its own, so that a call can refer to its run while the
 * run refers to calls.
 */
import type { CallStatus } from "../record.ts";
import type { Metered } from "./meter.ts";

/** How a call ended, as it is recorded. */
export interface PrimaryEnding {
  readonly status: CallStatus;
  readonly stopReason: string;
  readonly metered: Metered;
}

/** A copy of a call, under way or over. */
export interface ShadowRun {
  /**
   * The call is over. Without its client there is nothing to compare: the copy ends too. Only the first call of this counts.
   * Never throws. @param ending undefined where the call could not be settled
   */
  primaryEnded(ending: PrimaryEnding | undefined): void;
}
