/**
 * Turns a call and a model into the ordered list of endpoints to try. Pure: the same facts, decision, health and random
 * numbers give the same plan, whatever the order of the catalog. Ties go to the lower endpoint id.
 */
import type { Random } from "../../base/clock.ts";
import type { Endpoint, Model } from "../../base/endpoint.ts";
import { grown } from "../../base/lists.ts";
import { hashOf, mixed, unitOf } from "../hash.ts";
import type { EndpointHealth, HealthView } from "../health/health.ts";
import { answerLimits } from "./answer-limit.ts";
import type { Decision } from "./decision.ts";
import { type Exclusion, exclusionOf, type RouteFacts } from "./eligibility.ts";
import { type Draw, drawnTime, type Scored, score, sortReason } from "./sorts.ts";
import { type Draws, isChosenHere, type Tier, tierOf, tierReason, UNRANKED, withoutRival } from "./tier.ts";
import { excludedText, headText, traceText, triedText } from "./trace.ts";

interface RankedEndpoint {
  readonly endpointId: string;
  /** Lower is tried earlier; comparable only within one plan and one tier. */
  readonly score: number;
  readonly reason: string;
}

export type Plan = Pick<FinishedPlan, keyof FinishedPlan>;

interface Candidate extends Scored {
  tier: Tier;
}

interface OutCandidate extends Candidate {
  readonly health: EndpointHealth;
}

const NO_DRAWS: Draws = Object.freeze({ canary: "", arm: "", armEndpoint: "" });

/**
 * Filters the endpoints, then orders them by tier (`tier.ts`) and within a tier by the sort (`sorts.ts`) or by the
 * weights. `fallbacks: false` keeps only the first endpoint, or with `order` those that it lists; endpoints beyond
 * `maxAttempts` are excluded.
 */
export function plan(
  facts: RouteFacts,
  model: Pick<Model, "endpoints">,
  decision: Decision,
  health: HealthView,
  random: Random,
): Plan {
  const excluded: Exclusion[] = [];
  const out: OutCandidate[] = [];
  let open: Candidate[] | undefined;
  for (const endpoint of byId(model)) {
    const exclusion = exclusionOf(endpoint, facts, decision);
    if (exclusion !== undefined) {
      excluded.push(exclusion);
      continue;
    }
    const seen = health.of(endpoint);
    const candidate = { endpoint, health: seen, tier: UNRANKED, score: 0, tie: 0 };
    if (isOut(candidate)) out.push(candidate);
    else open = grown(open, candidate);
  }
  const candidates = open ?? [];
  const isLastResort = candidates.length === 0 && addLastResorts(candidates, out);
  for (const resting of out)
    if (!candidates.includes(resting)) excluded.push(outOf(resting, candidates.length === 0));
  const limits = answerLimits(candidates, facts);
  const shorter = limits !== undefined && limits.size < candidates.length ? limits : undefined;
  const draws = drawFor(decision, facts, candidates, random);
  for (const c of candidates) {
    const isShorter = shorter?.has(c.endpoint.id) === true;
    c.tier = tierOf(c.endpoint, decision, draws, facts.preferred, isShorter, c.health);
  }
  if (candidates.length > 1) order(candidates, decision, facts, random, limits);
  else for (const c of candidates) c.tier = withoutRival(c.tier);
  const shadow = shadowOf(decision, candidates, random);
  cut(candidates, decision, excluded);
  return new FinishedPlan(candidates, excluded, facts, decision, {
    draws,
    shadow,
    limits,
    isLastResort,
    out,
  });
}

/** Known to be out for a while. */
const isOut = (candidate: Candidate): candidate is OutCandidate =>
  candidate.health !== undefined && candidate.health.outForMs !== 0;

/** Adds the endpoints that are out only by the gateway's own caution. @returns whether there are any */
function addLastResorts(open: Candidate[], out: readonly OutCandidate[]): boolean {
  for (const resting of out) if (resting.health.lastResortOutForMs === 0) open.push(resting);
  return open.length > 0;
}

function outOf({ endpoint, health }: OutCandidate, isAllOut: boolean): Exclusion {
  const { outForMs, lastResortOutForMs = outForMs, isRefused } = health;
  const waitMs = Math.ceil(isAllOut ? lastResortOutForMs : outForMs);
  return {
    endpointId: endpoint.id,
    kind: isRefused ? "refused" : "saturated",
    reason: isRefused
      ? `its credential was refused; it is tried again in ${waitMs} ms`
      : `it is saturated and cools down for ${waitMs} ms`,
  };
}

