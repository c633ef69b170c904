/** Planning: the model and the ordered endpoints that may serve the call, or the error that says why none may. */
import type { CatalogSnapshot } from "../catalog/catalog.ts";
import type { Random } from "../clock.ts";
import type { Model } from "../endpoint.ts";
import { fail, type WeirError } from "../errors.ts";
import type { HealthView } from "../routing/health.ts";
import { type Plan, plan } from "../routing/planner.ts";
import type { Admitted, Planned } from "./call.ts";

export interface PlanDeps {
  readonly catalog: { current(): CatalogSnapshot };
  readonly health: HealthView;
  readonly random: Random;
}

/** @throws WeirError `model_not_found`, `no_endpoint`, `context_length_exceeded`, `upstream_all_out`. */
export function planCall(deps: PlanDeps, { call, request }: Admitted): Planned {
  const { facts, svc } = request;
  const model = deps.catalog.current().resolve(facts.model);
  if (model === undefined) {
    throw fail("model_not_found", `There is no model "${facts.model.slice(0, 200)}".`, { param: "/model" });
  }
  call.model = model;
  const { environment, dataPolicy } = call.key;
  const planned = plan(
    { ...facts, environment, orgPolicy: dataPolicy, reasoning: false },
    model,
    svc.route,
    deps.health,
    deps.random,
  );
  call.plan = planned;
  if (planned.attempts.length === 0) throw nothingLeft(planned, model);
  return { call, request, model, plan: planned };
}

function nothingLeft(planned: Plan, model: Model): WeirError {
  if (planned.allSaturated) {
    return fail("upstream_all_out", `Every endpoint of ${model.id} is saturated. Try again later.`, {
      retryAfterMs: planned.retryAfterMs,
    });
  }
  const { excluded } = planned;
  if (excluded.length > 0 && excluded.every((x) => x.kind === "context")) {
    return fail("context_length_exceeded", `The prompt and max_tokens exceed the context of ${model.id}.`, {
      param: "/messages",
      details: { excluded },
    });
  }
  return fail("no_endpoint", `No endpoint of ${model.id} satisfies this request.`, { details: { excluded } });
}
