/**
 * What a cell has leased of something that all cells spend: an org's credit (`OrgLease`) or a hard budget
 * (`scope-lease.ts`). Invariant: the open holds and the charges that Redis does not know take no more than the lease, except
 * where an upstream reported more than was held. While less is on its way to Redis, the lease counts as that.
 */

/** A call that the lease did not cover. */
export interface Waiter {
  readonly microUsd: number;
  /** Monotonic. */
  readonly deadlineMs: number;
  /** Whether the hold was taken: false once it is proven that the credit does not suffice. */
  readonly resolve: (isTaken: boolean) => void;
  readonly reject: (error: Error) => void;
  /** Takes the hold. */
  readonly take: () => void;
}

/** What Redis answers of a lease: see `exchange_credit` in `scripts/exchange/40-credit.lua`, and `exchange_budget` in `60-budgets.lua`. */
export interface LeaseAnswer {
  readonly leaseMicroUsd: number;
  /** What no cell has leased; below zero where an upstream reported more than was held. */
  readonly freeMicroUsd: number;
  /** What there is, whoever holds it. */
  readonly balanceMicroUsd: number;
  /** Balance without all holds that cells told of. */
  readonly availableMicroUsd: number;
  readonly outcome: number;
}

/** A lease is granted at most up to this: whole numbers of doubles. */
const MOST_MICRO_USD = 2 ** 52;
/** After so long without a call half as much counts as spent lately: at a steady pace, that of 1.4 times as long. */
const HALF_LIFE_MS = 1000;
/** The part of what is free that a cell may take without a call that needs it. */
const SHARE = 8;
/** Where that part covers fewer calls, only what calls need is leased. */
const NEAR_CALLS = 4;
/** A cell that was asked to give credit back leases only what calls need for so long. */
const SCARCE_MS = 2000;

export const RESTATING = 3;
const NOBODY: ReadonlySet<Waiter> = new Set();

export abstract class Lease {
  /** What is leased. */
  abstract readonly kind: "credit" | "budget";
  /** Whose it is, as Redis names them: the id of an org, or a scope of budgets. */
  readonly id: string;
  /** The lease is to last so long without Redis. */
  readonly #aheadMs: number;
  /** As Redis last said. */
  leaseMicroUsd = 0;
  /** What holds and charges may take: the lease, or what it may become by an exchange under way. */
  #ceilingMicroUsd = 0;
  #holdsMicroUsd = 0;
  openHolds = 0;
  /** Charges that Redis does not have, or has without an answer yet. */
  #pendingMicroUsd = 0;
  #freeMicroUsd = 0;
  /** Balance without the holds of other cells; undefined before the first answer. */
  #toldMicroUsd: number | undefined;
  #balanceMicroUsd = Number.POSITIVE_INFINITY;
  #recentMicroUsd = 0;
  #recentAtMs = 0;
  #typicalMicroUsd = 0;
  /** Since the lease was last given back. */
  #calls = 0;
  #scarceUntilMs = Number.NEGATIVE_INFINITY;
  /** What Redis was told the last time. */
  reportedMicroUsd = 0;
  reportedAtMs = 0;
  /** The last call, or the answer to it. */
  usedAtMs: number;
  /** The next exchange gives back all that is idle. */
  givesBack = false;
  /** An exchange is under way: its answer may grant what is not leased yet. */
  #isAsked = false;
  /** Calls that it asks for: its answer proves nothing to others. */
  #asked: ReadonlySet<Waiter> = NOBODY;
  waiters: Waiter[] = [];

  /** @param aheadMs how long the lease is to last without Redis */
  constructor(id: string, nowMs: number, aheadMs: number) {
    this.id = id;
    this.#aheadMs = aheadMs;
    this.usedAtMs = nowMs;
    this.#recentAtMs = nowMs;
  }

  /** Open holds and charges that Redis does not have. */
  get usedMicroUsd(): number {
    return this.#holdsMicroUsd + this.#pendingMicroUsd;
  }

  get holdsMicroUsd(): number {
    return this.#holdsMicroUsd;
  }

  get headroomMicroUsd(): number {
    return this.#ceilingMicroUsd - this.usedMicroUsd;
  }

