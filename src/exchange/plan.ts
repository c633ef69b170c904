/** Planning: the model and the ordered endpoints that may serve the call, or the error that says why none may. */
import type { CatalogSnapshot } from "../catalog/catalog.ts";
import type { Random } from "../clock.ts";
import type { Model } from "../endpoint.ts";
import { fail, type WeirError } from "../errors.ts";
import type { HealthView } from "../routing/health.ts";
import { type Plan, plan } from "../routing/planner.ts";
import { decideAlone } from "../routing/policy.ts";
import type { RequestFacts } from "../wire/contract.ts";
import type { ClientFormat } from "../wire/format.ts";
import type { Bodies } from "./bodies.ts";
import type { Admitted, Planned } from "./call.ts";

export interface PlanDeps {
  readonly catalog: { current(): CatalogSnapshot };
  readonly health: HealthView;
  readonly random: Random;
  /** Its counts may be refused: then the estimate has to do. */
  readonly bodies: Pick<Bodies, "countPrompt">;
}

/** How far an estimate may be off either way: within this factor of what an endpoint takes, the prompt is counted. */
const NEAR = 2;
/** Of a count that is of JSON, keys and quotes included; a prompt must not be refused for those. */
const TEXT_SHARE = 0.95;

/**
 * Answers at once, or with a promise where the prompt is so near a context's length that it is counted first.
 * @throws WeirError `model_not_found`, `no_endpoint`, `context_length_exceeded`, `upstream_all_out`.
 */
export function planCall(deps: PlanDeps, admitted: Admitted): Planned | Promise<Planned> {
  const { call, request } = admitted;
  const { facts } = request;
  const model = deps.catalog.current().resolve(facts.model);
  if (model === undefined) {
    throw fail("model_not_found", `There is no model "${facts.model.slice(0, 200)}".`, { param: "/model" });
  }
  call.model = model;
  const { task } = call.incoming.format;
  if (model.task !== task) {
    const message = `${model.id} is a model to ${model.task} with, and this route asks it to ${task}.`;
    throw fail("capability_not_supported", message, { param: "/model" });
  }
  if (task !== "generate" || request.hasOpaque || !isNear(model, facts))
    return planned(deps, admitted, model, facts.promptTokens);
  const counted = deps.bodies.countPrompt(call.incoming.format, request).then(
    (tokens) => Math.floor(tokens * TEXT_SHARE),
    () => facts.promptTokens,
  );
  return counted.then((promptTokens) => planned(deps, admitted, model, promptTokens));
}

/** Whether the estimate alone cannot say if some endpoint of the model takes the prompt. */
function isNear({ endpoints }: Model, { promptTokens, maxTokens }: RequestFacts): boolean {
  for (const { contextLength } of endpoints) {
    const room = contextLength - (maxTokens ?? 1);
    if (promptTokens * NEAR > room && promptTokens < room * NEAR) return true;
  }
  return false;
}

function planned(deps: PlanDeps, { call, request }: Admitted, model: Model, promptTokens: number): Planned {
  const { environment, dataPolicy } = call.key;
  const decision = decideAlone(request.svc.route);
  const made = plan(
    {
      ...request.facts,
      promptTokens,
      environment,
      orgPolicy: dataPolicy,
      reasoning: false,
      preferred: call.preferred,
      stickTo: "",
      unit: "",
      isCanaryRed: false,
    },
    model,
    decision,
    deps.health,
    deps.random,
  );
  call.plan = made;
  if (made.attempts.length === 0) throw nothingLeft(made, model, call.incoming.format);
  return { call, request, model, plan: made };
}

function nothingLeft(planned: Plan, model: Model, { promptAt }: ClientFormat): WeirError {
  if (planned.allSaturated) {
    return fail("upstream_all_out", `Every endpoint of ${model.id} is saturated. Try again later.`, {
      retryAfterMs: planned.retryAfterMs,
    });
  }
  const excluded = planned.excluded.map(({ endpointId, kind, reason }) => ({
    endpoint_id: endpointId,
    kind,
    reason,
  }));
  const [first] = excluded;
  if (first !== undefined && excluded.every((x) => x.kind === "context")) {
    const message = `The prompt and its answer exceed the context of ${model.id}: ${first.reason}.`;
    return fail("context_length_exceeded", message, {
      param: promptAt,
      details: { excluded },
    });
  }
  return fail("no_endpoint", `No endpoint of ${model.id} satisfies this request.`, { details: { excluded } });
}
