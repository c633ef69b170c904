/**
 * What a cell has of one key's limits: batches of requests and tokens that it may use for a moment, or ahead while little of the
 * limits is used, slots for calls in flight, and the calls that wait for an answer of the dataset. A batch or a free slot is used only
 * while it is surely still set aside.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Admission, KeyLimits, Refusal } from "../../../credits/limits/limits.ts";
import { SlidingWindow, WINDOW_MS } from "../../../credits/limits/window.ts";
import { elapsedMs, type Stamp } from "./stamp.ts";

/** A batch may be used so long, from before it was asked for; it counts in the dataset for 60.5 s. A part ahead is a longer one. */
export const BATCH_MS = 500;
/** Nothing is leased ahead of smaller limits: as in `scripts/exchange/50-limits.lua`. */
const LEAST_AHEAD = 1000;
/** While cells have less than this part of a limit's slots, free ones, which have no end of their own, are kept ahead. */
const AHEAD = 10;
/** A free slot may be used so long after the cell's last word of the key. */
export const SLOT_MS = 30_000;
/** No call lasts longer without a word of its cell. With `SLOT_MS` what the dataset waits for a cell that says nothing. */
export const LONGEST_CALL_MS = 3_600_000;
/** A batch this old is renewed when it is used, and at half its time; sooner where Redis takes its time. */
const RENEW_MS = 500;
const SOONEST_RENEW_MS = 50;
/** A free slot is kept so long for the next call of the cell. */
const KEEP_FREE_MS = 500;
/** With fewer slots than this, free ones are given back at once. */
export const FEW_SLOTS = 64;
const HALF_SECOND_MS = 500;
/** Fewer calls than this in half a second are asked for one by one, where nothing is leased ahead. */
const BUSY_CALLS = 4;
/** A part ahead is for so many times what came lately, and for so many calls at least. */
const AHEAD_SHARE = 2;
const LEAST_AHEAD_CALLS = 64;
/** Each half second with calls the heaviest call so far counts as this much of it. */
const HEAVIEST_KEPT = 0.9;

export interface Batch {
  readonly id: number;
  /** Redis's time of the grant. */
  readonly atMs: number;
  /** Before it was asked for. */
  readonly sent: Stamp;
  /** May be used so long since `sent`. */
  readonly goodMs: number;
  readonly granted: { readonly requests: number; readonly tokens: number };
  requests: number;
  tokens: number;
  /** Flat: milliseconds since `sent`, requests, tokens. Not told to the dataset yet. */
  uses: number[];
}

/** A call that waits for the dataset's answer. */
export interface Ask {
  readonly tokens: number;
  readonly asked: Stamp;
  /** Undefined once it was answered, or waited too long. */
  answer: { resolve(answer: Admission | Refusal): void; reject(error: unknown): void } | undefined;
}

/** All limits are numbers, 0 for none. */
export type Numbers = Readonly<Record<keyof KeyLimits, number>>;

export const numbersOf = ({ rpm = 0, tpm = 0, concurrency = 0 }: KeyLimits): Numbers => ({
  rpm: rpm ?? 0,
  tpm: tpm ?? 0,
  concurrency: concurrency ?? 0,
});

/** Requests, tokens and slots for a moment, and the same ahead; how long a part ahead is to be good, milliseconds. */
export type Wish = readonly [
  ...moment: [requests: number, tokens: number, slots: number],
  ...ahead: [requests: number, tokens: number, slots: number, goodMs: number],
];
const NO_WISH: Wish = [0, 0, 0, 0, 0, 0, 0];

/**
 * The age at which a batch is renewed: the request may wait for the one before it, and then takes as long itself.
 * @param replyMs what Redis takes to reply
 */
export const renewalMs = ({ goodMs }: Pick<Batch, "goodMs">, replyMs: number): number =>
  Math.min(RENEW_MS, goodMs / 2, Math.max(SOONEST_RENEW_MS, goodMs - 2 * replyMs - SOONEST_RENEW_MS));

/** Whether a part of a limit may be leased ahead, or there is none to lease of. */
const hasAhead = (limit: number): boolean => limit === 0 || limit >= LEAST_AHEAD;

const hasEnded = ({ goodMs, sent }: Batch, clock: Clock): boolean => elapsedMs(clock, sent) >= goodMs;

const isMostlyLeft = ({ requests, tokens, granted }: Batch): boolean =>
  requests * 2 >= granted.requests && tokens * 2 >= granted.tokens;

