/**
 * The tier of an endpoint in a plan, compared before any sort, and why. Endpoints asked for by name, the conversation's
 * endpoint, canary, arm and weights come first, since somebody said so. Among the others, which the gateway chooses from, those come
 * first that can give as long an answer as is asked for; failing endpoints and canaries outside their share come last.
 */

import type { Endpoint } from "../../base/endpoint.ts";
import type { EndpointHealth } from "../health/health.ts";
import type { Decision } from "./decision.ts";
import { listsEndpoint, withoutBrackets } from "./eligibility.ts";

/** What was drawn for the call before its endpoints are ranked. */
export interface Draws {
  /** Endpoint id of the canary whose share the call is in; empty: none. */
  readonly canary: string;
  /** The call's arm; empty without an experiment. */
  readonly arm: string;
  /** Endpoint id of that arm. */
  readonly armEndpoint: string;
}

/** An order takes one rank per entry, from `ordered` on: 64 at most. */
const RANKS = {
  preferred: 0,
  canary: 1,
  arm: 2,
  ordered: 100,
  weighted: 1000,
  sorted: 1001,
  alone: 1001,
  full: 1002,
  shorter: 1003,
  failing: 1004,
  canary_outside: 1006,
} as const;

export type TierName = keyof typeof RANKS;

export interface Tier {
  readonly name: TierName;
  /** Compared before any score. */
  readonly rank: number;
}

/** The conversation's endpoint, when the request's own order ranks before it. */
const BEHIND_ORDER: Tier = Object.freeze({ name: "preferred", rank: 900 });

const TIER = Object.fromEntries(
  Object.entries(RANKS).map(([name, rank]) => [name, Object.freeze({ name, rank })]),
) as Readonly<Record<TierName, Tier>>;

/** Before it is known. */
export const UNRANKED: Tier = TIER.sorted;

/** A failing endpoint that cannot give what is asked for either. */
const FAILING_SHORTER: Tier = Object.freeze({ name: "failing", rank: 1005 });

/** The endpoints of these were named by no policy and no request: the gateway chooses their order. */
const CHOSEN_HERE: ReadonlySet<TierName> = new Set(["sorted", "full", "shorter", "failing"]);

/** Whether the gateway chooses the order of the tier's endpoints. */
export const isChosenHere = ({ name }: Tier): boolean => CHOSEN_HERE.has(name);

/** @param isShorter it cannot give as long an answer as is asked for, and another one can */
export function tierOf(
  endpoint: Endpoint,
  decision: Decision,
  draws: Draws,
  preferred: string | undefined,
  isShorter: boolean,
  health: Pick<EndpointHealth, "failing" | "isFull"> | undefined,
): Tier {
  const { order, only, isChosenByRequest, isOrderFromRequest, canary, weights } = decision;
  // Only this endpoint can read what it sealed in the conversation: a policy's order must not override that (T49).
  if (endpoint.id === preferred && !isOrderFromRequest) return TIER.preferred;
  const at =
    order === undefined ? -1 : order.findIndex((id) => id === endpoint.id || id === endpoint.provider.id);
  if (endpoint.id === canary?.endpoint) {
    // A canary is tried even while it fails: its test decides.
    if (endpoint.id === draws.canary) return TIER.canary;
    const isNamed = isChosenByRequest && (at >= 0 || (only !== undefined && listsEndpoint(only, endpoint)));
    if (!isNamed) return TIER.canary_outside;
  }
  // A policy's order does not replace the arms of its experiment.
  if (endpoint.id === draws.armEndpoint && !health?.failing && !health?.isFull) return TIER.arm;
  if (at >= 0) return { name: "ordered", rank: RANKS.ordered + at };
  if (endpoint.id === preferred) return BEHIND_ORDER;
  if (health?.failing) return isShorter ? FAILING_SHORTER : TIER.failing;
  const isWeighted = !isChosenByRequest && (weights?.get(endpoint.id) ?? 0) > 0;
  if (isWeighted && !health?.isFull) return TIER.weighted;
  if (isShorter) return TIER.shorter;
  return health?.isFull ? TIER.full : TIER.sorted;
}

/** The tier of the only candidate: `alone`, unless its tier says more. */
export const withoutRival = (tier: Tier): Tier => (NEEDS_RIVAL.has(tier.name) ? TIER.alone : tier);

const NEEDS_RIVAL: ReadonlySet<TierName> = new Set(["sorted", "full", "failing"]);

/** Why an endpoint has its tier; undefined where the sort decided. */
export function tierReason(
  name: TierName,
  endpoint: Endpoint,
  { order, canary, experiment, weights }: Decision,
  { arm }: Draws,
): string | undefined {
  switch (name) {
    case "ordered":
      return listsEndpoint(order?.slice(0, 1) ?? [], endpoint) ? "asked for first" : "asked for by name";
    case "preferred":
      return "knows the conversation";
    case "canary":
      return `canary share of ${canary?.percent} %`;
    case "arm":
      return withoutBrackets(`arm ${arm} of ${experiment?.name}`);
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
    case "shorter":
      return `its answers end at ${endpoint.maxOutput} tokens, and others give as long ones as are asked for`;
    case "sorted":
      return undefined;
  }
}
