/**
 * Where an endpoint stands in a plan before any sort is looked at, and why: what was asked for by name, what knows the
 * conversation, canary, arm and weights come first; what fails and canaries outside their share come last.
 */

import type { Endpoint } from "../endpoint.ts";
import type { Decision } from "./decision.ts";
import { names } from "./eligibility.ts";

export type Standing =
  | "ordered"
  | "preferred"
  | "canary"
  | "arm"
  | "weighted"
  | "sorted"
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

/** Behind all that an order lists, whatever its length. */
const TIERS: Readonly<Record<Standing, number>> = {
  ordered: 0,
  preferred: -1,
  canary: 1000,
  arm: 1001,
  weighted: 1002,
  sorted: 1003,
  failing: 1004,
  canary_outside: 1005,
};

export interface Placed {
  readonly standing: Standing;
  /** Compared before any score. */
  readonly tier: number;
}

const PLACED = Object.fromEntries(
  Object.entries(TIERS).map(([standing, tier]) => [standing, Object.freeze({ standing, tier })]),
) as Readonly<Record<Standing, Placed>>;

export function placeOf(
  endpoint: Endpoint,
  decision: Decision,
  drawn: Drawn,
  preferred: string | undefined,
  isFailing: boolean,
): Placed {
  const { order, isOrderAsked, canary, weights } = decision;
  // What a conversation sealed only its own endpoint can read: a policy's order must not take it away (T49).
  const isPreferred = endpoint.id === preferred && !(isOrderAsked && order !== undefined);
  if (isPreferred) return PLACED.preferred;
  if (order !== undefined) {
    const at = order.findIndex((id) => id === endpoint.id || id === endpoint.provider.id);
    if (at >= 0) return { standing: "ordered", tier: at };
  }
  if (!isOrderAsked) {
    // On trial means that it is also tried while it fails: its test decides.
    if (endpoint.id === drawn.canary) return PLACED.canary;
    if (endpoint.id === canary?.endpoint) return PLACED.canary_outside;
  }
  if (isFailing) return PLACED.failing;
  if (isOrderAsked) return PLACED.sorted;
  if (endpoint.id === drawn.armEndpoint) return PLACED.arm;
  return (weights?.get(endpoint.id) ?? 0) > 0 ? PLACED.weighted : PLACED.sorted;
}

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
    case "failing":
      return "recent calls failed";
    case "canary_outside":
      return "a canary outside its share is tried last";
    case "sorted":
      return undefined;
  }
}
