/**
 * Plans recorded calls again under one version of a policy and compares the result with what happened. Pure: no clock,
 * and randomness is seeded with the request's id, so that the same calls give the same report.
 */

import { seededRandom } from "../../../base/clock.ts";
import type { Endpoint, Model } from "../../../base/endpoint.ts";
import type { RouteOptions } from "../../../base/route.ts";
import { costOf } from "../../../base/usage.ts";
import { hashOf } from "../../hash.ts";
import type { EndpointHealth, HealthView } from "../../health/health.ts";
import type { CompiledPolicy } from "../../language/policy.ts";
import type { Decision } from "../../planner/decision.ts";
import type { RouteFacts } from "../../planner/eligibility.ts";
import { type Plan, plan } from "../../planner/planner.ts";
import type { RecordedCall } from "./replay-calls.ts";
import { FAILED, type FlowEnd, REFUSED } from "./replay-flows.ts";
import { type Refusal, ReplayTally, type Then } from "./replay-tally.ts";

/** Medians of an endpoint, and its error rate. */
export interface EndpointFigures
  extends Pick<EndpointHealth, "ttftMs" | "wholeMs" | "tokensPerSecond" | "errorRate"> {
  readonly endpointId: string;
}

export interface ReplaySettings {
  readonly policy: CompiledPolicy;
  /** The org's, as of today. */
  readonly dataPolicy: RouteFacts["orgPolicy"];
  /** By full id. */
  readonly models: ReadonlyMap<string, Model>;
  /** Project id → slug. */
  readonly slugs: ReadonlyMap<string, string>;
  readonly figures: readonly EndpointFigures[];
}

/** Refusals that depend on the plan; any other refusal would happen again. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  denied_by_policy: "denied_by_policy",
  no_endpoint: "no_endpoint",
  context_length_exceeded: "no_endpoint",
};
/** Estimate for unanswered calls, which have no recorded count: the gateway's own rule. */
const BYTES_PER_TOKEN = 4;
/** Distinct texts of `svc.route` cached; a client writes few. */
const MAX_ROUTES = 1000;

export class ReplayRun {
  readonly tally = new ReplayTally();
  readonly #settings: ReplaySettings;
  readonly #health: FixedHealth;
  readonly #routes = new Map<string, RouteOptions>();

  constructor(settings: ReplaySettings) {
    this.#settings = settings;
    this.#health = new FixedHealth(settings.figures);
  }

  add(call: RecordedCall): void {
    const isRefused = call.status === "rejected";
    const refusedThen = isRefused ? REFUSALS[call.errorCode] : undefined;
    if (isRefused && refusedThen === undefined) {
      this.tally.skip(call.errorCode === "model_not_found" ? "unknown_model" : "rejected");
      return;
    }
    const model = this.#settings.models.get(call.model);
    if (model === undefined) {
      this.tally.skip("unknown_model");
      return;
    }
    let decision: Decision;
    let planned: Plan | undefined;
    try {
      decision = this.#decide(call);
      if (decision.deny === undefined) planned = this.#plan(call, model, decision);
    } catch {
      // Options of an earlier grammar: one record must not fail the whole replay.
      this.tally.skip("unreadable");
      return;
    }
    this.tally.decided(decision.rule, call.endpointId, refusedThen, call.status === "error");
    this.#compare(call, model, decision, planned);
  }

  #decide(call: RecordedCall): Decision {
    return this.#settings.policy.decide(
      {
        modelId: call.model,
        projectId: call.projectId,
        projectSlug: this.#settings.slugs.get(call.projectId) ?? "",
        keyId: call.keyId,
        app: call.app,
        tags: call.tags,
        stream: call.stream,
        hasTools: call.hasTools,
        hasImages: call.hasImages,
        inputTokens: promptTokensOf(call),
      },
      this.#routeOf(call),
    );
  }

  #plan(call: RecordedCall, model: Model, decision: Decision): Plan {
    const facts: RouteFacts = {
      environment: call.environment,
      stream: call.stream,
      hasTools: call.hasTools,
      parallelTools: call.parallelTools,
      hasImages: call.hasImages,
      hasAudio: call.hasAudio,
      hasSchema: call.hasSchema,
      reasoning: false,
      promptTokens: promptTokensOf(call),
      // These tasks read their inputs one by one, and the lengths are not recorded.
      ...(model.task !== "generate" && { longestTokens: 1 }),
      maxTokens: call.maxTokens === 0 ? undefined : call.maxTokens,
      // Whether a call forbids it is not recorded.
      lowersLimit: true,
      affinityKey: stickToOf(call, decision),
      unit: call.userHash || call.sessionHash,
      isCanaryRed: false,
      orgPolicy: this.#settings.dataPolicy,
    };
    const random = seededRandom(hashOf(call.requestId));
    return plan(facts, model, decision, this.#health, random);
  }

  #compare(call: RecordedCall, model: Model, decision: Decision, planned: Plan | undefined): void {
    const then: Then = {
      end: endThen(call),
      recordedAt: call.endpointId,
      recordedMicroUsd: call.charged ? call.costMicroUsd : 0,
    };
    const refuse = (what: Refusal, reason: string) => this.tally.refused(what, call.requestId, reason, then);
    if (planned === undefined) {
      refuse("denied_by_policy", decision.deny ?? "");
      return;
    }
    if (planned.attempts.length === 0) {
      refuse("no_endpoint", whyNone(model, planned));
      return;
    }
    const endpoint = planned.attempts.find(({ id }) => isAnswering(call, id));
    const stays = endpoint?.id === call.endpointId;
    // What its endpoint refused as invalid is invalid there again, and no other endpoint is asked.
    if (endpoint === undefined || (stays && call.status === "error")) {
      this.tally.failed(then);
      return;
    }
    this.tally.served({
      ...then,
      replayedAt: endpoint.id,
      replayedMicroUsd: call.charged ? costAt(call, endpoint) : 0,
      // The first byte of a non-streamed answer comes with the last: it is no time to first token.
      recordedTtftMs: call.stream ? call.ttftMs : 0,
      expectedTtftMs: stays ? call.ttftMs : this.#health.waitMs(endpoint, call.stream),
    });
  }

  #routeOf({ routeOptions }: RecordedCall): RouteOptions {
    if (routeOptions === "") return NO_OPTIONS;
    let route = this.#routes.get(routeOptions);
    if (route === undefined) {
      const parsed: unknown = JSON.parse(routeOptions);
      if (typeof parsed !== "object" || parsed === null) throw new TypeError("no options of a route");
      route = parsed;
      if (this.#routes.size >= MAX_ROUTES) this.#routes.clear();
      this.#routes.set(routeOptions, route);
    }
    return route;
  }
}

