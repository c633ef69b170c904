/** What both ways of relaying share: how they tell the attempts, and the bounds they keep. */
import type { Clock } from "../clock.ts";
import type { Credits } from "../credits/credits.ts";
import type { Budgets } from "../limits/budgets.ts";
import type { Limits } from "../limits/limits.ts";
import type { UpstreamFailure } from "../upstream/failure.ts";
import type { Outcome } from "./outcome.ts";

export interface RelayDeps {
  readonly clock: Clock;
  readonly credits: Credits;
  readonly budgets: Budgets;
  readonly limits: Limits;
  readonly bounds: {
    readonly maxEventBytes: number;
    readonly maxReplyBytes: number;
    readonly maxPayloadBytes: number;
    /** By how many output tokens a stream's hold grows at a time. */
    readonly extendTokens: number;
  };
}

/** The attempt that a relay serves. After `failed`, `answered` or `exhausted` the relay says nothing more. */
export interface RelayHost {
  firstContent(): void;
  failed(failure: UpstreamFailure): void;
  answered(outcome: Outcome): void;
  /** The hold cannot grow any further; what came beyond these bytes of text is not delivered. */
  exhausted(deliveredBytes: number): void;
  /** Something threw that must not; the relay fails the attempt besides. */
  fault(error: unknown): void;
}
