/**
 * Turns a call and a model into the ordered list of endpoints to try. Pure: the same facts, decision, health and random
 * numbers give the same plan, whatever the order of the catalog. Ties go to the lower endpoint id.
 */
import type { Random } from "../clock.ts";
import type { Endpoint, Model } from "../endpoint.ts";
import type { Decision } from "./decision.ts";
import { type Exclusion, exclusionOf, type RouteFacts } from "./eligibility.ts";
import { hashOf, mixed, unitOf } from "./hash.ts";
import type { EndpointHealth, HealthView } from "./health.ts";
import { type Draw, drawnTime, type Scored, score, sortReason } from "./sorts.ts";
import { alone, type Drawn, type Placed, placeOf, standingReason } from "./tier.ts";

export interface RankedEndpoint {
  readonly endpointId: string;
  /** Lower is tried earlier; comparable within one plan and one standing only. */
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
  /** What is to be tried rests by the gateway's own caution only: it is tried because nothing else is left. */
  readonly isLastResort: boolean;
  /** Nothing is left, and only because what would be rests: it is saturated, or it does not take the credential. */
  readonly left: "some" | "none" | "saturated" | "refused";
  /** When the first of those that rest may be tried, the saturated ones where there are some; 0 where something is left. */
  readonly retryAfterMs: number;
  /** Why each attempt stands where it stands. */
  ranking(): readonly RankedEndpoint[];
  /** The plan in one line: what decided, tried and left out, with reasons. */
  trace(): string;
}

interface Candidate extends Scored {
  placed: Placed;
}

const UNDRAWN: Drawn = Object.freeze({ canary: "", arm: "", armEndpoint: "" });

/**
 * Filters, then orders by standing (`standing.ts`) and within it by the sort (`sorts.ts`) or by the weights. `fallbacks: false`
 * leaves the first endpoint, or with `order` those that it names; what is beyond `maxAttempts` is left out.
 */
export function plan(
  facts: RouteFacts,
  model: Pick<Model, "endpoints">,
  decision: Decision,
  health: HealthView,
  random: Random,
): Plan {
  const excluded: Exclusion[] = [];
  const open: Seen[] = [];
  const out: (Seen & { readonly health: EndpointHealth })[] = [];
  for (const endpoint of byId(model)) {
    const exclusion = exclusionOf(endpoint, facts, decision);
    if (exclusion !== undefined) {
      excluded.push(exclusion);
      continue;
    }
    const seen = health.of(endpoint);
    if (seen === undefined || seen.outForMs === 0) {
      open.push({ endpoint, health: seen });
      continue;
    }
    out.push({ endpoint, health: seen });
  }
  const isLastResort = open.length === 0 && addLastResorts(open, out);
  for (const resting of out) if (!open.includes(resting)) excluded.push(outOf(resting, open.length === 0));
  const drawn = draws(decision, facts, open, random);
  const candidates = open.map(
    ({ endpoint, health: seen }): Candidate => ({
      endpoint,
      health: seen,
      placed: placeOf(endpoint, decision, drawn, facts.preferred, seen),
      score: 0,
      tie: 0,
    }),
  );
  if (candidates.length > 1) order(candidates, decision, facts, random);
  else for (const c of candidates) c.placed = alone(c.placed);
  const shadow = shadowOf(decision, candidates, random);
  cut(candidates, decision, excluded);
  return new FinishedPlan(candidates, excluded, facts, decision, {
    drawn,
    shadow,
    isLastResort,
    out: out.length === 0 ? NOTHING_OUT : out.map(({ health: seen }) => seen),
  });
}

const NOTHING_OUT: readonly EndpointHealth[] = [];

/** Opens what rests by the gateway's own caution only. @returns whether there is any */
function addLastResorts(open: Seen[], out: readonly (Seen & { readonly health: EndpointHealth })[]): boolean {
  for (const resting of out) if (resting.health.lastResortOutForMs === 0) open.push(resting);
  return open.length > 0;
}

