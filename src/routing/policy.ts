/**
 * A policy in force: which rule applies to a call, and what it decides together with the request's own `svc.route`.
 */
import type { RouteOptions } from "../route.ts";
import { type Decision, type PolicyVersion, USUAL } from "./decision.ts";

/** What a rule may look at. */
export interface PolicyFacts {
  /** Full id: `<vendor>/<model>`. */
  readonly modelId: string;
  readonly projectId: string;
  readonly projectSlug: string;
  readonly keyId: string;
  /** `svc.metadata.app`; empty where none. */
  readonly app: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly stream: boolean;
  readonly hasTools: boolean;
  readonly hasImages: boolean;
  /** The prompt's estimate. */
  readonly inputTokens: number;
}

export interface CompiledPolicy extends PolicyVersion {
  /** What applies to one call. Pure. */
  decide(facts: PolicyFacts, route: RouteOptions): Decision;
}

/** What the request alone decides. */
export function decideAlone(route: RouteOptions): Decision {
  return steered(USUAL, route);
}

/** The request's options win, but for `require`, which they only tighten; `deny` is not theirs. */
export function steered(decision: Decision, route: RouteOptions): Decision {
  return Object.keys(route).length === 0
    ? decision
    : Object.freeze({
        ...decision,
        sort: route.sort ?? decision.sort,
        order: route.order ?? decision.order,
        only: route.only ?? decision.only,
        ignore: route.ignore ?? decision.ignore,
        fallbacks: route.fallbacks ?? decision.fallbacks,
        maxAttempts: route.max_attempts ?? decision.maxAttempts,
        timeoutMs: route.timeout_ms ?? decision.timeoutMs,
        affinity: route.affinity ?? decision.affinity,
        require: route.require === undefined ? decision.require : { ...decision.require, ...route.require },
      });
}