  /** Balance without all holds, as far as this cell knows. */
  get availableMicroUsd(): number {
    return (this.#toldMicroUsd ?? this.leaseMicroUsd) - this.usedMicroUsd;
  }

  /** Balance with all holds, as far as this cell knows: infinite before the first answer. */
  get idleMicroUsd(): number {
    return this.#balanceMicroUsd - this.#pendingMicroUsd;
  }

  /** Redis has said what there is, since this cell's last calls for it began. */
  get isTold(): boolean {
    return this.#toldMicroUsd !== undefined;
  }

  /** Whether a hold of this fits now. Nothing is refused to a call that costs nothing but by a balance below zero. */
  fits(microUsd: number): boolean {
    if (microUsd > 0) return microUsd <= this.headroomMicroUsd;
    return this.#toldMicroUsd !== undefined && this.availableMicroUsd >= 0;
  }

  take(microUsd: number, nowMs: number): void {
    this.#holdsMicroUsd += microUsd;
    this.#recentMicroUsd = this.#recent(nowMs) + microUsd;
    this.#recentAtMs = nowMs;
    this.#typicalMicroUsd = microUsd;
    this.#calls++;
    this.usedAtMs = nowMs;
  }

  /** @param microUsd below zero where a close is undone */
  free(microUsd: number): void {
    this.#holdsMicroUsd -= microUsd;
  }

  charge(microUsd: number): void {
    this.#pendingMicroUsd += microUsd;
  }

  isScarce(nowMs: number): boolean {
    return nowMs < this.#scarceUntilMs;
  }

  /** So little is free that other cells' calls are refused for what this cell holds by its last word. */
  get isTight(): boolean {
    return this.#freeMicroUsd < this.reportedMicroUsd;
  }

  /** Other cells' calls, or a posting, need what is idle here. */
  want(nowMs: number): void {
    this.givesBack = true;
    this.#scarceUntilMs = nowMs + SCARCE_MS;
  }

  /** What is leased beyond what calls need: what is spent while the cell may act without Redis, within a share of what is free. */
  slack(nowMs: number): number {
    if (this.#calls < 2 || this.isScarce(nowMs)) return 0;
    const share = Math.floor((this.#freeMicroUsd + Math.max(0, this.headroomMicroUsd)) / SHARE);
    if (share < NEAR_CALLS * this.#typicalMicroUsd) return 0;
    const aheadMicroUsd = Math.ceil((this.#recent(nowMs) * this.#aheadMs) / HALF_LIFE_MS);
    return Math.min(share, Math.max(aheadMicroUsd, 2 * this.#typicalMicroUsd));
  }

  needsMore(nowMs: number): boolean {
    return this.headroomMicroUsd * 2 < this.slack(nowMs);
  }

  /**
   * What the next exchange asks for. What it may take from the lease can no longer be used from now on.
   * @param sentMicroUsd charges that go with it
   */
  ask(sentMicroUsd: number, nowMs: number): { heldMicroUsd: number; targetMicroUsd: number; need: number } {
    this.#isAsked = true;
    this.#asked = this.givesBack || this.waiters.length === 0 ? NOBODY : new Set(this.waiters);
    const heldMicroUsd = Math.max(0, this.usedMicroUsd - sentMicroUsd);
    let targetMicroUsd = heldMicroUsd;
    let need = -1;
    if (!this.givesBack) {
      let needs = 0;
      for (const { microUsd } of this.waiters) {
        needs += microUsd;
        if (microUsd > 0) need = need < 0 ? microUsd : Math.min(need, microUsd);
      }
      targetMicroUsd = Math.min(MOST_MICRO_USD, heldMicroUsd + needs + this.slack(nowMs));
    }
    // What goes back is not taken again before calls come.
    if (this.givesBack) this.#calls = 0;
    this.givesBack = false;
    this.#ceilingMicroUsd = Math.min(this.leaseMicroUsd, targetMicroUsd + sentMicroUsd);
    this.reportedMicroUsd = heldMicroUsd;
    this.reportedAtMs = nowMs;
    return { heldMicroUsd, targetMicroUsd, need: Math.min(need, MOST_MICRO_USD) };
  }

  /** Whether the latest exchange asked for what is needed now. */
  protected abstract get isAnswerCurrent(): boolean;

  /**
   * Takes the answer in and serves the calls that wait, in their order. One is refused where Redis was asked for it and knows the
   * credit to be taken; one that may still get some from other cells, or was not asked for, goes on waiting.
   */
  answered(answer: LeaseAnswer, sentMicroUsd: number): void {
    this.#isAsked = false;
    this.#pendingMicroUsd -= sentMicroUsd;
    this.leaseMicroUsd = answer.leaseMicroUsd;
    this.#ceilingMicroUsd = answer.leaseMicroUsd;
    this.#freeMicroUsd = answer.freeMicroUsd;
    this.#toldMicroUsd = answer.availableMicroUsd + this.reportedMicroUsd;
    this.#balanceMicroUsd = answer.balanceMicroUsd;
    const waiting = this.waiters;
    this.waiters = [];
    const isCurrent = this.isAnswerCurrent;
    const isProof = isCurrent && answer.outcome !== RESTATING;
    for (const waiter of waiting) {
      if (isCurrent && this.fits(waiter.microUsd)) {
        waiter.take();
        waiter.resolve(true);
      } else if (isProof && this.#asked.has(waiter) && this.availableMicroUsd < waiter.microUsd) {
        waiter.resolve(false);
      } else this.waiters.push(waiter);
    }
  }

  /** Redis thinks that the cell holds, or needs, something else than it does. */
  isStale(nowMs: number): boolean {
    return this.usedMicroUsd !== this.reportedMicroUsd || this.headroomMicroUsd > 2 * this.slack(nowMs);
  }

  /** @returns who has waited too long */
  takeLate(nowMs: number): Waiter[] {
    const late = this.waiters.filter(({ deadlineMs }) => deadlineMs <= nowMs);
    if (late.length > 0) this.waiters = this.waiters.filter(({ deadlineMs }) => deadlineMs > nowMs);
    return late;
  }

  /** Nothing of it is needed, here or in Redis. */
  isGone(): boolean {
    return this.isIdle() && !this.#isAsked && this.leaseMicroUsd === 0 && this.reportedMicroUsd === 0;
  }

  isIdle(): boolean {
    return this.openHolds === 0 && this.usedMicroUsd === 0 && this.waiters.length === 0;
  }

  #recent(nowMs: number): number {
    return this.#recentMicroUsd * 2 ** ((this.#recentAtMs - nowMs) / HALF_LIFE_MS);
  }
}

/** What a cell has leased of one org's credit. */
export class OrgLease extends Lease {
  readonly kind = "credit";

  /** An org's credit is the same, whatever calls come with. */
  protected override get isAnswerCurrent(): boolean {
    return true;
  }
}