/** A call whose client left before an endpoint was asked counts as failed. */
function endThen({ status, endpointId }: RecordedCall): FlowEnd {
  if (status === "rejected") return REFUSED;
  return status === "error" || endpointId === "" ? FAILED : { outcome: "served", endpointId };
}

const NO_OPTIONS: RouteOptions = Object.freeze({});

/** Prompt tokens; an unanswered call has no count, and images or audio would distort the estimate. */
function promptTokensOf(call: RecordedCall): number {
  const { inputTokens } = call.usage;
  if (inputTokens > 0 || call.hasImages || call.hasAudio) return inputTokens;
  return Math.ceil(call.bytesIn / BYTES_PER_TOKEN);
}

/** The start of the prompt is not recorded, so affinity by prompt counts as none. */
function stickToOf(call: RecordedCall, { affinity }: Decision): string {
  if (affinity === "user") return call.userHash;
  return affinity === "session" ? call.sessionHash : "";
}

/** An endpoint that failed the recorded call fails it again, unless it answered in the end. */
const isAnswering = (call: RecordedCall, id: string): boolean =>
  !call.failedAt.includes(id) || (id === call.endpointId && call.status !== "error");

function whyNone(model: Model, { excluded }: Plan): string {
  const [first] = excluded;
  if (first === undefined) return `${model.id} has no endpoint`;
  const others = excluded.length > 1 ? `; ${excluded.length - 1} more are left out` : "";
  return `${first.endpointId}: ${first.reason}${others}`;
}

/** Cost of the recorded usage at an endpoint, micro-USD; 0 where nothing was used. */
function costAt(call: RecordedCall, { id, prices }: Endpoint): number {
  const { usage, images } = call;
  if (call.usageSource === "none") return 0;
  if (id !== call.endpointId) {
    // The other endpoint has not cached the prompt.
    const fresh = { ...usage, cacheReadTokens: 0, cacheWriteTokens: 0 };
    return costOf(fresh, prices, images).total_micro_usd;
  }
  // The recorded amount includes more than the usage: how long cache entries are kept, and whose key was used.
  return call.byok || call.priceVersion === prices.version
    ? call.costMicroUsd
    : costOf(usage, prices, images).total_micro_usd;
}

/** Health that does not change: nothing saturates, recovers or is probed. */
class FixedHealth implements HealthView {
  readonly #seen = new Map<string, EndpointHealth>();

  constructor(figures: readonly EndpointFigures[]) {
    for (const { endpointId, ...seen } of figures) this.#seen.set(endpointId, { ...UNMEASURED, ...seen });
  }

  of(endpoint: Endpoint): EndpointHealth {
    return this.#seen.get(endpoint.id) ?? UNMEASURED;
  }

  /** Median time to the first token, or to the whole answer if not streamed; undefined without measurements. */
  waitMs(endpoint: Endpoint, stream: boolean): number | undefined {
    const { ttftMs, wholeMs } = this.of(endpoint);
    return stream ? ttftMs : wholeMs;
  }
}

/** Live, one call at a time would measure; if every call did so here, all would go to unmeasured endpoints. */
const UNMEASURED: EndpointHealth = Object.freeze({
  outForMs: 0,
  errorRate: 0,
  failing: false,
  isBeingMeasured: true,
  ttftMs: undefined,
  wholeMs: undefined,
  tokensPerSecond: undefined,
});
