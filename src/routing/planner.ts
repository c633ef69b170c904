/**
 * Turns a call and a model into the ordered list of endpoints to try. Pure: the same facts, health and random
 * numbers give the same plan, whatever the order of the catalog. Ties go to the lower endpoint id.
 */
import type { Random } from "../clock.ts";
import type { Endpoint, Model } from "../endpoint.ts";
import type { Sort } from "../route.ts";
import type { Decision } from "./decision.ts";
import { type Exclusion, exclusionOf, type RouteFacts } from "./eligibility.ts";
import type { EndpointHealth, HealthView } from "./health.ts";

export interface RankedEndpoint {
  readonly endpointId: string;
  /** Lower is tried earlier; comparable within one plan and one sort only. */
  readonly score: number;
  readonly reason: string;
}

export interface Plan {
  readonly decision: Decision;
  /** The canary in whose share the call is: an endpoint id; empty where it is in none. */
  readonly canary: string;
  /** Of the experiment; empty where there is none. */
  readonly arm: string;
  /** Sent a copy of the call. */
  readonly shadow: Endpoint | undefined;
  /** In the order to try; empty when nothing may serve the call. */
  readonly attempts: readonly Endpoint[];
  readonly excluded: readonly Exclusion[];
  /** Nothing is left, and only because what would be is cooling down. */
  readonly allSaturated: boolean;
  /** With `allSaturated`: when the first of them returns; else 0. */
  readonly retryAfterMs: number;
  /** Why each attempt stands where it stands. */
  ranking(): readonly RankedEndpoint[];
  /** The plan in one line: tried and left out, with reasons. */
  trace(): string;
}

/** A typical chat call reads three tokens for each it writes, and rarely writes fewer than this. */
const TYPICAL_OUTPUT_TOKENS = 256;

interface Candidate {
  readonly endpoint: Endpoint;
  readonly health: EndpointHealth | undefined;
  /** Position in `order`; then all others; then all others that fail. Compared before the score. */
  readonly tier: number;
  score: number;
}

/**
 * Filters, then ranks by `decision.order` and by the sort:
 *
 * - `price`: expected cost = prompt tokens × input + expected output tokens × output, as charged. Expected output is
 *   a third of the prompt, at least 256, at most `max_tokens`.
 * - `latency`: mean time to first token; `throughput`: mean output tokens a second. An endpoint that was not
 *   observed lately comes first, so that it gets observed.
 * - `balanced` (default): a weighted draw; weight = (cheapest expected cost ÷ own)² × (1 − error rate)² ×
 *   (shortest time to first token ÷ own, at least ¼). Most calls go to the cheap and healthy, some to each.
 *
 * Endpoints where most recent calls failed come after all others. `fallbacks: false` leaves the first endpoint, or
 * with `order` those that it names.
 */
export function plan(
  facts: RouteFacts,
  model: Model,
  decision: Decision,
  health: HealthView,
  random: Random,
): Plan {
  const excluded: Exclusion[] = [];
  const candidates: Candidate[] = [];
  let soonestMs = Number.POSITIVE_INFINITY;
  for (const endpoint of byId(model)) {
    const exclusion = exclusionOf(endpoint, facts, decision);
    if (exclusion !== undefined) {
      excluded.push(exclusion);
      continue;
    }
    const seen = health.of(endpoint);
    const outForMs = seen === undefined ? 0 : seen.outForMs;
    if (outForMs > 0) {
      soonestMs = Math.min(soonestMs, outForMs);
      excluded.push({
        endpointId: endpoint.id,
        kind: "saturated",
        reason: `it is saturated and cools down for ${Math.ceil(outForMs)} ms`,
      });
      continue;
    }
    candidates.push({
      endpoint,
      health: seen,
      tier: tierOf(endpoint, seen, decision.order, facts.preferred),
      score: 0,
    });
  }
  const sort = decision.sort;
  if (candidates.length > 1) {
    score(candidates, sort, facts, random);
    candidates.sort(byTierScoreId);
    if (!decision.fallbacks && !decision.order?.length) leaveFirst(candidates, excluded);
  }
  return new FinishedPlan(candidates, excluded, decision, soonestMs);
}

class FinishedPlan implements Plan {
  readonly decision: Decision;
  readonly canary = "";
  readonly arm = "";
  readonly shadow: Endpoint | undefined = undefined;
  readonly attempts: readonly Endpoint[];
  readonly excluded: readonly Exclusion[];
  readonly allSaturated: boolean;
  readonly retryAfterMs: number;
  readonly #ranked: readonly Candidate[];
  readonly #sort: Sort;

  constructor(
    ranked: readonly Candidate[],
    excluded: readonly Exclusion[],
    decision: Decision,
    soonestMs: number,
  ) {
    this.decision = decision;
    this.attempts = ranked.map((c) => c.endpoint);
    this.excluded = excluded;
    this.allSaturated = ranked.length === 0 && soonestMs !== Number.POSITIVE_INFINITY;
    this.retryAfterMs = this.allSaturated ? Math.ceil(soonestMs) : 0;
    this.#ranked = ranked;
    this.#sort = decision.sort;
  }

