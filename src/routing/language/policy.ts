/**
 * A compiled policy: which rule applies to a call, and what it decides together with the request's `svc.route`.
 * Defaults and rules are merged once; a call without options gets a frozen decision and nothing is allocated for it.
 */
import type { Requirements, RouteOptions } from "../../base/route.ts";
import {
  type CanaryState,
  DEFAULT_DECISION,
  type Decision,
  type PolicyVersion,
} from "../planner/decision.ts";
import type { PolicyBlock, PolicyDocument } from "./policy-document.ts";
import { type PolicyFacts, Rule } from "./policy-match.ts";

export type { PolicyFacts } from "./policy-match.ts";

export interface CompiledPolicy extends PolicyVersion {
  /** The decision for one call. Pure. */
  decide(facts: PolicyFacts, route: RouteOptions): Decision;
}

/** What a call needs from the policy in force for it: the compiled version, with the state of its canaries. */
export interface ActivePolicy {
  readonly compiled: CompiledPolicy;
  /** Warming where the version has no such canary. */
  canaryState(endpointId: string): CanaryState;
  /** Reports the end of a call of the canary's share. May turn the canary red at once. Never throws. */
  canaryResult(endpointId: string, failed: boolean): void;
}

/** Models whose matching rules are cached: more than any catalog has. */
const MAX_MODELS = 10_000;

export function compilePolicy(document: PolicyDocument, { name, version }: PolicyVersion): CompiledPolicy {
  const policy = Object.freeze({ name, version });
  const top: PolicyBlock = document.sort === undefined ? {} : { sort: document.sort };
  const defaults = { ...top, ...document.defaults };
  const usual = decisionOf(policy, "", defaults);
  const rules = (document.rules ?? []).map(({ name: ruleName, match, then = {} }, at) => {
    const rule = ruleName ?? `rule-${at + 1}`;
    return new Rule(match ?? {}, decisionOf(policy, rule, merged(defaults, then)));
  });
  const ofModel = new Map<string, readonly Rule[]>();
  const rulesOf = (modelId: string): readonly Rule[] => {
    let found = ofModel.get(modelId);
    if (found === undefined) {
      const known = new Map<string, boolean>();
      found = rules.filter((rule) => rule.takesModel(modelId, known));
      if (ofModel.size >= MAX_MODELS) ofModel.clear();
      ofModel.set(modelId, found);
    }
    return found;
  };
  return {
    ...policy,
    decide(facts, route) {
      for (const rule of rulesOf(facts.modelId))
        if (rule.takes(facts)) return withRequestOptions(rule.decision, route);
      return withRequestOptions(usual, route);
    },
  };
}

/** A rule's keys replace the defaults'; `require` is merged key by key. */
export function merged(defaults: PolicyBlock, then: PolicyBlock): PolicyBlock {
  if (defaults.require === undefined || then.require === undefined) return { ...defaults, ...then };
  return { ...defaults, ...then, require: { ...defaults.require, ...then.require } };
}

function decisionOf(policy: PolicyVersion, rule: string, block: PolicyBlock): Decision {
  const { canary, shadow, experiment, deny, weights = {} } = block;
  return Object.freeze<Decision>({
    policy,
    rule,
    sort: block.sort ?? DEFAULT_DECISION.sort,
    order: block.order,
    only: block.only,
    ignore: block.ignore,
    isChosenByRequest: false,
    isOrderFromRequest: false,
    fallbacks: block.fallbacks ?? DEFAULT_DECISION.fallbacks,
    maxAttempts: block.max_attempts ?? DEFAULT_DECISION.maxAttempts,
    timeoutMs: block.timeout_ms,
    affinity: block.affinity ?? DEFAULT_DECISION.affinity,
    require: Object.freeze(block.require ?? {}),
    weights: Object.keys(weights).length === 0 ? undefined : new Map(Object.entries(weights)),
    hedgeAfterMs: block.hedge_after_ms === 0 ? undefined : block.hedge_after_ms,
    onDisconnect: block.on_disconnect,
    deny: deny ? deny.message : undefined,
    canary: canary
      ? {
          endpoint: canary.endpoint,
          percent: canary.percent,
          maxErrorRate: canary.max_error_rate,
          minSamples: canary.min_samples,
        }
      : undefined,
    shadow: shadow || undefined,
    experiment: experiment || undefined,
  });
}

