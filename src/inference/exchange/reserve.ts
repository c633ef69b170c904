/**
 * Reservation: before any upstream is asked, the worst-case cost of every call is held on the org's credit and on all
 * budgets (T25).
 */
import type { KeyContext, Keyring } from "../../account/keyring.ts";
import type { Endpoint } from "../../base/endpoint.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import { after, afterWith, type MaybePromise } from "../../base/maybe-promise.ts";
import { lineMicroUsd, usdString } from "../../base/money.ts";
import { type ByokFee, byokFeeMicroUsd } from "../../base/usage.ts";
import { budgetError } from "../../credits/budgets/budget.ts";
import type { Budgets } from "../../credits/budgets/budgets.ts";
import type { Purse } from "../../credits/ledger/purse.ts";
import { countedTokenBound, IMAGE_TOKEN_BOUND, promptTokenBound } from "../../wire/estimate.ts";
import type { TierNames } from "../../wire/neutral/asked-extras.ts";
import type { Bodies } from "./body/bodies.ts";
import type { PlannedCall, Reservation, ReservedCall } from "./call.ts";
import { outputBound, type WorstCase, worstCase } from "./reservation/cost-bound.ts";
import { dearest, dearestTool } from "./reservation/extra-bounds.ts";
import { coverAt, type FitDeps, Fitting, loweredCovers } from "./reservation/fit.ts";
import type { HoldQueue, Wish } from "./reservation/hold-queue.ts";
import {
  growHolds,
  type HoldDeps,
  type HoldRefusal,
  type Holds,
  scopeOf,
  takeHolds,
} from "./reservation/holds.ts";

export interface ReserveDeps extends HoldDeps, FitDeps {
  /** Calls that wait for what others hold. */
  readonly waits: Pick<HoldQueue, "enter" | "hasLine" | "hasRoom">;
  readonly purse: Purse;
  readonly budgets: Budgets;
  /** A call that has waited is held for as its key is by then. */
  readonly keyring: Pick<Keyring, "current">;
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
  const outputTokens = outputBound(deps, plan.attempts, facts, plan.limits) * facts.choices;
  const inputTokens = promptTokenBound(facts.promptTokens);
  const worst = worstCase(deps, call, plan.attempts, inputTokens, outputTokens);
  const sized = { call, inputTokens, outputTokens, worst };
  const available = request.hasOpaque ? Number.POSITIVE_INFINITY : deps.purse.askAvailable(call.key.orgId);
  return afterWith(available, holdWithin, deps, sized);
}

/** Holds the cost of the estimated tokens where that is far below the credit that is available; else the tokens are counted first. */
const holdWithin = (
  availableMicroUsd: number,
  deps: ReserveDeps,
  sized: SizedCall,
): MaybePromise<ReservedCall> =>
  availableMicroUsd >= sized.worst.microUsd * NEAR ? hold(deps, sized) : holdCounted(deps, sized);

/** A call with what its hold in full is. */
interface SizedCall {
  readonly call: PlannedCall;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly worst: WorstCase;
}

async function holdCounted(deps: ReserveDeps, sized: SizedCall): Promise<ReservedCall> {
  const { call, inputTokens: bound, outputTokens } = sized;
  const { plan, request } = call;
  // The tokenizer counts the address of an image, not the image.
  const images = request.facts.imageCount * IMAGE_TOKEN_BOUND;
  const tokens = await deps.bodies.countPrompt(call.incoming.format, request).then(
    (counted) => countedTokenBound(counted) + images,
    () => bound,
  );
  const inputTokens = Math.min(bound, tokens);
  const worst = worstCase(deps, call, plan.attempts, inputTokens, outputTokens);
  return await hold(deps, { call, inputTokens, outputTokens, worst });
}

function hold(deps: ReserveDeps, sized: SizedCall): MaybePromise<ReservedCall> {
  const { call } = sized;
  const { hold: mode = call.key.hold, holdWaitMs } = call.request.svc;
  // What embeds or ranks has no output to limit.
  const isFit = mode === "fit" && call.incoming.format.task === "generate";
  if (!isFit && holdWaitMs === 0) return holdInFull(deps, sized);
  return holdOtherwise(deps, isFit ? new FittedWish(deps, sized) : new FullWish(deps, sized));
}

