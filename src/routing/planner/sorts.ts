/**
 * The sorts: each gives an endpoint a score, lower is earlier. Users choose by these formulas; docs/policies.md repeats
 * them.
 */
import type { Endpoint } from "../../base/endpoint.ts";
import type { Sort } from "../../base/route.ts";
import type { EndpointHealth } from "../health/health.ts";
import type { RouteFacts } from "./eligibility.ts";

/** A typical chat call reads three tokens for each it writes, and rarely writes fewer than this. */
const TYPICAL_OUTPUT_TOKENS = 256;
/** With affinity an endpoint is left only for one that is better by more than this factor. */
const BAND = 1.25;
/** Score of an unmeasured endpoint that another call is measuring now. */
const LAST = Number.MAX_VALUE;

export interface Scored {
  readonly endpoint: Endpoint;
  readonly health: EndpointHealth | undefined;
  score: number;
  /** Decides among equal scores, before the id. */
  tie: number;
}

/** A number in [0, 1) for one endpoint: random, or with affinity always the same. */
export type Draw = (endpoint: Endpoint) => number;

/**
 * - `price`: expected cost = prompt tokens × input + expected output tokens × output, as charged. Expected output is a
 *   third of the prompt, at least 256, at most `max_tokens`.
 * - `latency`: mean time to the first token of streams, to the whole answer otherwise. `throughput`: mean output tokens
 *   a second. An endpoint without a measurement in the last minute comes first, for one call, which measures it.
 * - `balanced`: a weighted draw; weight = (cheapest expected cost ÷ own)² × (1 − error rate)² × (shortest time to the
 *   first token ÷ own, at least ¼). Most calls go to cheap and healthy endpoints, some to each.
 *
 * With affinity a caller draws the same numbers every time: under `balanced` it keeps its endpoint as long as the
 * weights do not change much, under `price` it chooses among equal prices, under `latency` and `throughput` among those
 * within a quarter of the best.
 */
export function score(candidates: readonly Scored[], sort: Sort, facts: RouteFacts, draw: Draw): void {
  switch (sort) {
    case "price":
      for (const c of candidates) c.score = expectedCostNano(c.endpoint, facts);
      break;
    case "latency":
      for (const c of candidates) c.score = latencyMs(c.health, facts.stream);
      band(candidates, facts.affinityKey);
      break;
    case "throughput":
      // Milliseconds per thousand tokens: lower is better here too.
      for (const c of candidates) c.score = slowness(c.health);
      band(candidates, facts.affinityKey);
      break;
    case "balanced":
      drawByWorth(candidates, facts, draw);
      return;
  }
  // With affinity the tie-break keeps the endpoint among equals; while no speed is known it spreads calls instead of
  // sending all to one.
  for (const c of candidates) if (facts.affinityKey !== "" || c.score === LAST) c.tie = draw(c.endpoint);
}

/**
 * Weighted order without replacement: an exponential time with the weight as rate, the shortest first (Efraimidis, Spirakis
 * 2006). Finite, however small the weight.
 */
export const drawnTime = (uniform: number, weight: number): number =>
  Math.min(-Math.log(1 - uniform) / weight, Number.MAX_VALUE);

/** A third of the prompt, at least {@link TYPICAL_OUTPUT_TOKENS}, at most `maxTokens`. Not whole. */
export const expectedOutputTokens = (promptTokens: number, maxTokens: number | undefined): number =>
  Math.min(Math.max(promptTokens / 3, TYPICAL_OUTPUT_TOKENS), maxTokens ?? Number.POSITIVE_INFINITY);

/** Expected charge of the call in nano-USD, for comparison only; money is settled from reported usage. */
function expectedCostNano(
  { prices }: Endpoint,
  { promptTokens, maxTokens }: Pick<RouteFacts, "promptTokens" | "maxTokens">,
): number {
  const input = Math.max(promptTokens, 1);
  const output = Math.max(expectedOutputTokens(input, maxTokens), 1);
  return input * prices.input + output * prices.output;
}

/** Falls back to the other kind of answer where this kind was not measured. */
function latencyMs(health: EndpointHealth | undefined, stream: boolean): number {
  const known = stream ? (health?.ttftMs ?? health?.wholeMs) : (health?.wholeMs ?? health?.ttftMs);
  return known ?? (health?.isBeingMeasured ? LAST : -1);
}

function slowness(health: EndpointHealth | undefined): number {
  const speed = health?.tokensPerSecond;
  if (speed === undefined) return health?.isBeingMeasured ? LAST : -1;
  return 1_000_000 / speed;
}

/** With affinity, scores within the band of the best measured one count as equal. */
function band(candidates: readonly Scored[], affinityKey: string): void {
  if (affinityKey === "") return;
  let best = LAST;
  for (const c of candidates) if (c.score >= 0) best = Math.min(best, c.score);
  for (const c of candidates) if (c.score >= 0 && c.score <= best * BAND) c.score = best;
}

function drawByWorth(candidates: readonly Scored[], facts: RouteFacts, draw: Draw): void {
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
    c.score = drawnTime(draw(c.endpoint), cheapness * cheapness * soundness * soundness * quickness);
  }
}

/** Why the sort gave an endpoint its position. */
export function sortReason(
  { score: own, health }: Scored,
  sort: Sort,
  { stream, affinityKey }: RouteFacts,
): string {
  const stays = affinityKey === "" ? "" : ", stays where this caller was";
  switch (sort) {
    case "price":
      return `${ABOUT}${(own / 1e9).toPrecision(3)}${USD}${stays}`;
    case "latency": {
      const ms = latencyMs(health, stream);
      return ms < 0 || ms === LAST ? "not measured lately" : `${Math.round(ms)} ms${stays}`;
    }
    case "throughput":
      return health?.tokensPerSecond === undefined
        ? "not measured lately"
        : `${Math.round(health.tokensPerSecond)} tokens/s${stays}`;
    case "balanced":
      return `weighted draw over price, health and latency${stays}`;
  }
}

const ABOUT = "about ";
const USD = " USD";

/** The cost that the sort `price` compared, of a reason that it gave: micro-USD, by three digits. Undefined for other reasons. */
export function costInReason(reason: string): number | undefined {
  const end = reason.indexOf(USD);
  if (!reason.startsWith(ABOUT) || end < 0) return undefined;
  const usd = Number(reason.slice(ABOUT.length, end));
  return Number.isFinite(usd) ? Math.round(usd * 1e6) : undefined;
}
