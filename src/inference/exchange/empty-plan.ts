/**
 * The error for a call whose plan is empty: a missing capability, saturated endpoints and when to retry, or why each
 * endpoint is excluded.
 */
import type { Endpoint, Model } from "../../base/endpoint.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import type { Overflow } from "../../base/overflow.ts";
import {
  type Exclusion,
  excludedWire,
  exclusionOf,
  missingCapability,
  NEEDS,
  type Need,
  needWords,
} from "../../routing/planner/eligibility.ts";
import { type LeftOut, leftOut, leftOutText, type PlannedFor } from "../../routing/planner/left-out.ts";
import type { Plan } from "../../routing/planner/planner.ts";
import { neededAt } from "../../wire/needed-at.ts";
import type { RequestFacts } from "../../wire/neutral/contract.ts";
import { limitPointer } from "../../wire/relay/limit-warnings.ts";
import type { ReadCall } from "./call.ts";
import { overflowError } from "./errors/refused-request.ts";

/**
 * @param model with the endpoints that the plan was made from, including those reached by the org's own keys
 * @param unreachable its other endpoints in the catalog
 * @returns an error `upstream_all_out`, `capability_not_supported`, `invalid_value`, `context_length_exceeded` or `no_endpoint`
 */
export function emptyPlanError(
  plan: Plan,
  model: Model,
  unreachable: readonly Endpoint[],
  call: ReadCall,
  asked: PlannedFor,
): WeirError {
  const { request } = call;
  const { endpoints: reached } = model;
  const unreachableExcluded = unreachable
    .filter(({ id }) => !reached.some((endpoint) => endpoint.id === id))
    .map(unreachableExclusion);
  const excluded = excludedWire([...plan.excluded, ...unreachableExcluded]);
  const details = { excluded };
  if (plan.availability === "saturated") {
    return fail("upstream_all_out", `Every endpoint of ${model.id} is saturated. Try again later.`, {
      retryAfterMs: plan.retryAfterMs,
      details,
    });
  }
  if (plan.availability === "refused") {
    const isOwn = reached.some(({ provider }) => (call.ownKeys?.of(provider.id).length ?? 0) > 0);
    const message = refusedCredential(model.id, isOwn);
    return fail("upstream_all_out", message, { retryAfterMs: plan.retryAfterMs, details, retryable: false });
  }
  const { format } = call.incoming;
  const missing = missingEverywhere([...reached, ...unreachable], plan, request.facts);
  if (missing !== undefined) {
    const message = `${model.id} does not support ${needWords[missing]}.`;
    return fail("capability_not_supported", message, { param: neededAt(format, request, missing), details });
  }
  const most = mostOutput(reached, asked);
  if (most > 0) return limitError(model.id, most, call, details);
  const overflow = overflowOf(reached, asked);
  if (overflow !== undefined) return overflowError(overflow, call, details);
  const isConfigured = excluded.some(({ kind }) => kind !== "not_configured");
  if (!isConfigured)
    return fail("no_endpoint", `No endpoint of ${model.id} is configured on this gateway.`, { details });
  const found = leftOut(reached, asked);
  const message = `No endpoint of ${model.id} satisfies this request. ${leftOutText(found, model.id)}`;
  return fail("no_endpoint", message.trimEnd(), { details: { ...details, excluded_by: leftOutWire(found) } });
}

/**
 * The longest answer, in tokens, of the endpoints that are left out for no reason but that a longer one is asked for, by a call that
 * forbids to lower its limit; 0 where there are none.
 */
function mostOutput(endpoints: readonly Endpoint[], { facts, decision }: PlannedFor): number {
  if (facts.lowersLimit === true) return 0;
  const lowering = { ...facts, lowersLimit: true };
  const open = endpoints.filter((endpoint) => exclusionOf(endpoint, lowering, decision) === undefined);
  return Math.max(0, ...open.map(({ maxOutput }) => maxOutput));
}

function limitError(
  model: string,
  most: number,
  { incoming, request }: ReadCall,
  details: { readonly excluded: unknown },
): WeirError {
  const { maxTokens } = request.facts;
  const message = `${maxTokens} output tokens are asked for, and ${model} gives ${most} at most; svc.compat.strict is set, so the limit is not lowered.`;
  const param = limitPointer(incoming.format.name, request);
  return fail("invalid_value", message, { ...(param !== undefined && { param }), details });
}

/**
 * The overflow of a prompt that would be served if it were shorter: some endpoint is left out for no reason but its context. What other
 * endpoints are left out for does not matter then, since the client can only shorten the prompt.
 */
function overflowOf(endpoints: readonly Endpoint[], { facts, decision }: PlannedFor): Overflow | undefined {
  const { longestTokens, ...others } = facts;
  const short = { ...others, promptTokens: 0, maxTokens: undefined };
  const open = endpoints.filter(
    (endpoint) =>
      exclusionOf(endpoint, facts, decision)?.kind === "context" &&
      exclusionOf(endpoint, short, decision) === undefined,
  );
  if (open.length === 0) return undefined;
  return {
    tokens: longestTokens ?? facts.promptTokens,
    answer: Math.min(facts.maxTokens ?? 1, ...open.map(({ maxOutput }) => maxOutput)),
    maximum: Math.max(...open.map(({ contextLength }) => contextLength)),
    isEstimated: true,
    said: "",
  };
}

/** The requirements as clients receive them. */
const leftOutWire = ({ by }: LeftOut) =>
  by.map(({ filter, value, setBy, endpoints }) => ({ filter, value, set_by: setBy, endpoints }));

/** @param isOwn an own key of the org is among those that were refused: the org must replace that one */
export const refusedCredential = (modelId: string, isOwn: boolean): string =>
  isOwn
    ? `The provider behind ${modelId} refuses the credential that it is called with: check your organisation's own provider key.`
    : `The provider behind ${modelId} refuses the gateway's credential or account. Its operator has to put that right.`;

/**
 * The exclusion of an endpoint that this gateway cannot use: clients learn that it exists, operators at the start what it
 * lacks.
 */
const unreachableExclusion = ({ id, status, provider }: Endpoint): Exclusion =>
  provider.isSwitchedOff || status !== "active"
    ? { endpointId: id, kind: "status", reason: "it is switched off" }
    : { endpointId: id, kind: "not_configured", reason: "its provider is not configured on this gateway" };

/**
 * A capability that the request needs and no endpoint of the model has; or, if all endpoints are excluded by capabilities
 * and each has some of what is needed, one that the first lacks.
 */
function missingEverywhere(
  endpoints: readonly Endpoint[],
  { excluded }: Plan,
  facts: RequestFacts,
): Need | undefined {
  const [first] = endpoints;
  if (first === undefined) return undefined;
  const needs = { ...facts, reasoning: false };
  const together = { ...first.capabilities };
  for (const { capabilities } of endpoints) {
    for (const need of NEEDS) together[need] ||= capabilities[need];
  }
  const isOnlyByCapability = excluded.length > 0 && excluded.every(({ kind }) => kind === "capability");
  return (
    missingCapability(together, needs) ??
    (isOnlyByCapability ? missingCapability(first.capabilities, needs) : undefined)
  );
}
