/**
 * Reservation: before any upstream is asked, the worst-case cost of every call is held on the org's credit and on all
 * budgets (T25).
 */
import type { Purse } from "../credits/purse.ts";
import type { Endpoint } from "../endpoint.ts";
import { fail, type WeirError } from "../errors.ts";
import { budgetError } from "../limits/budget.ts";
import { after, type MaybePromise } from "../maybe-promise.ts";
import { lineMicroUsd, usdString } from "../money.ts";
import { type ByokFee, byokFeeMicroUsd } from "../usage.ts";
import type { RequestFacts } from "../wire/contract.ts";
import { countedTokenBound, IMAGE_TOKEN_BOUND, promptTokenBound } from "../wire/estimate.ts";
import type { TierNames } from "../wire/extras/ask.ts";
import type { Billed } from "../wire/extras/sift.ts";
import type { Bodies } from "./bodies.ts";
import type { OwnKeys, PlannedCall, Reservation, ReservedCall } from "./call.ts";
import { asksAt, dearest, dearestTool, type ExtraBound, extraBound } from "./extra-bounds.ts";
import { growHolds, type HoldDeps, type HoldRefusal, takeHolds } from "./holds.ts";

export interface ReserveDeps extends HoldDeps {
  readonly purse: Purse;
  readonly defaultMaxTokens: number;
  /** Charged instead of tokens if an org's own provider key answers. */
  readonly byokFee: ByokFee;
  /** A count may be refused: then the estimate is used. */
  readonly bodies: Pick<Bodies, "countPrompt">;
}

/** If the balance is more than this many times the estimate, the prompt is not counted. */
const NEAR = 4;

/**
 * @throws WeirError 402. Returns a promise if the balance is so near that the prompt must be counted first, or if the credit or
 * the holds are kept outside this process.
 */
export function reserve(deps: ReserveDeps, call: PlannedCall): MaybePromise<ReservedCall> {
  const { plan, request } = call;
  const { facts } = request;
  if (call.key.environment === "test") {
    return call.withReservation({
      holds: undefined,
      inputTokens: Number.MAX_SAFE_INTEGER,
      outputTokens: Number.MAX_SAFE_INTEGER,
    });
  }
  const outputTokens =
    outputBound(plan.attempts, facts.maxTokens, facts.stream, deps.defaultMaxTokens) * facts.choices;
  const bound = promptTokenBound(facts.promptTokens);
  const charging = chargingOf(deps, call);
  const worst = worstCase(plan.attempts, facts, bound, outputTokens, charging);
  const available = request.hasOpaque ? Number.POSITIVE_INFINITY : deps.purse.askAvailable(call.key.orgId);
  if (typeof available === "number" && available >= worst.microUsd * NEAR)
    return hold(deps, call, bound, outputTokens, worst);
  return after(available, (microUsd) =>
    microUsd >= worst.microUsd * NEAR
      ? hold(deps, call, bound, outputTokens, worst)
      : holdCounted(deps, call, bound, outputTokens, charging),
  );
}

async function holdCounted(
  deps: ReserveDeps,
  call: PlannedCall,
  bound: number,
  outputTokens: number,
  charging: Charging,
): Promise<ReservedCall> {
  const { plan, request } = call;
  const { facts } = request;
  // The tokenizer counts the address of an image, not the image.
  const images = facts.imageCount * IMAGE_TOKEN_BOUND;
  const tokens = await deps.bodies.countPrompt(call.incoming.format, request).then(
    (counted) => countedTokenBound(counted) + images,
    () => bound,
  );
  const inputTokens = Math.min(bound, tokens);
  const exact = worstCase(plan.attempts, facts, inputTokens, outputTokens, charging);
  return await hold(deps, call, inputTokens, outputTokens, exact);
}

/**
 * The amount that would be held for a call with an estimated prompt, micro-USD.
 * @param facts of its request, or of a request that differs from it
 */
export function worstCaseOf(
  deps: Pick<ReserveDeps, "defaultMaxTokens" | "byokFee">,
  call: PlannedCall,
  facts: RequestFacts = call.request.facts,
): number {
  const { attempts } = call.plan;
  const output = outputBound(attempts, facts.maxTokens, facts.stream, deps.defaultMaxTokens) * facts.choices;
  const bound = promptTokenBound(facts.promptTokens);
  return worstCase(attempts, facts, bound, output, chargingOf(deps, call)).microUsd;
}

/** Decides whether an endpoint is charged by tokens or by a fee, and what it is asked for beside tokens. */
interface Charging {
  /** The keys that the call was planned with. */
  readonly own: OwnKeys | undefined;
  readonly fee: ByokFee;
  readonly call: PlannedCall;
}

const chargingOf = ({ byokFee }: Pick<ReserveDeps, "byokFee">, call: PlannedCall): Charging => ({
  own: call.ownKeys,
  fee: byokFee,
  call,
});

interface WorstCase {
  readonly microUsd: number;
  /** The most uses of tools that it covers at any endpoint. */
  readonly toolUses: number;
}

/**
 * Output tokens to hold. A stream's hold covers a usual answer and is extended; a whole answer cannot be stopped, so its
 * hold covers the longest one.
 */
function outputBound(
  endpoints: readonly Endpoint[],
  maxTokens: number | undefined,
  stream: boolean,
  defaultMaxTokens: number,
): number {
  if (maxTokens !== undefined) return maxTokens;
  let bound = 0;
  for (const { maxOutput } of endpoints) {
    bound = Math.max(bound, stream ? Math.min(maxOutput, defaultMaxTokens) : maxOutput);
  }
  return bound;
}

