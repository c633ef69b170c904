/**
 * Fits a call to an amount (`hold: fit`): at each endpoint of its plan the answer is limited to what the amount covers there, so a
 * fallback or a hedge at a dearer endpoint has a lower limit. An endpoint where it covers less than the least answer is not asked.
 */
import type { Endpoint } from "../../../base/endpoint.ts";
import { passageTo } from "../../../wire/passages.ts";
import { mostThinkingIn } from "../../../wire/relay/budgets.ts";
import { lowered, type Told, toldWithin } from "../../../wire/relay/lowered.ts";
import { leastLimit, takesLimit } from "../../../wire/relay/output-limit.ts";
import type {
  Call,
  Cover,
  Fit,
  FittedCover,
  PlannedCall,
  ReadCall,
  Reservation,
  ReservedCall,
} from "../call.ts";
import type { CoveredTokens } from "../meter.ts";
import { type BoundDeps, outputBound, worstCase } from "./cost-bound.ts";

export interface FitDeps extends BoundDeps {
  /** No answer is limited to fewer tokens, above its thinking budget. */
  readonly minFitTokens: number;
}

/** Tokens of one choice's answer at an endpoint. */
interface Answer {
  readonly endpoint: Endpoint;
  /** The longest that is asked for. */
  readonly longest: number;
  /** The shortest that it may be limited to; equal to the longest where it cannot be limited. */
  readonly shortest: number;
  /** Micro-USD of an answer of so many tokens, with the prompt. */
  cost(tokens: number): number;
}

export interface Fitted {
  readonly fit: Fit;
  /** What must be held for it: no more than the amount that it was fitted to. */
  readonly microUsd: number;
}

/** The sizes of one call that may be fitted. */
export class Fitting {
  readonly #answers: readonly Answer[];
  readonly #choices: number;
  /** The least amount that the call can be fitted to, micro-USD. */
  readonly leastMicroUsd: number;

  /** @param inputTokens that are held for the prompt */
  constructor(deps: FitDeps, call: PlannedCall, inputTokens: number) {
    this.#choices = call.request.facts.choices;
    this.#answers = call.plan.attempts.map((endpoint) => answerAt(deps, call, endpoint, inputTokens));
    this.leastMicroUsd = Math.min(...this.#answers.map(({ cost, shortest }) => cost(shortest)));
  }

  /** Undefined where the amount covers the least answer at no endpoint. */
  within(microUsd: number): Fitted | undefined {
    const fit = new Map<string, FittedCover>();
    let most = 0;
    for (const answer of this.#answers) {
      const tokens = longestWithin(answer, microUsd);
      if (tokens === undefined) continue;
      const limit = tokens < answer.longest ? tokens : undefined;
      fit.set(answer.endpoint.id, { limit, outputTokens: tokens * this.#choices });
      most = Math.max(most, answer.cost(tokens));
    }
    return fit.size === 0 ? undefined : { fit, microUsd: most };
  }
}

function answerAt(deps: FitDeps, call: PlannedCall, endpoint: Endpoint, inputTokens: number): Answer {
  const { incoming, request } = call;
  const { facts } = request;
  const longest = outputBound(deps, [endpoint], facts, call.plan.limits);
  const limit = call.plan.limits?.get(endpoint.id);
  const thinking = limit === undefined ? undefined : mostThinkingIn(limit);
  const passable = passageTo(incoming.format, endpoint);
  const isLimited = passable !== undefined && takesLimit(endpoint, passable.dialect);
  const shortest = isLimited ? leastLimit(request, endpoint, passable, deps.minFitTokens, thinking) : longest;
  return {
    endpoint,
    longest,
    shortest: Math.min(longest, shortest),
    cost: (tokens) => worstCase(deps, call, [endpoint], inputTokens, tokens * facts.choices).microUsd,
  };
}

/** The cost grows with the tokens, but not always by as much each: the fee of an own key is rounded. So it is searched by halves. */
function longestWithin({ longest, shortest, cost }: Answer, microUsd: number): number | undefined {
  if (cost(longest) <= microUsd) return longest;
  if (cost(shortest) > microUsd) return undefined;
  let fits = shortest;
  let exceeds = longest;
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2);
    if (cost(middle) <= microUsd) fits = middle;
    else exceeds = middle;
  }
  return fits;
}

/** What a hold covers at an endpoint; it grows when a stream extends the hold. */
export const coverAt = (reservation: Reservation, endpoint: Endpoint): Cover =>
  reservation.fit?.get(endpoint.id) ?? reservation.lowered?.get(endpoint.id) ?? reservation;

/** The same with the prompt, for metering. */
export function coveredAt(call: Call): CoveredTokens | undefined {
  const { reservation, endpoint } = call;
  if (reservation === undefined || endpoint === undefined) return reservation;
  if (reservation.fit === undefined && reservation.lowered === undefined) return reservation;
  return {
    inputTokens: reservation.inputTokens,
    outputTokens: coverAt(reservation, endpoint).outputTokens,
  };
}

/** What a hold in full covers at endpoints that are told fewer tokens than the client asks for; undefined where there are none. */
export function loweredCovers({ plan, request }: PlannedCall): ReadonlyMap<string, Cover> | undefined {
  if (plan.limits === undefined) return undefined;
  const { choices } = request.facts;
  const covers = [...plan.limits].map(([id, limit]): [string, Cover] => [
    id,
    { outputTokens: limit * choices },
  ]);
  return new Map(covers);
}

/** The endpoints of the call's plan that its hold covers an answer of, in the plan's order. */
export function coveredEndpoints({ plan, reservation: { fit } }: ReservedCall): readonly Endpoint[] {
  return fit === undefined ? plan.attempts : plan.attempts.filter(({ id }) => fit.has(id));
}

/** Output tokens that the call was fitted to at an endpoint; undefined: it was not. */
export const fittedAt = (
  { reservation }: Partial<Pick<Call, "reservation">>,
  endpoint: Endpoint | undefined,
): number | undefined => endpoint && reservation?.fit?.get(endpoint.id)?.limit;

/** The output limit that an endpoint is told instead of what the client said; undefined: it is told what the client said. */
export function limitAt(
  call: Partial<Pick<Call, "reservation" | "plan">>,
  endpoint: Endpoint | undefined,
): number | undefined {
  const { plan } = call;
  return fittedAt(call, endpoint) ?? (plan?.limits && endpoint && plan.limits.get(endpoint.id));
}

/** The request as it is sent to an endpoint. */
export function requestAt(call: ReadCall, endpoint: Endpoint): ReadCall["request"] {
  const outputLimit = limitAt(call, endpoint);
  return outputLimit === undefined
    ? call.request
    : lowered(call.request, endpoint, toldAt(call, endpoint, outputLimit));
}

/** What an endpoint is told beside this output limit. */
export const toldAt = ({ plan }: Call, { id }: Endpoint, outputLimit: number): Told =>
  toldWithin(outputLimit, plan?.limits?.get(id));