  ranking(): readonly RankedEndpoint[] {
    return this.#ranked.map((c) => ({
      endpointId: c.endpoint.id,
      score: c.score,
      reason: reasonOf(c, this.#sort, this.#ranked.length),
    }));
  }

  trace(): string {
    const tried = this.ranking().map((r, i) => `${i + 1} ${r.endpointId} (${r.reason})`);
    const out = this.excluded.map((x) => `${x.endpointId} (${x.kind}: ${x.reason})`);
    return `sort=${this.#sort}; try: ${tried.join(", ") || "none"}; out: ${out.join(", ") || "none"}`;
  }
}

/** A model's endpoints by id, made once for each snapshot of the catalog. */
const sortedOnce = new WeakMap<Model, readonly Endpoint[]>();

function byId(model: Model): readonly Endpoint[] {
  let sorted = sortedOnce.get(model);
  if (sorted === undefined) {
    sorted = [...model.endpoints].sort((a, b) => (a.id < b.id ? -1 : 1));
    sortedOnce.set(model, sorted);
  }
  return sorted;
}

function tierOf(
  endpoint: Endpoint,
  health: EndpointHealth | undefined,
  order: readonly string[] | undefined,
  preferred: string | undefined,
): number {
  if (order === undefined && endpoint.id === preferred) return -1;
  const listed = order === undefined ? 0 : order.length;
  for (let i = 0; i < listed; i++) {
    const id = order?.[i];
    if (id === endpoint.id || id === endpoint.provider.id) return i;
  }
  return health?.failing === true ? listed + 1 : listed;
}

function byTierScoreId(a: Candidate, b: Candidate): number {
  if (a.tier !== b.tier) return a.tier - b.tier;
  if (a.score !== b.score) return a.score < b.score ? -1 : 1;
  return a.endpoint.id < b.endpoint.id ? -1 : 1;
}

function score(candidates: readonly Candidate[], sort: Sort, facts: RouteFacts, random: Random): void {
  switch (sort) {
    case "price":
      for (const c of candidates) c.score = expectedCostNano(c.endpoint, facts);
      return;
    case "latency":
      for (const c of candidates) c.score = c.health?.ttftMs ?? -1;
      return;
    case "throughput":
      for (const c of candidates) c.score = -(c.health?.tokensPerSecond ?? Number.MAX_VALUE);
      return;
    case "balanced":
      draw(candidates, facts, random);
  }
}

/** Expected charge of the call in nano-USD, for comparison only; money is settled from reported usage. */
function expectedCostNano({ prices }: Endpoint, { promptTokens, maxTokens }: RouteFacts): number {
  const input = Math.max(promptTokens, 1);
  const output = Math.max(Math.min(Math.max(input / 3, TYPICAL_OUTPUT_TOKENS), maxTokens ?? Infinity), 1);
  return input * prices.input + output * prices.output;
}

/**
 * Weighted order without replacement: each candidate draws an exponential time with its weight as rate, and the
 * shortest goes first (Efraimidis and Spirakis, 2006). Draws are made in id order.
 */
function draw(candidates: readonly Candidate[], facts: RouteFacts, random: Random): void {
  let cheapest = Number.POSITIVE_INFINITY;
  let quickestMs = Number.POSITIVE_INFINITY;
  for (const c of candidates) {
    c.score = expectedCostNano(c.endpoint, facts);
    cheapest = Math.min(cheapest, c.score);
    quickestMs = Math.min(quickestMs, c.health?.ttftMs ?? quickestMs);
  }
  for (const c of candidates) {
    const cheapness = (cheapest + 1) / (c.score + 1);
    const soundness = Math.max(1 - (c.health?.errorRate ?? 0), 0.05);
    const ttftMs = c.health?.ttftMs;
    const quickness = ttftMs === undefined ? 1 : Math.max((quickestMs + 1) / (ttftMs + 1), 0.25);
    const weight = cheapness * cheapness * soundness * soundness * quickness;
    c.score = -Math.log(1 - random()) / weight;
  }
}

function leaveFirst(candidates: Candidate[], excluded: Exclusion[]): void {
  for (const { endpoint } of candidates.splice(1)) {
    excluded.push({
      endpointId: endpoint.id,
      kind: "route",
      reason: "another endpoint ranks first, and fallbacks are off",
    });
  }
}

function reasonOf(candidate: Candidate, sort: Sort, of: number): string {
  const { health } = candidate;
  if (of === 1) return "the only endpoint that may serve the call";
  if (health?.failing) return "recent calls failed";
  switch (sort) {
    case "price":
      return `about ${(candidate.score / 1e9).toPrecision(3)} USD`;
    case "latency":
      return health?.ttftMs === undefined ? "not measured lately" : `${Math.round(health.ttftMs)} ms`;
    case "throughput":
      return health?.tokensPerSecond === undefined
        ? "not measured lately"
        : `${Math.round(health.tokensPerSecond)} tokens/s`;
    case "balanced":
      return "weighted draw over price, health and latency";
  }
}
