/**
 * What a policy and a request together decide about a call, before any endpoint is looked at: the planner's and the
 * attempts' instructions. Frozen; for a request that says nothing of its own it is the same object every time.
 */
import { type Affinity, MAX_ATTEMPTS, type Requirements, type Sort } from "../route.ts";

export interface PolicyVersion {
  readonly name: string;
  readonly version: number;
}

/** An endpoint on trial: it gets a share of the calls for as long as it does not fail too often. */
export interface Canary {
  /** Endpoint id. */
  readonly endpoint: string;
  /** 0 to 100. */
  readonly percent: number;
  /** 0 to 1. */
  readonly maxErrorRate: number;
  /** Results before it is judged. */
  readonly minSamples: number;
}

/** Red is final for a version of the policy: the endpoint gets no share any more. */
export type CanaryState = "warming" | "green" | "red";

/** An endpoint that is sent copies of calls; nobody waits for what it answers. */
export interface Shadow {
  readonly endpoint: string;
  /** 0 to 100. */
  readonly percent: number;
  /** Who pays for the copies. */
  readonly bill: "platform" | "org";
}

export interface Arm {
  readonly arm: string;
  readonly endpoint: string;
  /** Relative to the others'. */
  readonly weight: number;
}

/** Callers are divided among endpoints; each stays in its arm. */
export interface Experiment {
  readonly name: string;
  readonly arms: readonly Arm[];
}

export interface Decision {
  /** Undefined: no policy is in force. */
  readonly policy: PolicyVersion | undefined;
  /** Name of the rule that matched; empty where none did. */
  readonly rule: string;
  readonly sort: Sort;
  readonly order: readonly string[] | undefined;
  readonly only: readonly string[] | undefined;
  readonly ignore: readonly string[] | undefined;
  /** The request itself gave an order or what is allowed: canary, experiment and weights then do not apply. */
  readonly isChosenByRequest: boolean;
  /** `order` is the request's, not the policy's: then it goes before what knows the conversation. */
  readonly isOrderFromRequest: boolean;
  readonly fallbacks: boolean;
  readonly maxAttempts: number;
  /** For all attempts together, until the first content; undefined: only the gateway's own timeouts hold. */
  readonly timeoutMs: number | undefined;
  readonly affinity: Affinity;
  readonly require: Requirements;
  /** Endpoint id → its part of the first attempts. */
  readonly weights: ReadonlyMap<string, number> | undefined;
  /** After so much silence of the first endpoint the second is asked too. */
  readonly hedgeAfterMs: number | undefined;
  /** Why no call may be made at all. */
  readonly deny: string | undefined;
  readonly canary: Canary | undefined;
  readonly shadow: Shadow | undefined;
  readonly experiment: Experiment | undefined;
}

/** Where neither a policy nor the request says anything. */
export const DEFAULT_DECISION: Decision = Object.freeze({
  policy: undefined,
  rule: "",
  sort: "balanced",
  order: undefined,
  only: undefined,
  ignore: undefined,
  isChosenByRequest: false,
  isOrderFromRequest: false,
  fallbacks: true,
  maxAttempts: MAX_ATTEMPTS,
  timeoutMs: undefined,
  affinity: "session",
  require: Object.freeze({}),
  weights: undefined,
  hedgeAfterMs: undefined,
  deny: undefined,
  canary: undefined,
  shadow: undefined,
  experiment: undefined,
});