/** Milliseconds until the first of them may be tried by a call without another endpoint. */
const soonestOf = (out: readonly OutCandidate[]): number =>
  Math.ceil(Math.min(...out.map(({ health }) => health.lastResortOutForMs ?? health.outForMs)));

/** Most calls take part in no draw. */
const drawFor = (
  decision: Decision,
  facts: RouteFacts,
  open: readonly { readonly endpoint: Endpoint }[],
  random: Random,
): Draws =>
  decision.isChosenByRequest || (decision.canary === undefined && decision.experiment === undefined)
    ? NO_DRAWS
    : drawn(decision, facts, open, random);

/** Draws in a fixed order, so that a plan can be repeated from its seed. */
function drawn(
  { canary, experiment }: Decision,
  { isCanaryRed, unit, preferred }: RouteFacts,
  open: readonly { readonly endpoint: Endpoint }[],
  random: Random,
): Draws {
  const isOpen = (id: string | undefined) => open.some(({ endpoint }) => endpoint.id === id);
  // A call that continues a conversation at its endpoint takes part in no draw: it would be counted for what it did not
  // do.
  if (preferred !== undefined && isOpen(preferred)) return NO_DRAWS;
  if (canary !== undefined && !isCanaryRed && isOpen(canary.endpoint)) {
    // A call of the canary takes no part in the experiment: what its arm would have done is unknown.
    if (random() * 100 < canary.percent) return { ...NO_DRAWS, canary: canary.endpoint };
  }
  if (experiment === undefined) return NO_DRAWS;
  let total = 0;
  for (const { weight } of experiment.arms) total += weight;
  let at = (unit === "" ? random() : unitOf(experiment.name, unit)) * total;
  const arm = experiment.arms.find(({ weight }) => {
    at -= weight;
    return at < 0;
  });
  // Intention to treat: the caller stays in its arm even if the arm's endpoint may not serve the call.
  return arm === undefined ? NO_DRAWS : { canary: "", arm: arm.arm, armEndpoint: arm.endpoint };
}

function order(
  candidates: Candidate[],
  decision: Decision,
  facts: RouteFacts,
  random: Random,
  limits: ReadonlyMap<string, number> | undefined,
): void {
  const caller = facts.affinityKey === "" ? 0 : hashOf(facts.affinityKey);
  const draw: Draw =
    facts.affinityKey === "" ? random : (endpoint) => mixed(caller ^ hashOf(endpoint.id)) / 0x1_0000_0000;
  score(candidates, decision.sort, facts, draw);
  const { weights } = decision;
  if (weights !== undefined) {
    for (const c of candidates) {
      if (c.tier.name !== "weighted") continue;
      c.score = drawnTime(draw(c.endpoint), weights.get(c.endpoint.id) ?? 0);
    }
  }
  candidates.sort(limits === undefined ? byRankScoreId : byRankLimitScoreId(limits));
}

/** Among endpoints that the gateway chooses from, those that give longer answers come before the others, whatever the sort. */
function byRankLimitScoreId(limits: ReadonlyMap<string, number>): (a: Candidate, b: Candidate) => number {
  const limitOf = ({ endpoint }: Candidate) => limits.get(endpoint.id) ?? Number.MAX_SAFE_INTEGER;
  return (a, b) => {
    if (a.tier.rank !== b.tier.rank || !isChosenHere(a.tier)) return byRankScoreId(a, b);
    return limitOf(b) - limitOf(a) || byRankScoreId(a, b);
  };
}

function byRankScoreId(a: Candidate, b: Candidate): number {
  if (a.tier.rank !== b.tier.rank) return a.tier.rank - b.tier.rank;
  if (a.score !== b.score) return a.score < b.score ? -1 : 1;
  if (a.tie !== b.tie) return a.tie - b.tie;
  return a.endpoint.id < b.endpoint.id ? -1 : 1;
}

/** The shadow endpoint, if it may serve the call and is not the first attempt. */
function shadowOf(
  { shadow }: Decision,
  candidates: readonly Candidate[],
  random: Random,
): Endpoint | undefined {
  if (shadow === undefined || random() * 100 >= shadow.percent) return undefined;
  const at = candidates.findIndex(({ endpoint }) => endpoint.id === shadow.endpoint);
  return at > 0 ? candidates[at]?.endpoint : undefined;
}

function cut(
  candidates: Candidate[],
  { fallbacks, order: asked, maxAttempts }: Decision,
  excluded: Exclusion[],
): void {
  if (!fallbacks && !asked?.length)
    leave(candidates, 1, excluded, "another endpoint ranks first, and fallbacks are off");
  if (candidates.length > maxAttempts) {
    const reason =
      maxAttempts === 1
        ? "only one attempt is allowed, and another endpoint ranks first"
        : `only ${maxAttempts} attempts are allowed, and others rank before it`;
    leave(candidates, maxAttempts, excluded, reason);
  }
}