const holdInFull = (deps: ReserveDeps, sized: SizedCall): MaybePromise<ReservedCall> =>
  afterWith(takeHolds(deps, sized.call.key, sized.worst.microUsd), heldInFull, deps, sized);

function heldInFull(holds: Holds | HoldRefusal, deps: ReserveDeps, sized: SizedCall): ReservedCall {
  if ("refusedBy" in holds) throw refusalError(deps, sized, holds);
  return sized.call.withReservation(inFull(sized, holds));
}

function inFull({ call, inputTokens, outputTokens, worst }: SizedCall, holds: Holds): Reservation {
  const reservation = { holds, inputTokens, outputTokens, toolUses: worst.toolUses };
  const lowered = loweredCovers(call);
  return lowered === undefined ? reservation : { ...reservation, lowered };
}

/** Takes what the call wishes for, now or, where it may wait, in its turn. */
function holdOtherwise(deps: ReserveDeps, wish: FullWish): MaybePromise<ReservedCall> {
  const { sized } = wish;
  const { call } = sized;
  const { holdWaitMs } = call.request.svc;
  const { waits } = deps;
  const { orgId } = call.key;
  const wait = (refusal?: HoldRefusal) =>
    waits.enter(call, wish, holdWaitMs, refusal).then((taken) => call.withReservation(taken));
  const mayWait = () => holdWaitMs > 0 && wish.couldBeMet();
  // Those that came before are served first.
  if (waits.hasLine(orgId) && mayWait()) {
    if (!waits.hasRoom(orgId)) throw fail("insufficient_credits", LINE_FULL);
    return wait();
  }
  return after(wish.take(), (taken) => {
    if (!("refusedBy" in taken)) return call.withReservation(taken);
    if (mayWait() && waits.hasRoom(orgId)) return wait(taken);
    // Once more, so that a budget that refuses it is told of as exceeded.
    const last = taken.refusedBy === "budget" ? wish.takeLast() : taken;
    return after(last, (again) => {
      if ("refusedBy" in again) throw wish.refusal(again);
      return call.withReservation(again);
    });
  });
}

const LINE_FULL =
  "As many calls as may wait for credit or budgets already do (hold_wait_ms). Wait for some of them to end.";

/** The hold in full, which may be waited for. */
class FullWish implements Wish {
  readonly sized: SizedCall;
  protected readonly deps: ReserveDeps;
  /** Whose credit and budgets it is held on. */
  protected key: KeyContext;

  constructor(deps: ReserveDeps, sized: SizedCall) {
    this.deps = deps;
    this.sized = sized;
    this.key = sized.call.key;
  }

  renew(): void {
    this.key = this.deps.keyring.current(this.key, "inference");
  }

  /** Micro-USD without which the call cannot be made. */
  protected get leastMicroUsd(): number {
    return this.sized.worst.microUsd;
  }

  take(): MaybePromise<Reservation | HoldRefusal> {
    return this.#inFull(true);
  }

  takeLast(): MaybePromise<Reservation | HoldRefusal> {
    return this.#inFull(false);
  }

  #inFull(isTrial: boolean): MaybePromise<Reservation | HoldRefusal> {
    return after(takeHolds(this.deps, this.key, this.sized.worst.microUsd, isTrial), (holds) =>
      "refusedBy" in holds ? holds : inFull(this.sized, holds),
    );
  }

  couldBeMet(): boolean {
    const { key } = this;
    const { purse, budgets } = this.deps;
    return Math.min(purse.balance(key.orgId), budgets.room(scopeOf(key)).idleMicroUsd) >= this.leastMicroUsd;
  }

  refusal(refusal: HoldRefusal): WeirError {
    return refusalError(this.deps, this.sized, refusal);
  }
}

/** Calls at other cells may take the credit that a call was to be fitted to: it is fitted anew so often. */
const FITS = 8;

/** The hold in full, or what there is. */
class FittedWish extends FullWish {
  #fitting: Fitting | undefined;

