/**
 * Where an endpoint stands in a plan before any sort is looked at, and why: what was asked for by name, what knows the
 * conversation, canary, arm and weights come first; what fails and canaries outside their share come last.
 */

import type { Endpoint } from "../endpoint.ts";
import type { Decision } from "./decision.ts";
import { names } from "./eligibility.ts";
import type { EndpointHealth } from "./health.ts";

export type Standing =
  | "ordered"
  | "preferred"
  | "canary"
  | "arm"
  | "weighted"
  | "sorted"
  | "alone"
  | "full"
  | "failing"
  | "canary_outside";

/** What was drawn for the call, before its endpoints are gone through. */
export interface Drawn {
  /** Endpoint id of the canary in whose share the call is; empty. */
  readonly canary: string;
  /** The arm that the call is in; empty where no experiment is under way. */
  readonly arm: string;
  /** That arm's endpoint id. */
  readonly armEndpoint: string;
}

/** From `ordered` on there is room for a place each of what an order lists: 64 at most. */
const TIERS: Readonly<Record<Standing, number>> = {
  preferred: 0,
  canary: 1,
  arm: 2,
  ordered: 100,
  weighted: 1000,
  sorted: 1001,
  alone: 1001,
  full: 1002,
  failing: 1003,
  canary_outside: 1004,
};

export interface Placed {
  readonly standing: Standing;
  /** Compared before any score. */
  readonly tier: number;
}

/** Of what knows the conversation, where the request's own order goes before it. */
const BEHIND_ORDER: Placed = Object.freeze({ standing: "preferred", tier: 900 });

const PLACED = Object.fromEntries(
  Object.entries(TIERS).map(([standing, tier]) => [standing, Object.freeze({ standing, tier })]),
) as Readonly<Record<Standing, Placed>>;

export function placeOf(
  endpoint: Endpoint,
  decision: Decision,
  drawn: Drawn,
  preferred: string | undefined,
  health: Pick<EndpointHealth, "failing" | "isFull"> | undefined,
): Placed {
  const { order, only, isChosenByRequest, isOrderFromRequest, canary, weights } = decision;
  // What a conversation sealed only its own endpoint can read: a policy's order must not take it away (T49).
  if (endpoint.id === preferred && !isOrderFromRequest) return PLACED.preferred;
  const at =
    order === undefined ? -1 : order.findIndex((id) => id === endpoint.id || id === endpoint.provider.id);
  if (endpoint.id === canary?.endpoint) {
    // On trial means that it is also tried while it fails: its test decides.
    if (endpoint.id === drawn.canary) return PLACED.canary;
    const isNamed = isChosenByRequest && (at >= 0 || (only !== undefined && names(only, endpoint)));
    if (!isNamed) return PLACED.canary_outside;
  }
  // A policy that has an order besides an experiment wants its arms all the same.
  if (endpoint.id === drawn.armEndpoint && !health?.failing && !health?.isFull) return PLACED.arm;
  if (at >= 0) return { standing: "ordered", tier: TIERS.ordered + at };
  if (endpoint.id === preferred) return BEHIND_ORDER;
  if (health?.failing) return PLACED.failing;
  if (health?.isFull) return PLACED.full;
  return !isChosenByRequest && (weights?.get(endpoint.id) ?? 0) > 0 ? PLACED.weighted : PLACED.sorted;
}

/** Without another it needs no comparison, unless there is more to say than that. */
export const alone = (placed: Placed): Placed => (NEEDS_ANOTHER.has(placed.standing) ? PLACED.alone : placed);

const NEEDS_ANOTHER: ReadonlySet<Standing> = new Set(["sorted", "full", "failing"]);

/** Why an endpoint stands where it stands; undefined where the sort decided. */
export function standingReason(
  standing: Standing,
  endpoint: Endpoint,
  { order = [], canary, experiment, weights }: Decision,
  { arm }: Drawn,
): string | undefined {
  switch (standing) {
    case "ordered":
      return names(order.slice(0, 1), endpoint) ? "asked for first" : "asked for by name";
    case "preferred":
      return "knows the conversation";
    case "canary":
      return `canary share of ${canary?.percent} %`;
    case "arm":
      return `arm ${arm} of ${experiment?.name}`;
    case "weighted":
      return `weight ${weights?.get(endpoint.id)}`;
    case "alone":
      return "the only endpoint that may serve the call";
    case "full":
      return "has as many calls under way as it took of late";
    case "failing":
      return "recent calls failed";
    case "canary_outside":
      return "a canary outside its share is tried last";
    case "sorted":
      return undefined;
  }
}