/** Excludes the candidates from an index on. */
function leave(candidates: Candidate[], from: number, excluded: Exclusion[], reason: string): void {
  for (const { endpoint } of candidates.splice(from))
    excluded.push({ endpointId: endpoint.id, kind: "route", reason });
}

class FinishedPlan {
  readonly decision: Decision;
  /** Endpoint id of the canary whose share the call is in; empty: none. */
  readonly canary: string;
  /** Arm of the experiment; empty: none. */
  readonly arm: string;
  /** Endpoint that is sent a copy of the call. */
  readonly shadow: Endpoint | undefined;
  /** In the order to try; empty when no endpoint may serve the call. */
  readonly attempts: readonly Endpoint[];
  readonly excluded: readonly Exclusion[];
  /**
   * Output tokens that endpoints are told in place of the caller's `max_tokens`, because they cannot give so many; by endpoint id.
   * Undefined where none is.
   */
  readonly limits: ReadonlyMap<string, number> | undefined;
  /** All attempts are out, but only by the gateway's own caution: they are tried because there is no other endpoint. */
  readonly isLastResort: boolean;
  /** Whether any endpoint may be tried; if not, and the only cause is health: saturation, or refused keys. */
  readonly availability: "some" | "none" | "saturated" | "refused";
  /**
   * Milliseconds until the first of the endpoints that are out may be tried, saturated ones if there are any; 0 where
   * an endpoint may be tried now.
   */
  readonly retryAfterMs: number;
  readonly #ranked: readonly Candidate[];
  readonly #facts: RouteFacts;
  readonly #draws: Draws;

  constructor(
    ranked: readonly Candidate[],
    excluded: readonly Exclusion[],
    facts: RouteFacts,
    decision: Decision,
    {
      draws,
      shadow,
      limits,
      isLastResort,
      out,
    }: {
      readonly draws: Draws;
      readonly shadow: Endpoint | undefined;
      readonly limits: ReadonlyMap<string, number> | undefined;
      readonly isLastResort: boolean;
      readonly out: readonly OutCandidate[];
    },
  ) {
    this.decision = decision;
    this.canary = draws.canary;
    this.arm = draws.arm;
    this.shadow = shadow;
    this.attempts = ranked.map(endpointOf);
    this.excluded = excluded;
    this.limits = limits;
    this.isLastResort = isLastResort;
    if (ranked.length > 0) {
      this.availability = "some";
      this.retryAfterMs = 0;
    } else {
      const saturated = out.filter(({ health }) => !health.isRefused);
      this.availability = out.length === 0 ? "none" : saturated.length > 0 ? "saturated" : "refused";
      this.retryAfterMs = out.length === 0 ? 0 : soonestOf(saturated.length > 0 ? saturated : out);
    }
    this.#ranked = ranked;
    this.#facts = facts;
    this.#draws = draws;
  }

  /** Why each attempt has its position. */
  ranking(): readonly RankedEndpoint[] {
    return this.#ranked.map((c) => ({
      endpointId: c.endpoint.id,
      score: c.score,
      reason: this.#reasonOf(c),
    }));
  }

  /** The plan in one line: what decided, what is tried and what is excluded, with reasons. `readTrace` reads it. */
  trace(): string {
    let tried = "";
    let order = 0;
    for (const c of this.#ranked) tried += triedText(++order, c.endpoint.id, this.#reasonOf(c));
    let out = "";
    for (const x of this.excluded) out += excludedText(out === "", x);
    const { canary, arm, shadow } = this;
    return traceText(headText(this.decision, { canary, arm, shadow: shadow?.id ?? "" }), tried, out);
  }

  #reasonOf(candidate: Candidate): string {
    return (
      tierReason(candidate.tier.name, candidate.endpoint, this.decision, this.#draws) ??
      sortReason(candidate, this.decision.sort, this.#facts)
    );
  }
}

const endpointOf = ({ endpoint }: Candidate): Endpoint => endpoint;

/** A model's endpoints by id, sorted once per snapshot of the catalog. */
const sortedOnce = new WeakMap<Pick<Model, "endpoints">, readonly Endpoint[]>();

function byId(model: Pick<Model, "endpoints">): readonly Endpoint[] {
  let sorted = sortedOnce.get(model);
  if (sorted === undefined) {
    sorted = [...model.endpoints].sort((a, b) => (a.id < b.id ? -1 : 1));
    sortedOnce.set(model, sorted);
  }
  return sorted;
}