  get #sizes(): Fitting {
    this.#fitting ??= new Fitting(this.deps, this.sized.call, this.sized.inputTokens);
    return this.#fitting;
  }

  protected override get leastMicroUsd(): number {
    return this.#sizes.leastMicroUsd;
  }

  /** In full first: among several cells, its refusal proves how much there is. */
  override take(): MaybePromise<Reservation | HoldRefusal> {
    return after(super.take(), (taken) => ("refusedBy" in taken ? this.#fit(taken, FITS) : taken));
  }

  /** The shortest answer: a budget that covers it refuses nothing, and is not told of as exceeded. */
  override takeLast(): MaybePromise<Reservation | HoldRefusal> {
    const fitted = this.#sizes.within(this.leastMicroUsd);
    if (fitted === undefined) return super.takeLast();
    return after(takeHolds(this.deps, this.key, fitted.microUsd), (holds) =>
      "refusedBy" in holds ? holds : { ...inFull(this.sized, holds), fit: fitted.fit },
    );
  }

  override refusal(refusal: HoldRefusal): WeirError {
    return refusalError(this.deps, this.sized, refusal, this.#sizes);
  }

  /** @param refusal of the last try: it proves how much credit there is, or how much room in the budgets */
  #fit(refusal: HoldRefusal, left: number): MaybePromise<Reservation | HoldRefusal> {
    const { key } = this;
    const { purse, budgets } = this.deps;
    const { microUsd: roomMicroUsd } = budgets.room(scopeOf(key));
    const creditMicroUsd =
      refusal.refusedBy === "credit" ? purse.available(key.orgId) : Number.POSITIVE_INFINITY;
    const fitted = left === 0 ? undefined : this.#sizes.within(Math.min(roomMicroUsd, creditMicroUsd));
    if (fitted === undefined) return refusal;
    return after(takeHolds(this.deps, key, fitted.microUsd, true), (holds) =>
      "refusedBy" in holds ? this.#fit(holds, left - 1) : { ...inFull(this.sized, holds), fit: fitted.fit },
    );
  }
}

/** @param fitting of a call that may be fitted, and was not covered even so */
function refusalError(
  deps: ReserveDeps,
  { call, worst }: SizedCall,
  refusal: HoldRefusal,
  fitting?: Fitting,
): WeirError {
  const microUsd = fitting?.leastMicroUsd ?? worst.microUsd;
  const what = fitting === undefined ? "This call" : "The shortest answer of this call";
  const text = `${what} may cost up to $${usdString(microUsd)}`;
  // What embeds or ranks has no answer that could be shorter, and does not wait.
  const isGenerating = call.incoming.format.task === "generate";
  const mayBeShorter = fitting === undefined && isGenerating;
  const shorter = mayBeShorter ? 'lower max_tokens, or send it with svc.hold "fit"' : "";
  if (refusal.refusedBy === "budget") {
    const cure = shorter === "" ? "" : ` To stay within it, ${shorter}.`;
    return budgetError(refusal.budget, { text, cure, microUsd });
  }
  const { orgId } = call.key;
  const availableMicroUsd = deps.purse.available(orgId);
  const balanceMicroUsd = deps.purse.balance(orgId);
  const isHeld = balanceMicroUsd >= microUsd && Number.isFinite(balanceMicroUsd);
  const inTurn = isGenerating ? " (a stream waits with svc.hold_wait_ms)" : "";
  const cures = [
    isHeld ? `Wait for other calls, which hold the rest${inTurn}` : "Add credits",
    ...(shorter === "" ? [] : [shorter]),
  ];
  const message = `${text}; $${usdString(availableMicroUsd)} is available. ${cures.join(", ")}.`;
  return fail("insufficient_credits", message, {
    details: { required_micro_usd: microUsd, available_micro_usd: availableMicroUsd },
  });
}

/**
 * Extends the hold by `moreTokens` output tokens of a running stream. @returns false if refused: then the stream must end
 * @param fee set if an org's own key is answering: the hold is extended by the fee for those tokens
 * @param tiers that the endpoint is asked for
 */
export function extend(
  deps: HoldDeps,
  reservation: Reservation,
  endpoint: Endpoint,
  moreTokens: number,
  fee?: ByokFee,
  tiers?: TierNames,
): MaybePromise<boolean> {
  const unitNano = dearest(endpoint.prices, tiers).output;
  return after(grow(deps, reservation, moreTokens, unitNano, fee), (isCovered) => {
    if (isCovered) coverAt(reservation, endpoint).outputTokens += moreTokens;
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