export class KeyState {
  readonly keyId: string;
  limits: Numbers;
  /** How long the cell may act without Redis. */
  readonly #staleMs: number;
  /** Oldest first. */
  batches: Batch[] = [];
  asks: Ask[] = [];
  /** Flat: of calls that were admitted after they had given up, see `undone` of the script. */
  undone: number[] = [];
  /** What this cell admitted: what others did not. */
  readonly requests = new SlidingWindow();
  readonly tokens = new SlidingWindow();
  othersRequests = 0;
  othersTokens = 0;
  othersUntilMs = 0;
  inFlight = 0;
  /** Slots for calls in the dataset, used or free. */
  held = 0;
  /** The same of all cells, by the latest answer. */
  heldByAll = 0;
  /** Slots of other cells then, used or free. */
  heldByOthers = 0;
  /** Called with the next answer: somebody looks at the key. */
  looks: (() => void)[] = [];
  /** Free slots that a request under way offers to calls that wait. */
  offered = 0;
  heldSent: Stamp = { monotonicMs: Number.NEGATIVE_INFINITY, wallMs: 0 };
  freeSinceMs = 0;
  /** Free slots that are few after the latest answer, which brought more; 0 where it brought none. */
  lowSlots = 0;
  /** Another cell wants slots: until then free ones are given back at once. */
  wantedUntilMs = 0;
  /** A request is on its way: what comes back is known soon. */
  isSent = false;
  /** The next request gives all batches back: a refusal counted what is left of them. */
  surrenders = false;
  /** The latest refusal by a window: what weighs as much is refused until then, without another look. */
  refusal:
    | { readonly tokens: number; readonly refusal: Refusal; readonly fromMs: number; untilMs: number }
    | undefined;
  /** Calls and tokens of the current half second and of the one before. */
  #halfSecondMs = 0;
  #calls = [0, 0];
  #weights = [0, 0];
  /** Tokens of the heaviest call lately. */
  #heaviest = 0;

  constructor(keyId: string, limits: Numbers, staleMs: number) {
    this.keyId = keyId;
    this.limits = limits;
    this.#staleMs = staleMs;
  }

  /** Batches were granted under other limits. */
  setLimits(limits: Numbers): void {
    const { rpm, tpm } = this.limits;
    if (rpm !== limits.rpm || tpm !== limits.tpm) this.surrenders = true;
    this.limits = limits;
    this.refusal = undefined;
  }

