/**
 * What a policy and a request together decide about a call, before any endpoint is considered. The planner and the
 * attempts follow it. Frozen; requests without options of their own all get the same object.
 */
import type { OnDisconnect } from "../../base/call/on-disconnect.ts";
import { type Affinity, MAX_ATTEMPTS, type Requirements, type Sort } from "../../base/route.ts";

export interface PolicyVersion {
  readonly name: string;
  readonly version: number;
}

/** An endpoint under test: it gets a share of the calls until its error rate is too high. */
export interface Canary {
  /** Endpoint id. */
  readonly endpoint: string;
  /** 0 to 100. */
  readonly percent: number;
  /** 0 to 1. */
  readonly maxErrorRate: number;
  /** Results needed before the canary is judged. */
  readonly minSamples: number;
}

/** Red is final for a version of the policy: the endpoint gets no share any more. */
export type CanaryState = "warming" | "green" | "red";

/** An endpoint that is sent copies of calls; the client never waits for its answers. */
export interface Shadow {
  readonly endpoint: string;
  /** 0 to 100. */
  readonly percent: number;
  /** Who pays for the copies. */
  readonly bill: "platform" | "org";
}

interface Arm {
  readonly arm: string;
  readonly endpoint: string;
  /** Relative to the weights of the other arms. */
  readonly weight: number;
}

/** Divides callers among endpoints; each caller stays in its arm. */
export interface Experiment {
  readonly name: string;
  readonly arms: readonly Arm[];
}

export interface Decision {
  /** Undefined: no policy is active. */
  readonly policy: PolicyVersion | undefined;
  /** Name of the rule that matched; empty where none did. */
  readonly rule: string;
  readonly sort: Sort;
  readonly order: readonly string[] | undefined;
  readonly only: readonly string[] | undefined;
  readonly ignore: readonly string[] | undefined;
  /** The request gave `order` or `only`: canary, experiment and weights then do not apply. */
  readonly isChosenByRequest: boolean;
  /** `order` comes from the request, not the policy: then it ranks before the endpoint that holds the conversation. */
  readonly isOrderFromRequest: boolean;
  readonly fallbacks: boolean;
  readonly maxAttempts: number;
  /** For all attempts together, until the first content; undefined: only the gateway's timeouts apply. */
  readonly timeoutMs: number | undefined;
  readonly affinity: Affinity;
  readonly require: Requirements;
  /** Endpoint id → its share of the first attempts. */
  readonly weights: ReadonlyMap<string, number> | undefined;
  /** If the first endpoint has not answered after this, the second is asked too. Milliseconds. */
  readonly hedgeAfterMs: number | undefined;
  /** What becomes of the call if its client leaves; undefined: the key says. A request's own word is not here but in its options. */
  readonly onDisconnect: OnDisconnect | undefined;
  /** Why the call is refused; undefined: it is not. */
  readonly deny: string | undefined;
  readonly canary: Canary | undefined;
  readonly shadow: Shadow | undefined;
  readonly experiment: Experiment | undefined;
}

/** The decision without a policy and without request options. */
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
  onDisconnect: undefined,
  deny: undefined,
  canary: undefined,
  shadow: undefined,
  experiment: undefined,
});