/** The cost at the dearest endpoint of the plan, because any of them may answer. Micro-USD. */
function worstCase(
  endpoints: readonly Endpoint[],
  facts: RequestFacts,
  textTokens: number,
  outputTokens: number,
  charging: Charging,
): WorstCase {
  let microUsd = 0;
  let toolUses = 0;
  for (const endpoint of endpoints) {
    const asks = asksAt(charging.call, endpoint);
    const boundOf = (billed: Billed) => {
      const extra = extraBound(asks, endpoint.prices, billed);
      if (extra.uses > toolUses) toolUses = extra.uses;
      return costBound(endpoint, facts, textTokens, outputTokens, extra);
    };
    const micro = chargeBound(endpoint, boundOf, charging);
    if (micro > microUsd) microUsd = micro;
  }
  return { microUsd, toolUses };
}

/**
 * The fee if only an own key may be used; if a platform key may be used too, the larger of fee and tokens: a fee per request
 * can exceed the tokens.
 */
function chargeBound(
  { provider }: Endpoint,
  boundOf: (billed: Billed) => number,
  { own, fee }: Charging,
): number {
  if (own === undefined || own.of(provider.id).length === 0) return boundOf("platform");
  const feeMicroUsd = byokFeeMicroUsd(boundOf("org"), fee);
  const mayBePlatform = own.platformFallback(provider.id) && provider.keys.length > 0;
  return mayBePlatform ? Math.max(boundOf("platform"), feeMicroUsd) : feeMicroUsd;
}

/** The highest cost of the call at an endpoint, micro-USD. */
function costBound(
  endpoint: Endpoint,
  facts: RequestFacts,
  textTokens: number,
  outputTokens: number,
  extra: ExtraBound,
): number {
  const { prices } = endpoint;
  const promptTokens = promptBound(endpoint, facts, textTokens, extra.isRead);
  // Each cost line may round up by half a micro: one more for each kind of line.
  return (
    lineMicroUsd(promptTokens, extra.input) +
    lineMicroUsd(outputTokens, extra.output) +
    lineMicroUsd(1, prices.request ?? 0) +
    lineMicroUsd(facts.imageCount, prices.image ?? 0) +
    lineMicroUsd(facts.searchUnits, prices.searchUnit ?? 0) +
    extra.toolsMicroUsd +
    4
  );
}

/**
 * The highest number of prompt tokens at an endpoint. Documents, sound and video cannot be counted here, nor what tools of the
 * provider find; no prompt is longer than the context, so that is their bound.
 */
function promptBound(endpoint: Endpoint, facts: RequestFacts, textTokens: number, isRead: boolean): number {
  if (facts.hasUncounted || isRead)
    return Math.max(textTokens, endpoint.contextLength * (facts.separateInputs ?? 1));
  return textTokens + facts.imageCount * Math.max(0, endpoint.imageTokens - IMAGE_TOKEN_BOUND);
}

function hold(
  deps: ReserveDeps,
  call: PlannedCall,
  inputTokens: number,
  outputTokens: number,
  { microUsd, toolUses }: WorstCase,
): MaybePromise<ReservedCall> {
  return after(takeHolds(deps, call.key, microUsd), (holds) => {
    if ("refusedBy" in holds) throw refusalError(holds, microUsd, deps.purse.available(call.key.orgId));
    return call.withReservation({ holds, inputTokens, outputTokens, toolUses });
  });
}

function refusalError(refusal: HoldRefusal, microUsd: number, availableMicroUsd: number): WeirError {
  if (refusal.refusedBy === "budget") return budgetError(refusal.budget);
  return fail(
    "insufficient_credits",
    `This call may cost up to $${usdString(microUsd)}; $${usdString(availableMicroUsd)} is available. ` +
      "Add credits, or lower max_tokens.",
    { details: { required_micro_usd: microUsd, available_micro_usd: availableMicroUsd } },
  );
}

/**
 * Extends the hold by `moreTokens` output tokens of a running stream. @returns false if refused: then the stream must end
 * @param fee set if an org's own key is answering: the hold is extended by the fee for those tokens
 * @param tiers that the endpoint is asked for
 */
export function extend(
  deps: HoldDeps,
  reservation: Reservation,
  { prices }: Endpoint,
  moreTokens: number,
  fee?: ByokFee,
  tiers?: TierNames,
): MaybePromise<boolean> {
  return after(grow(deps, reservation, moreTokens, dearest(prices, tiers).output, fee), (isCovered) => {
    if (isCovered) reservation.outputTokens += moreTokens;
    return isCovered;
  });
}

/** The same by uses of the provider's tools, each at the price of the dearest one. */
export function extendUses(
  deps: HoldDeps,
  reservation: Reservation,
  { prices }: Endpoint,
  moreUses: number,
  fee?: ByokFee,
): MaybePromise<boolean> {
  return after(grow(deps, reservation, moreUses, dearestTool(prices), fee), (isCovered) => {
    if (isCovered) reservation.toolUses = (reservation.toolUses ?? 0) + moreUses;
    return isCovered;
  });
}

function grow(
  deps: HoldDeps,
  { holds }: Reservation,
  units: number,
  unitNano: number,
  fee?: ByokFee,
): MaybePromise<boolean> {
  if (holds === undefined) return true;
  const unitsMicroUsd = lineMicroUsd(units, unitNano) + 1;
  // One more: rounding the sum may give a micro more than the sum of rounded lines.
  const micro =
    fee === undefined ? unitsMicroUsd : byokFeeMicroUsd(unitsMicroUsd, { ...fee, microUsdPerRequest: 0 }) + 1;
  return growHolds(deps, holds, micro);
}