  /** A call arrived, whatever becomes of it. */
  note(nowMs: number, tokens: number): void {
    this.#shift(nowMs);
    (this.#calls[0] as number)++;
    (this.#weights[0] as number) += tokens;
    if (tokens > this.#heaviest) this.#heaviest = tokens;
  }

  /** Whether calls came in the last half second. */
  isUsed(nowMs: number): boolean {
    this.#shift(nowMs);
    return Math.max(...this.#calls) > 0;
  }

  /** What would spare questions. @param replyMs what Redis takes to reply @param asks calls that are asked for now */
  wish(clock: Clock, nowMs: number, replyMs: number, asks: number): Wish {
    if (!this.isUsed(nowMs)) return NO_WISH;
    const { rpm, tpm, concurrency } = this.limits;
    const calls = Math.max(...this.#calls);
    const tokens = Math.ceil(Math.max(1, ...this.#weights));
    const isBusy = calls >= BUSY_CALLS;
    // What goes back because no call needs it is not asked for again.
    const usesSlots = concurrency >= FEW_SLOTS && this.inFlight + asks > 0;
    const slots = !isBusy || this.free > 0 || !usesSlots ? 0 : calls;
    const times = (AHEAD_SHARE * this.#staleMs) / HALF_SECOND_MS;
    const callsAhead = Math.max(LEAST_AHEAD_CALLS, Math.ceil(calls * times));
    const slotsAhead = !usesSlots || concurrency < LEAST_AHEAD ? 0 : Math.max(0, callsAhead - this.free);
    const hasWindow = rpm !== 0 || tpm !== 0;
    if (!hasWindow || this.#hasFresh(clock, replyMs)) return [0, 0, slots, 0, 0, slotsAhead, 0];
    const moment = isBusy ? ([calls * 2, tokens * 2] as const) : ([0, 0] as const);
    if (!hasAhead(rpm) || !hasAhead(tpm)) return [...moment, slots, 0, 0, slotsAhead, 0];
    const tokensAhead = Math.ceil(Math.max(LEAST_AHEAD_CALLS * this.#heaviest, tokens * times));
    return [...moment, slots, callsAhead, tokensAhead, slotsAhead, this.#staleMs];
  }

  /** A free slot is kept so long for the next call of the cell: longer where cells have few of many. */
  get keepFreeMs(): number {
    const { concurrency } = this.limits;
    return concurrency >= LEAST_AHEAD && this.heldByAll * AHEAD <= concurrency ? this.#staleMs : KEEP_FREE_MS;
  }

  /** Whether free slots go back now. */
  givesBack(nowMs: number): boolean {
    if (this.limits.concurrency < FEW_SLOTS || nowMs < this.wantedUntilMs) return true;
    return nowMs - this.freeSinceMs >= this.keepFreeMs;
  }

  /** Free slots become few where there were more: the next ones are asked for before a call waits for them. */
  get lacksSlots(): boolean {
    return !this.isSent && this.free < this.lowSlots;
  }

  /** The next request gives everything back, and asks for nothing. */
  stop(): void {
    this.surrenders = true;
    this.freeSinceMs = Number.NEGATIVE_INFINITY;
    this.#calls = [0, 0];
  }

  /** Has a batch that is neither old nor half used. */
  #hasFresh(clock: Clock, replyMs: number): boolean {
    return this.batches.some(
      (batch) => isMostlyLeft(batch) && elapsedMs(clock, batch.sent) < renewalMs(batch, replyMs),
    );
  }

  /** One that ended is to be told of. */
  hasEndedBatch(clock: Clock): boolean {
    return this.batches.some((batch) => hasEnded(batch, clock));
  }

  /** Something is left that may be used now. */
  hasBatch(clock: Clock): boolean {
    return this.batches.some((batch) => !hasEnded(batch, clock));
  }

  /** Goes back: it has ended, or a newer one does as well. */
  isDone(batch: Batch, clock: Clock): boolean {
    if (this.surrenders || hasEnded(batch, clock)) return true;
    const newest = this.batches.at(-1);
    if (newest === undefined || newest === batch || !isMostlyLeft(newest)) return false;
    return !hasEnded(newest, clock);
  }

  #shift(nowMs: number): void {
    const sinceMs = nowMs - this.#halfSecondMs;
    if (sinceMs < HALF_SECOND_MS) return;
    const isNext = sinceMs < 2 * HALF_SECOND_MS;
    this.#calls = [0, isNext ? (this.#calls[0] ?? 0) : 0];
    this.#weights = [0, isNext ? (this.#weights[0] ?? 0) : 0];
    this.#heaviest *= HEAVIEST_KEPT;
    this.#halfSecondMs = nowMs;
  }

  get free(): number {
    return Math.max(0, this.held - this.inFlight - this.offered);
  }

  mayBegin(clock: Clock): boolean {
    if (this.limits.concurrency === 0) return true;
    return this.free > 0 && elapsedMs(clock, this.heldSent) < SLOT_MS;
  }

  /** The batch that covers a call now. */
  covering(clock: Clock, tokens: number): Batch | undefined {
    if (this.surrenders) return undefined;
    const { rpm, tpm } = this.limits;
    return this.batches.find(
      (batch) =>
        (rpm === 0 || batch.requests >= 1) &&
        (tpm === 0 || batch.tokens >= tokens) &&
        !hasEnded(batch, clock),
    );
  }

  /** @param replyMs what Redis takes to reply @returns whether the batch should be renewed soon */
  take(batch: Batch, clock: Clock, tokens: number, replyMs: number): boolean {
    const { rpm, tpm } = this.limits;
    const requests = rpm === 0 ? 0 : 1;
    const weight = tpm === 0 ? 0 : tokens;
    const ageMs = Math.ceil(elapsedMs(clock, batch.sent));
    batch.requests -= requests;
    batch.tokens -= weight;
    const { uses } = batch;
    const last = uses.length - 3;
    if (last >= 0 && uses[last] === ageMs) {
      (uses[last + 1] as number) += requests;
      (uses[last + 2] as number) += weight;
    } else uses.push(ageMs, requests, weight);
    if (this.isSent) return false;
    return (ageMs >= renewalMs(batch, replyMs) || !isMostlyLeft(batch)) && !this.#hasFresh(clock, replyMs);
  }

  count(nowMs: number, tokens: number): void {
    if (this.limits.rpm !== 0) this.requests.add(nowMs, 1);
    if (this.limits.tpm !== 0) this.tokens.add(nowMs, tokens);
  }

  /** A refusal that surely still holds, with the wait from now. */
  refused(nowMs: number, tokens: number): Refusal | undefined {
    const known = this.refusal;
    if (known === undefined) return undefined;
    if (nowMs >= known.untilMs) {
      this.refusal = undefined;
      return undefined;
    }
    if (tokens !== known.tokens) return undefined;
    const { refusal, fromMs } = known;
    if (refusal.code === "concurrency") return refusal;
    return { ...refusal, retryAfterMs: refusal.retryAfterMs - (nowMs - fromMs) };
  }

  /** Has something in the dataset that must be told or given back one day. */
  get isActive(): boolean {
    return this.batches.length > 0 || this.held > 0 || this.undone.length > 0;
  }

  /** Nothing would be lost but what headers say. */
  get isIdle(): boolean {
    // Calls of a request under way are in no list here.
    return this.inFlight === 0 && this.asks.length === 0 && !this.isSent && !this.isActive;
  }

  isForgotten(nowMs: number): boolean {
    return (
      this.isIdle &&
      this.requests.total(nowMs) === 0 &&
      this.tokens.total(nowMs) === 0 &&
      this.othersUntilMs <= nowMs
    );
  }

  rate(limit: number, own: SlidingWindow, others: number, nowMs: number) {
    if (limit === 0) return undefined;
    const isMixed = others > 0 && nowMs < this.othersUntilMs;
    const used = own.total(nowMs) + (isMixed ? others : 0);
    const resetMs = Math.max(own.emptyInMs(nowMs), isMixed ? this.othersUntilMs - nowMs : 0);
    return { limit, remaining: Math.max(0, limit - used), resetMs: Math.min(WINDOW_MS + BATCH_MS, resetMs) };
  }
}
