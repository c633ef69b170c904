/** A model call that runs, as those see it who watch its org; and the port through which it is told. */
import type { CallRecord } from "../../record/record.ts";

export interface RunningCall {
  readonly requestId: string;
  readonly orgId: string;
  readonly projectId: string;
  readonly keyId: string;
  readonly environment: CallRecord["environment"];
  /** Empty without any. */
  readonly appId: string;
  readonly model: string;
  readonly isStream: boolean;
  /** It goes on without its client, and whoever may reads what it says. */
  readonly isDetached: boolean;
  /** When it arrived; wall clock, milliseconds. */
  readonly startedAtMs: number;
  /** Provider and id of the endpoint that is asked, or answers; both empty while none is known. */
  readonly provider: string;
  readonly endpointId: string;
  /** From arrival to the first content of its stream; 0 before. */
  readonly ttftMs: number;
}

/** Port of model calls. */
export interface CallWatch {
  /** Whether somebody watches the org's calls. Asked twice for each call: nothing is made of a call that nobody watches. */
  isWatched(orgId: string): boolean;
  /** The call is about to be answered: it was admitted, planned and paid for. */
  started(call: RunningCall): void;
  /** The first content of its stream is about to be sent. */
  firstToken(call: RunningCall): void;
}

/** Port: the org's calls that run at this cell now. */
export type RunningCalls = (orgId: string) => Iterable<RunningCall>;