interface Seen {
  readonly endpoint: Endpoint;
  readonly health: EndpointHealth | undefined;
}

function outOf(
  {
    endpoint,
    health: { outForMs, lastResortOutForMs = outForMs, isRefused },
  }: Seen & { readonly health: EndpointHealth },
  isAllOut: boolean,
): Exclusion {
  const waitMs = Math.ceil(isAllOut ? lastResortOutForMs : outForMs);
  return isRefused
    ? {
        endpointId: endpoint.id,
        kind: "refused",
        reason: `its credential was refused; it is tried again in ${waitMs} ms`,
      }
    : {
        endpointId: endpoint.id,
        kind: "saturated",
        reason: `it is saturated and cools down for ${waitMs} ms`,
      };
}

/** When the first of them may be tried by a call that has nowhere else to go. */
const soonestOf = (out: readonly EndpointHealth[]): number =>
  Math.ceil(Math.min(...out.map(({ outForMs, lastResortOutForMs = outForMs }) => lastResortOutForMs)));

/** In a fixed order, so that a plan can be made again from its seed. */
function draws(
  { canary, experiment, isChosenByRequest }: Decision,
  { isCanaryRed, unit, preferred }: RouteFacts,
  open: readonly { readonly endpoint: Endpoint }[],
  random: Random,
): Drawn {
  if (isChosenByRequest || (canary === undefined && experiment === undefined)) return UNDRAWN;
  const isOpen = (id: string | undefined) => open.some(({ endpoint }) => endpoint.id === id);
  // Who goes back to where its conversation is takes part in nothing: it would be counted for what it did not do.
  if (preferred !== undefined && isOpen(preferred)) return UNDRAWN;
  if (canary !== undefined && !isCanaryRed && isOpen(canary.endpoint)) {
    // Of the experiment it is not part then: what its arm would have done is not known.
    if (random() * 100 < canary.percent) return { ...UNDRAWN, canary: canary.endpoint };
  }
  if (experiment === undefined) return UNDRAWN;
  let total = 0;
  for (const { weight } of experiment.arms) total += weight;
  let at = (unit === "" ? random() : unitOf(experiment.name, unit)) * total;
  const arm = experiment.arms.find(({ weight }) => {
    at -= weight;
    return at < 0;
  });
  // Intention to treat: it stays in its arm though the arm's endpoint may not serve it.
  return arm === undefined ? UNDRAWN : { canary: "", arm: arm.arm, armEndpoint: arm.endpoint };
}

function order(candidates: Candidate[], decision: Decision, facts: RouteFacts, random: Random): void {
  const caller = facts.affinityKey === "" ? 0 : hashOf(facts.affinityKey);
  const draw: Draw =
    facts.affinityKey === "" ? random : (endpoint) => mixed(caller ^ hashOf(endpoint.id)) / 0x1_0000_0000;
  score(candidates, decision.sort, facts, draw);
  const { weights } = decision;
  if (weights !== undefined) {
    for (const c of candidates) {
      if (c.placed.standing !== "weighted") continue;
      c.score = drawnTime(draw(c.endpoint), weights.get(c.endpoint.id) ?? 0);
    }
  }
  candidates.sort(byPlaceScoreId);
}

function byPlaceScoreId(a: Candidate, b: Candidate): number {
  if (a.placed.tier !== b.placed.tier) return a.placed.tier - b.placed.tier;
  if (a.score !== b.score) return a.score < b.score ? -1 : 1;
  if (a.tie !== b.tie) return a.tie - b.tie;
  return a.endpoint.id < b.endpoint.id ? -1 : 1;
}

/** One that may serve the call, and is not the one that will. */
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
  const leave = (from: number, reason: string) => {
    for (const { endpoint } of candidates.splice(from)) {
      excluded.push({ endpointId: endpoint.id, kind: "route", reason });
    }
  };
  if (!fallbacks && !asked?.length) leave(1, "another endpoint ranks first, and fallbacks are off");
  if (candidates.length > maxAttempts) {
    leave(
      maxAttempts,
      maxAttempts === 1
        ? "only one attempt is allowed, and another endpoint ranks first"
        : `only ${maxAttempts} attempts are allowed, and others rank before it`,
    );
  }
}