/** The decision where no policy is active. */
export const decideAlone = (route: RouteOptions): Decision => withRequestOptions(DEFAULT_DECISION, route);

/**
 * The request's options override the decision, except that `require` only becomes stricter; a request cannot lift
 * `deny`.
 */
export function withRequestOptions(decision: Decision, route: RouteOptions): Decision {
  for (const _ in route) return asked(decision, route);
  return decision;
}

function asked(decision: Decision, route: RouteOptions): Decision {
  // An empty order only removes the policy's order.
  const isOrderFromRequest = (route.order?.length ?? 0) > 0;
  return Object.freeze({
    ...decision,
    sort: route.sort ?? decision.sort,
    order: route.order ?? decision.order,
    only: route.only ?? decision.only,
    ignore: route.ignore ?? decision.ignore,
    isChosenByRequest: isOrderFromRequest || route.only !== undefined,
    isOrderFromRequest,
    fallbacks: route.fallbacks ?? decision.fallbacks,
    maxAttempts: route.max_attempts ?? decision.maxAttempts,
    timeoutMs: route.timeout_ms ?? decision.timeoutMs,
    affinity: route.affinity ?? decision.affinity,
    require: route.require === undefined ? decision.require : both(decision.require, route.require),
  });
}

/** Requirements that satisfy both. */
function both(a: Requirements, b: Requirements): Requirements {
  return {
    zdr: a.zdr === true || b.zdr === true,
    no_train: a.no_train === true || b.no_train === true,
    regions:
      a.regions && b.regions ? a.regions.filter((r) => b.regions?.includes(r)) : (a.regions ?? b.regions),
    max_price: {
      input: lower(a.max_price?.input, b.max_price?.input),
      output: lower(a.max_price?.output, b.max_price?.output),
    },
  };
}

const lower = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);

/** A decision in plain words, for dry runs. */
export function decisionNotes(decision: Decision): string[] {
  const { policy, rule, shadow } = decision;
  const notes: string[] = [];
  if (policy !== undefined) {
    const of = `${policy.name}@${policy.version}`;
    notes.push(rule === "" ? `no rule of ${of} fits; its defaults apply` : `rule "${rule}" of ${of} applies`);
  }
  if (decision.deny !== undefined) notes.push(`calls are refused: ${decision.deny}`);
  if (decision.order) notes.push(`tried first: ${decision.order.join(", ")}`);
  if (decision.only) notes.push(`nothing is tried but ${decision.only.join(", ")}`);
  if (decision.ignore) notes.push(`not tried: ${decision.ignore.join(", ")}`);
  if (!decision.fallbacks) notes.push("no other endpoint answers where the first fails");
  if (decision.timeoutMs !== undefined) notes.push(`all attempts together have ${decision.timeoutMs} ms`);
  if (decision.hedgeAfterMs !== undefined)
    notes.push(`after ${decision.hedgeAfterMs} ms of silence the next endpoint is asked too`);
  if (decision.onDisconnect !== undefined)
    notes.push(`if the client leaves: ${decision.onDisconnect}, unless the request says otherwise`);
  notes.push(...requirementNotes(decision.require));
  if (!decision.isChosenByRequest) notes.push(...shareNotes(decision));
  if (shadow) notes.push(`${shadow.percent} % are copied to ${shadow.endpoint}, paid by the ${shadow.bill}`);
  return notes;
}

function shareNotes({ weights, canary, experiment }: Decision): string[] {
  const notes: string[] = [];
  if (weights)
    notes.push(`first attempts by weight: ${[...weights].map(([id, w]) => `${id} ${w}`).join(", ")}`);
  if (canary) notes.push(`${canary.percent} % go to the canary ${canary.endpoint} first`);
  if (experiment)
    notes.push(`experiment ${experiment.name}: ${experiment.arms.map((a) => a.arm).join(", ")}`);
  return notes;
}

function requirementNotes({ zdr, no_train, regions, max_price }: Requirements): string[] {
  const notes: string[] = [];
  if (zdr) notes.push("zero data retention is required");
  if (no_train) notes.push("providers that train on what is sent are left out");
  if (regions) notes.push(`only in ${regions.join(", ") || "no region at all"}`);
  const { input, output } = max_price ?? {};
  if (input !== undefined) notes.push(`input at most ${input} USD per million tokens`);
  if (output !== undefined) notes.push(`output at most ${output} USD per million tokens`);
  return notes;
}
