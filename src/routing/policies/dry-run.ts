/**
 * What a policy version would do with one call: the decision, the plan with the cost of each attempt, and why every
 * other endpoint is excluded. Read-only; nothing is called or charged.
 */
import { z } from "zod";
import type { Random } from "../../base/clock.ts";
import type { Endpoint, Model } from "../../base/endpoint.ts";
import { lineMicroUsd } from "../../base/money.ts";
import * as field from "../../base/operation/fields.ts";
import type { RouteOptions } from "../../base/route.ts";
import { affinityShape, sortShape } from "../../base/route-schema.ts";
import type { HealthView } from "../health/health.ts";
import { decisionNotes, type PolicyFacts } from "../language/policy.ts";
import type { Decision } from "../planner/decision.ts";
import { excludedWire, type RouteFacts } from "../planner/eligibility.ts";
import { leftOut, leftOutText } from "../planner/left-out.ts";
import { type Plan, plan } from "../planner/planner.ts";
import { expectedOutputTokens } from "../planner/sorts.ts";
import { trialsShape, trialsWire } from "./dry-run-trials.ts";
import type { ParsedVersion } from "./policies.ts";

/** The facts of a call that a policy and the planner read. */
export interface DryCall
  extends Pick<RouteFacts, "environment" | "maxTokens" | "hasAudio" | "hasSchema" | "orgPolicy"> {
  readonly model: Model;
  readonly facts: PolicyFacts;
  /** Hashes of end user and session; empty where there is none. */
  readonly user: string;
  readonly session: string;
  readonly route: RouteOptions;
}

export const dryRunShape = {
  decision: z
    .object({
      sort: sortShape,
      affinity: affinityShape,
      max_attempts: z.int().describe("So many endpoints are asked at most, one after the other."),
      notes: z.array(z.string()).describe("Why, in words."),
      rule: z.string().describe("The rule that applies; empty: none matches, the defaults apply"),
      deny: z.string().optional().describe("The call is refused, with these words"),
    })
    .optional()
    .describe("What the version decides for such a call."),
  plan: z
    .array(
      z.object({
        attempt: z.int().describe("Which attempt it was, from 1."),
        endpoint_id: field.endpointId,
        provider: field.providerId,
        region: field.region,
        est_cost_micro: z.int().describe("What it is expected to cost there, micro-USD."),
        price: z
          .object({
            input: z.number().describe("Of the prompt."),
            output: z.number().describe("Of the answer."),
          })
          .describe("USD per million tokens, as charged."),
        health: z
          .object({
            error_rate: z.number().describe("Of calls of about the last minute, 0 to 1."),
            first_token_ms: z
              .number()
              .nullable()
              .describe("Time to the first token of streams, milliseconds; null: not measured lately."),
            whole_ms: z
              .number()
              .nullable()
              .describe(
                "Time to the end of answers that are no streams, milliseconds; null: not measured lately.",
              ),
          })
          .nullable()
          .describe("As it is now; null: nothing is known."),
        reason: z.string().describe("Why it stands there."),
      }),
    )
    .describe("The endpoints that would be asked, in order."),
  reserve_micro: z
    .int()
    .describe(
      "About what would be held until the call has ended, micro-USD: the prompt and the longest answer, at the dearest of these endpoints. A stream without `max_output_tokens` is held for a usual answer, and for more as it grows.",
    ),
  trials: trialsShape,
  excluded: field.excluded,
  trace: field.trace,
};

const shape = z.object(dryRunShape);
export type DryRun = z.input<typeof shape>;

interface Surroundings {
  readonly health: HealthView;
  readonly random: Random;
  /** Answer tokens that are held at first for a stream which names no bound. */
  readonly usualAnswerTokens: number;
}

const NOTHING_DRAWN = { canary: "", arm: "", shadow: undefined };

