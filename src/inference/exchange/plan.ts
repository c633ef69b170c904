/** Planning: finds the model and the ordered endpoints that may serve the call, or the error that says why none may. */

import type { KeyContext } from "../../account/keyring.ts";
import type { Random } from "../../base/clock.ts";
import type { Endpoint, Model } from "../../base/endpoint.ts";
import { fail } from "../../base/errors.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { CatalogSnapshot } from "../../catalog/models/catalog.ts";
import type { Health, OwnKeys } from "../../routing/health/health.ts";
import { type ActivePolicy, decideAlone } from "../../routing/language/policy.ts";
import type { Decision } from "../../routing/planner/decision.ts";
import type { RouteFacts } from "../../routing/planner/eligibility.ts";
import { plan } from "../../routing/planner/planner.ts";
import type { ClientFormat } from "../../wire/format.ts";
import type { RequestFacts } from "../../wire/neutral/contract.ts";
import { canAnswer } from "../../wire/passages.ts";
import { affinityKey } from "./affinity.ts";
import type { Bodies } from "./body/bodies.ts";
import type { AdmittedCall, Call, PlannedCall, ReadCall } from "./call.ts";
import { emptyPlanError } from "./empty-plan.ts";

export interface PlanDeps {
  readonly catalog: { current(): CatalogSnapshot };
  readonly health: Pick<Health, "of" | "with">;
  readonly random: Random;
  /** Finds the policy in force for a key's project or org, in constant time. */
  readonly policies: { of(key: Pick<KeyContext, "orgId" | "projectId">): ActivePolicy | undefined };
  readonly ownKeys: { of(orgId: string): OwnKeys | undefined };
  /** A count may be refused: then the estimate is used. */
  readonly bodies: Pick<Bodies, "countPrompt">;
}

/** The prompt is counted if the estimate is within this factor of an endpoint's limit, above or below. */
const NEAR = 2;
/** Share of a JSON text's count that is the prompt: keys and quotes must not make a prompt too long. */
const TEXT_SHARE = 0.95;

/**
 * Returns a promise if the prompt is so near to a context's length that it must be counted first.
 * @throws WeirError `model_not_found`, `capability_not_supported`, `denied_by_policy`, `no_endpoint`,
 * `context_length_exceeded`, `upstream_all_out`
 */
export function planCall(deps: PlanDeps, call: AdmittedCall): MaybePromise<PlannedCall> {
  const { request } = call;
  const { facts } = request;
  const model = modelOf(deps.catalog.current(), call);
  call.model = model;
  const { task } = call.incoming.format;
  if (model.task !== task) {
    const message = `${model.id} is a model to ${model.task} with, and this route asks it to ${task}.`;
    throw fail("capability_not_supported", message, { param: "/model" });
  }
  const reachable = answering(reachableModel(deps, call, model), call.incoming.format);
  if (task !== "generate" || request.hasOpaque || !isNear(reachable, facts))
    return planned(deps, call, model, reachable, facts.promptTokens);
  return plannedCounted(deps, call, model, reachable);
}

async function plannedCounted(
  deps: PlanDeps,
  call: ReadCall,
  model: Model,
  reachable: Model,
): Promise<PlannedCall> {
  const { request } = call;
  const promptTokens = await deps.bodies.countPrompt(call.incoming.format, request).then(
    (tokens) => Math.floor(tokens * TEXT_SHARE),
    () => request.facts.promptTokens,
  );
  return planned(deps, call, model, reachable, promptTokens);
}

/** The model that the call names. @throws WeirError `model_not_found` */
function modelOf(catalog: CatalogSnapshot, call: ReadCall): Model {
  const { model: name } = call.request.facts;
  const model = catalog.resolve(name);
  if (model !== undefined) return model;
  const meant = catalog.meant(name, "/model");
  call.isOtherName = true;
  return meant;
}

/** The model with the endpoints of the org's own keys. Test keys reach the simulator only, which needs no provider key. */
function reachableModel({ catalog, ownKeys }: PlanDeps, call: Call, model: Model): Model {
  call.ownKeys = call.key.environment === "test" ? undefined : ownKeys.of(call.key.orgId);
  return call.ownKeys?.modelFor(model, catalog.current().unreachable(model.id)) ?? model;
}

/**
 * The model with those of its endpoints that can answer in the client's format.
 * @throws WeirError `capability_not_supported` where none of them can
 */
function answering(model: Model, format: ClientFormat): Model {
  const { endpoints } = model;
  // By index, like the next: V8 makes an iterator of a list that is frozen, as those of the catalog are.
  for (let i = 0; i < endpoints.length; i++)
    if (!canAnswer(format, endpoints[i] as Endpoint)) return withThoseThatCan(model, format);
  return model;
}