class FinishedPlan implements Plan {
  readonly decision: Decision;
  readonly canary: string;
  readonly arm: string;
  readonly shadow: Endpoint | undefined;
  readonly attempts: readonly Endpoint[];
  readonly excluded: readonly Exclusion[];
  readonly isLastResort: boolean;
  readonly left: Plan["left"];
  readonly retryAfterMs: number;
  readonly #ranked: readonly Candidate[];
  readonly #facts: RouteFacts;
  readonly #drawn: Drawn;

  constructor(
    ranked: readonly Candidate[],
    excluded: readonly Exclusion[],
    facts: RouteFacts,
    decision: Decision,
    {
      drawn,
      shadow,
      isLastResort,
      out,
    }: {
      readonly drawn: Drawn;
      readonly shadow: Endpoint | undefined;
      readonly isLastResort: boolean;
      /** Whatever rests. */
      readonly out: readonly EndpointHealth[];
    },
  ) {
    this.decision = decision;
    this.canary = drawn.canary;
    this.arm = drawn.arm;
    this.shadow = shadow;
    this.attempts = ranked.map((c) => c.endpoint);
    this.excluded = excluded;
    this.isLastResort = isLastResort;
    const saturated = ranked.length > 0 ? NOTHING_OUT : out.filter(({ isRefused }) => !isRefused);
    this.left =
      ranked.length > 0 ? "some" : out.length === 0 ? "none" : saturated.length > 0 ? "saturated" : "refused";
    const awaited = saturated.length > 0 ? saturated : out;
    this.retryAfterMs = ranked.length > 0 || out.length === 0 ? 0 : soonestOf(awaited);
    this.#ranked = ranked;
    this.#facts = facts;
    this.#drawn = drawn;
  }

  ranking(): readonly RankedEndpoint[] {
    return this.#ranked.map((c) => ({
      endpointId: c.endpoint.id,
      score: c.score,
      reason: this.#reasonOf(c),
    }));
  }

  trace(): string {
    const tried = this.ranking().map((r, i) => `${i + 1} ${r.endpointId} (${r.reason})`);
    const out = this.excluded.map((x) => `${x.endpointId} (${x.kind}: ${x.reason})`);
    return `${this.#decidedBy()}; try: ${tried.join(", ") || "none"}; out: ${out.join(", ") || "none"}`;
  }

  #decidedBy(): string {
    const { policy, rule, sort, experiment } = this.decision;
    const by =
      policy === undefined ? "" : `policy=${policy.name}@${policy.version}${rule && ` rule=${rule}`}; `;
    const canary = this.canary && ` canary=${this.canary}`;
    const arm = this.arm && ` experiment=${experiment?.name} arm=${this.arm}`;
    const shadow = this.shadow === undefined ? "" : ` shadow=${this.shadow.id}`;
    return `${by}sort=${sort}${canary}${arm}${shadow}`;
  }

  #reasonOf(candidate: Candidate): string {
    return (
      standingReason(candidate.placed.standing, candidate.endpoint, this.decision, this.#drawn) ??
      sortReason(candidate, this.decision.sort, this.#facts)
    );
  }
}

/** A model's endpoints by id, made once for each snapshot of the catalog. */
const sortedOnce = new WeakMap<Pick<Model, "endpoints">, readonly Endpoint[]>();

function byId(model: Pick<Model, "endpoints">): readonly Endpoint[] {
  let sorted = sortedOnce.get(model);
  if (sorted === undefined) {
    sorted = [...model.endpoints].sort((a, b) => (a.id < b.id ? -1 : 1));
    sortedOnce.set(model, sorted);
  }
  return sorted;
}