/** Uses the canary's current state; a canary that never ran is warming. */
export function dryRun(
  version: ParsedVersion,
  call: DryCall,
  { health, random, usualAnswerTokens }: Surroundings,
): DryRun {
  const decision = version.compiled.decide(call.facts, call.route);
  const told = {
    sort: decision.sort,
    affinity: decision.affinity,
    max_attempts: decision.maxAttempts,
    notes: decisionNotes(decision),
    rule: decision.rule,
  };
  const { canaryState } = version.active;
  if (decision.deny !== undefined) {
    return {
      reserve_micro: 0,
      trials: trialsWire(decision, NOTHING_DRAWN, canaryState),
      decision: { ...told, deny: decision.deny },
      plan: [],
      excluded: [],
      trace: `deny: ${decision.deny}`,
    };
  }
  const facts = routeFacts(version, call, decision);
  const made = plan(facts, call.model, decision, health, random);
  const { model, route } = call;
  const why =
    made.attempts.length > 0
      ? ""
      : leftOutText(leftOut(model.endpoints, { facts, decision, route }), model.id);
  const notes = why === "" ? told.notes : [...told.notes, why];
  return {
    decision: { ...told, notes },
    ...planWire(made, call, health),
    reserve_micro: reserveMicroUsd(made, call, usualAnswerTokens),
    trials: trialsWire(decision, made, canaryState),
  };
}

function routeFacts({ active }: ParsedVersion, call: DryCall, decision: Decision): RouteFacts {
  const { facts, user, session } = call;
  const { canary } = decision;
  return {
    environment: call.environment,
    stream: facts.stream,
    hasTools: facts.hasTools,
    parallelTools: false,
    hasImages: facts.hasImages,
    hasAudio: call.hasAudio,
    hasSchema: call.hasSchema,
    reasoning: false,
    promptTokens: facts.inputTokens,
    maxTokens: call.maxTokens,
    lowersLimit: true,
    affinityKey: decision.affinity === "user" ? user : decision.affinity === "session" ? session : "",
    unit: user || session,
    isCanaryRed: canary !== undefined && active.canaryState(canary.endpoint) === "red",
    orgPolicy: call.orgPolicy,
  };
}

function planWire(
  made: Plan,
  call: DryCall,
  health: HealthView,
): Pick<DryRun, "plan" | "excluded" | "trace"> {
  const ranking = made.ranking();
  return {
    plan: made.attempts.map((endpoint, i) => ({
      attempt: i + 1,
      endpoint_id: endpoint.id,
      provider: endpoint.provider.id,
      region: endpoint.region,
      est_cost_micro: expectedCostMicroUsd(
        endpoint,
        call.facts.inputTokens,
        made.limits?.get(endpoint.id) ?? call.maxTokens,
      ),
      price: { input: usdPerMillion(endpoint.prices.input), output: usdPerMillion(endpoint.prices.output) },
      health: healthWire(health.of(endpoint)),
      reason: ranking[i]?.reason ?? "",
    })),
    excluded: excludedWire(made.excluded),
    trace: made.trace(),
  };
}

const NANO_PER_MICRO = 1000;
/** @param nano of a dollar for one token */
const usdPerMillion = (nano: number): number => nano / NANO_PER_MICRO;

const healthWire = (seen: ReturnType<HealthView["of"]>): DryRun["plan"][number]["health"] =>
  seen === undefined
    ? null
    : {
        error_rate: seen.errorRate,
        first_token_ms: seen.ttftMs ?? null,
        whole_ms: seen.wholeMs ?? null,
      };

/** The prompt and the longest answer at the dearest endpoint that may be asked. */
function reserveMicroUsd({ attempts, limits }: Plan, call: DryCall, usualAnswerTokens: number): number {
  let most = 0;
  for (const { id, task, prices, maxOutput } of attempts) {
    const longest = call.facts.stream ? Math.min(maxOutput, usualAnswerTokens) : maxOutput;
    const asked = limits?.get(id) ?? call.maxTokens ?? longest;
    const output = task === "generate" ? lineMicroUsd(asked, prices.output) : 0;
    most = Math.max(most, lineMicroUsd(call.facts.inputTokens, prices.input) + output);
  }
  return most;
}

/** The charge with as many output tokens as the planner expects; none for tasks without output. */
export function expectedCostMicroUsd(
  { prices, task }: Endpoint,
  inputTokens: number,
  maxTokens: number | undefined,
): number {
  const outputTokens = task === "generate" ? Math.ceil(expectedOutputTokens(inputTokens, maxTokens)) : 0;
  return lineMicroUsd(inputTokens, prices.input) + lineMicroUsd(outputTokens, prices.output);
}