function withThoseThatCan(model: Model, format: ClientFormat): Model {
  const able = model.endpoints.filter((endpoint) => canAnswer(format, endpoint));
  if (able.length > 0) return { ...model, endpoints: able };
  const message = `${model.id} only continues texts: ask it at /v1/completions.`;
  throw fail("capability_not_supported", message, { param: "/model" });
}

/** Whether the estimate is too near to some endpoint's limit to decide whether the prompt fits. */
function isNear({ endpoints }: Model, { promptTokens, maxTokens = 1 }: RequestFacts): boolean {
  for (let i = 0; i < endpoints.length; i++) {
    const { contextLength, maxOutput } = endpoints[i] as Endpoint;
    const room = contextLength - Math.min(maxTokens, maxOutput);
    // An answer that is lowered takes what the prompt leaves, and the prompt alone is too long or not.
    const most = maxTokens > maxOutput ? contextLength : room;
    if (promptTokens * NEAR > room && promptTokens < most * NEAR) return true;
  }
  return false;
}

/** @param reachable the model including the endpoints that only the org's own keys reach */
function planned(
  deps: PlanDeps,
  call: ReadCall,
  model: Model,
  reachable: Model,
  promptTokens: number,
): PlannedCall {
  const { request } = call;
  const { environment, dataPolicy } = call.key;
  const { format } = call.incoming;
  const decision = decided(deps, call, model, promptTokens);
  const { names } = call;
  call.affinityKey = affinityKey(decision.affinity, names, format, request);
  const { canary, experiment } = decision;
  const asked = request.facts;
  // Member by member: a spread of them with others behind takes half as much again.
  const facts: RouteFacts = {
    stream: asked.stream,
    hasTools: asked.hasTools,
    parallelTools: asked.parallelTools,
    hasImages: asked.hasImages,
    hasAudio: asked.hasAudio,
    hasSchema: asked.hasSchema,
    longestTokens: asked.longestTokens,
    maxTokens: asked.maxTokens,
    promptTokens,
    environment,
    orgPolicy: dataPolicy,
    lowersLimit: !request.svc.strict,
    reasoning: false,
    preferred: call.preferred?.endpointId,
    affinityKey: call.affinityKey,
    unit: experiment === undefined ? "" : names.user || names.session,
    isCanaryRed: canary !== undefined && call.policy?.canaryState(canary.endpoint) === "red",
  };
  const callPlan = plan(
    facts,
    reachable,
    decision,
    call.ownKeys === undefined ? deps.health : deps.health.with(call.ownKeys),
    deps.random,
  );
  call.plan = callPlan;
  if (callPlan.attempts.length === 0) {
    const unreachable = deps.catalog.current().unreachable(model.id);
    const wish = { facts, decision, route: request.svc.route };
    throw emptyPlanError(callPlan, reachable, unreachable, call, wish);
  }
  return call.withPlan(model, decision, callPlan);
}

/** The decision of the policy in force. @throws WeirError 403 if the policy denies this call */
function decided({ policies }: PlanDeps, call: ReadCall, model: Model, inputTokens: number): Decision {
  const { key } = call;
  const { svc, facts } = call.request;
  const active = policies.of(key);
  call.policy = active;
  const decision =
    active === undefined
      ? decideAlone(svc.route)
      : active.compiled.decide(
          {
            modelId: model.id,
            projectId: key.projectId,
            projectSlug: key.projectSlug,
            keyId: key.keyId,
            app: call.app,
            tags: svc.tags,
            stream: facts.stream,
            hasTools: facts.hasTools,
            hasImages: facts.hasImages,
            inputTokens,
          },
          svc.route,
        );
  call.decision = decision;
  if (decision.deny !== undefined) throw fail("denied_by_policy", decision.deny);
  return decision;
}

/**
 * Reports the result of a call in the canary's share to the policy. Calls that did not reach the canary do not count, nor do
 * test calls: with a test key a client could cause any number of failures, and so move live calls. If several keys of a
 * pool were tried, the last attempt counts.
 */
export function reportCanaryResult({ plan: callPlan, policy, attempts, key }: Call): void {
  if (callPlan === undefined || policy === undefined || callPlan.canary === "" || key.environment === "test")
    return;
  const attempt = attempts.findLast(({ endpointId }) => endpointId === callPlan.canary);
  if (attempt === undefined || attempt.outcome === "cancelled") return;
  // A refused request is the client's fault, unless the endpoint does not know the model: then it would refuse every call.
  if (attempt.errorClass === "client" && attempt.httpStatus !== 404) return;
  policy.canaryResult(callPlan.canary, attempt.outcome !== "ok");
}
