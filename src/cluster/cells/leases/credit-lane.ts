/**
 * The conversation of a cell with Redis about credit: one exchange at a time carries the charges that are committed, in the order of
 * their log, and what the cell wants of each org. Calls do not wait for it while leases last. No lease stays where nobody calls.
 */
import type { Clock } from "../../../base/clock.ts";
import { fail } from "../../../base/errors.ts";
import { Soon } from "../../../store/soon.ts";
import type { Lane, Operation } from "../exchange/exchange.ts";
import type { Charges, Numbering, Row } from "./charges.ts";
import { OrgLease } from "./lease.ts";
import { asText } from "./recovery.ts";
import { ScopeLeases, type ScopeLeasesOptions } from "./scope-leases.ts";
import { type AnyLease, answersOf, type Sum, type Turn, type TurnAnswer, turnOf } from "./turn.ts";

export interface CreditLaneOptions extends Omit<ScopeLeasesOptions, "onNew"> {
  readonly lane: Lane;
  readonly clock: Clock;
  readonly charges: Charges;
  /** How long a call waits for credit that other cells are asked for, or for a Redis that does not answer. Default: 1 s. */
  readonly waitMs?: number | undefined;
  /** An org's lease without calls is given back after this. Default: 3 s. */
  readonly idleMs?: number | undefined;
  /** This process may not go on. */
  readonly onEnd: (reason: Error) => void;
}

const WAIT_MS = 1000;
const IDLE_MS = 3000;
/** What a lease needs gathers for so long. */
const GATHER_MS = 10;
/** Charges do: leases cover them, so no call waits for them, and each exchange costs the same whatever it carries. */
const CHARGES_GATHER_MS = 50;
/** Between two exchanges for a call that waits for credit of other cells. */
const RETRY_MS = 15;
const SWEEP_MS = 100;
const LOOK_MS = 2;
/** Holds that changed are told again after this: what is shown as available is at most so old. */
const REPORT_MS = 500;
/** A Redis that owes an answer for so long gets no more calls to wait for it. */
const STALLED_MS = 1000;
const TURN_ORGS = 1000;
/** The script's answer where it took nothing. */
const FROZEN = 2;
const FROZEN_RETRY_MS = 2;
/** Beyond so many orgs leases go back as soon as they are idle. */
const MANY_ORGS = 20_000;

export class CreditLane {
  readonly #options: CreditLaneOptions;
  readonly #waitMs: number;
  readonly #idleMs: number;
  readonly #orgs = new Map<string, OrgLease>();
  /** Leases of budgets, which go with those of credit. */
  readonly scopes: ScopeLeases;
  #dirty = new Set<AnyLease>();
  /** The last row that is in Redis. */
  #chargedTo: number;
  /** Since when an exchange is under way. */
  #sentMs: number | undefined;
  /** When the latest exchange that has an answer was sent, by both clocks. */
  #heard = { monotonicMs: Number.NEGATIVE_INFINITY, wallMs: Number.NEGATIVE_INFINITY };
  #working: Promise<void> | undefined;
  #ended: Error | undefined;
  #isClosed = false;
  #isUrgent = false;
  #isSecuring = false;
  readonly #soon = new Soon(GATHER_MS, () => this.#work());
  readonly #chargesSoon = new Soon(CHARGES_GATHER_MS, () => this.#workOnCharges());
  readonly #retry = new Soon(RETRY_MS, () => this.#askAgain());
  readonly #sweepSoon = new Soon(SWEEP_MS, () => this.#sweep());

  /** @param chargedTo the last row of the log that is in Redis */
  constructor(options: CreditLaneOptions, chargedTo: number) {
    this.#options = options;
    this.#waitMs = options.waitMs ?? WAIT_MS;
    this.#idleMs = options.idleMs ?? IDLE_MS;
    this.#chargedTo = chargedTo;
    this.scopes = new ScopeLeases({ ...options, onNew: () => this.#sweepSoon.ask() });
  }

  /** Orgs in memory. */
  get size(): number {
    return this.#orgs.size;
  }

  all(): Iterable<OrgLease> {
    return this.#orgs.values();
  }

  find(orgId: string): OrgLease | undefined {
    return this.#orgs.get(orgId);
  }

  of(orgId: string): OrgLease {
    let org = this.#orgs.get(orgId);
    if (org === undefined) {
      org = new OrgLease(orgId, this.#options.clock.monotonic(), this.#options.staleMs);
      this.#orgs.set(orgId, org);
      this.#sweepSoon.ask();
    }
    return org;
  }

  /** A charge that a former process wrote, and Redis does not have: leases cover it. */
  recovered(row: Row): void {
    this.of(row.orgId).charge(row.amountMicroUsd);
    this.scopes.recovered(row);
  }

  /** Whether leases may be spent: a cell that was silent for longer may have been retired, and its leases given to others. */
  isValid(): boolean {
    const { clock, staleMs } = this.#options;
    const { monotonicMs, wallMs } = this.#heard;
    const isOpen = this.#ended === undefined && !this.#isClosed;
    return isOpen && clock.monotonic() - monotonicMs < staleMs && clock.now() - wallMs < staleMs;
  }

  /** What the last exchange did not know of the lease goes with the next. */
  changed(lease: AnyLease): void {
    this.#dirty.add(lease);
    this.#soon.ask();
  }

  /** A charge was written: it goes with the next exchange once it is safe. */
  charged(): void {
    this.#chargesSoon.ask();
  }

  /** Somebody waits for the charges so far to be numbered. */
  sendCharges(): void {
    if (this.#hasCharges()) this.#workOnCharges();
  }

  /**
   * Waits for a lease that covers the amount.
   * @returns whether `take` was called: false where the credit is proven not to suffice
   * @throws WeirError 503 where that is not known in time
   */
  wait(lease: AnyLease, microUsd: number, take: () => void): Promise<boolean> {
    if (this.#ended !== undefined || this.#isClosed) return Promise.reject(unavailable());
    const nowMs = this.#options.clock.monotonic();
    if (this.#sentMs !== undefined && nowMs - this.#sentMs > STALLED_MS) return Promise.reject(unavailable());
    return new Promise<boolean>((resolve, reject) => {
      const deadlineMs = nowMs + this.#waitMs;
      lease.waiters.push({ microUsd, deadlineMs, resolve, reject, take });
      this.#dirty.add(lease);
      // Calls of one turn of the event loop share the exchange.
      setImmediate(() => this.#workNow());
    });
  }

  /** What the cell knows to be confirmed, for a new term. */
  restating(): Operation[] {
    const leases: (string | number)[] = [];
    for (const org of this.#orgs.values()) {
      if (org.leaseMicroUsd === 0) continue;
      leases.push(org.id, org.leaseMicroUsd);
      // A lease that was set aside anew may be more than the next answer says.
      this.changed(org);
    }
    for (const scope of this.scopes.all()) if (scope.leaseMicroUsd > 0) this.changed(scope);
    return [["credit_restate", this.#chargedTo, leases], this.scopes.restating()];
  }

  /** Sends all committed charges, and gives all leases back that calls do not hold. */
  async settleAll(): Promise<void> {
    for (const lease of this.#each()) this.#giveBack(lease);
    while (this.#ended === undefined && this.#hasMore()) {
      await this.#options.charges.secure().catch(() => {});
      this.#workNow();
      await this.#working;
      // What is not committed yet, or not safe, takes timers and the disk.
      if (this.#hasMore()) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    if (this.#ended !== undefined) throw this.#ended;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#rejectAll();
    try {
      await this.settleAll();
    } finally {
      for (const soon of [this.#soon, this.#chargesSoon, this.#retry, this.#sweepSoon]) soon.stop();
    }
  }

  #work(): void {
    if (this.#working !== undefined || this.#ended !== undefined) return;
    this.#working = this.#turns()
      .catch((error: Error) => this.#end(error))
      .finally(() => {
        this.#working = undefined;
      });
  }

  /** The next exchange carries all charges that are committed now. */
  #workOnCharges(): void {
    if (this.#isSecuring || this.#ended !== undefined) return;
    this.#isSecuring = true;
    this.#options.charges
      .secure()
      .then(
        () => this.#workNow(),
        // The store says why.
        () => this.#chargesSoon.ask(),
      )
      .finally(() => {
        this.#isSecuring = false;
      });
  }

  /** The next exchange does not wait for more to gather. */
  #workNow(): void {
    this.#isUrgent = true;
    this.#work();
  }

  async #turns(): Promise<void> {
    do {
      this.#isUrgent = false;
      const turn = this.#compose();
      if (turn === undefined) break;
      await this.#take(turn);
    } while (this.#isUrgent);
    if (this.#dirty.size > 0) this.#soon.ask();
    else if (this.#hasCharges()) this.#chargesSoon.ask();
  }

  #hasMore(): boolean {
    return this.#hasCharges() || this.#dirty.size > 0;
  }

  #hasCharges(): boolean {
    const { charges } = this.#options;
    return charges.newest() > this.#chargedTo || charges.isWriting();
  }

  async #take(turn: Turn): Promise<void> {
    const { lane, clock, charges } = this.#options;
    this.#sentMs = clock.monotonic();
    const heard = { monotonicMs: this.#sentMs, wallMs: clock.now() };
    const [answer = []] = await lane.send([turn.operation]);
    this.#sentMs = undefined;
    this.#heard = heard;
    const [isTaken, values, wanted, ...ofBudgets] = answer as TurnAnswer;
    if (isTaken === FROZEN) {
      this.#putBack(turn);
      await new Promise((resolve) => setTimeout(resolve, FROZEN_RETRY_MS));
      return;
    }
    if (isTaken !== 1)
      throw new Error(`Redis has this cell's charges up to row ${values}, not ${this.#chargedTo}`);
    const [spends, wantedScopes, crossed, redisMs, shiftMs, changes] = ofBudgets;
    this.scopes.heard({ redisMs, shiftMs, changes }, heard.monotonicMs);
    const { batch } = turn;
    const numbering = this.#answered(turn, values);
    for (const { scope, held, freeMicroUsd } of this.scopes.answered(turn.sent, spends)) {
      if (scope.hardMicroUsd > 0) this.#afterAnswer(scope, held, freeMicroUsd);
      else if (scope.isGone() && !this.#dirty.has(scope)) this.scopes.forget(scope);
    }
    if (batch !== undefined) {
      this.#chargedTo = batch.last;
      // The next batch is sent when this answer is safe: Redis keeps the latest one only.
      await charges.keep(batch.after, batch.last, numbering, crossed.map(asText));
    }
    for (const orgId of wanted) this.#wanted(this.of(String(orgId)));
    // One that was given back and forgotten meanwhile has nothing to give.
    const scopes = wantedScopes.map((name) => this.scopes.find(String(name)));
    for (const scope of scopes) if (scope !== undefined) this.#wanted(scope);
  }

  #wanted(lease: AnyLease): void {
    lease.want(this.#options.clock.monotonic());
    this.#dirty.add(lease);
    this.#isUrgent = true;
  }

  /** An act reads the credit of one of these orgs: the same goes with the next exchange. */
  #putBack({ sent }: Turn): void {
    for (const { lease, givesBack } of sent) {
      lease.givesBack ||= givesBack;
      this.#dirty.add(lease);
    }
    this.#isUrgent = true;
  }

  #answered(turn: Turn, values: readonly number[]): Numbering {
    const numbering: (string | number)[] = [];
    for (const { org, sumMicroUsd, first, balanceBeforeMicroUsd, answer } of answersOf(turn, values)) {
      if (first > 0) numbering.push(org.id, first, balanceBeforeMicroUsd);
      const held = org.usedMicroUsd;
      org.answered(answer, sumMicroUsd);
      this.#afterAnswer(org, held - sumMicroUsd, answer.freeMicroUsd);
    }
    return numbering;
  }

  /** @param held what was used before the answer, without the charges that it counted */
  #afterAnswer(lease: AnyLease, held: number, freeMicroUsd: number): void {
    const nowMs = this.#options.clock.monotonic();
    // Other cells' calls are refused, not kept waiting, once Redis knows that the last is held.
    if (lease.usedMicroUsd > held && freeMicroUsd < lease.usedMicroUsd) this.#dirty.add(lease);
    if (lease.needsMore(nowMs) && !this.#isClosed) this.changed(lease);
    if (lease.waiters.length > 0) this.#retry.ask();
  }

  #compose(): Turn | undefined {
    const { charges, clock } = this.#options;
    const nowMs = clock.monotonic();
    const batch = charges.batchAfter(this.#chargedTo);
    const sums = new Map<AnyLease, Sum>();
    for (const [orgId, charged] of batch?.orgs ?? []) sums.set(this.of(orgId), charged);
    for (const [name, { sumMicroUsd }] of batch?.scopes.sums ?? [])
      sums.set(this.scopes.of(name), { count: 0, sumMicroUsd });
    for (const lease of this.#next()) if (!sums.has(lease)) sums.set(lease, NO_CHARGES);
    // Orgs that other cells want credit of are told by answers: asked for while any lease is out.
    const isDue =
      this.#orgs.size + this.scopes.size > 0 &&
      nowMs - this.#heard.monotonicMs >= SWEEP_MS &&
      !this.#isClosed;
    if (sums.size === 0 && batch === undefined && !isDue) return undefined;
    for (const lease of sums.keys()) {
      this.#dirty.delete(lease);
      if (lease.givesBack && lease.waiters.length > 0) this.#retry.ask();
    }
    return turnOf(batch, sums, this.scopes, nowMs);
  }

  /** Those of which the next exchange tells; first those that calls wait for. */
  #next(): AnyLease[] {
    const next: AnyLease[] = [];
    for (const hasWaiters of [true, false])
      for (const lease of this.#dirty) {
        if (next.length >= TURN_ORGS) return next;
        if (lease.waiters.length > 0 === hasWaiters) next.push(lease);
      }
    return next;
  }

  #askAgain(): void {
    for (const lease of this.#each()) if (lease.waiters.length > 0) this.#dirty.add(lease);
    this.#workNow();
  }

  #giveBack(lease: AnyLease): void {
    lease.givesBack = true;
    this.#dirty.add(lease);
  }

  #sweep(): void {
    const nowMs = this.#options.clock.monotonic();
    const idleMs = this.#orgs.size + this.scopes.size > MANY_ORGS ? SWEEP_MS : this.#idleMs;
    for (const lease of this.#each()) {
      for (const { reject } of lease.takeLate(nowMs)) reject(unavailable());
      if (lease.isIdle() && nowMs - lease.usedAtMs >= idleMs) {
        if (!lease.isGone()) this.#giveBack(lease);
        else if (!this.#dirty.has(lease)) this.#forget(lease);
      } else if (nowMs - lease.reportedAtMs >= REPORT_MS && lease.isStale(nowMs)) this.#dirty.add(lease);
    }
    this.#work();
    if (this.#orgs.size + this.scopes.size > 0 && this.#ended === undefined) this.#sweepSoon.ask();
  }

  #end(error: Error): void {
    this.#ended = error;
    this.#rejectAll();
    this.#options.onEnd(error);
  }

  /** Leases of credit and of budgets. */
  *#each(): Generator<AnyLease> {
    yield* this.#orgs.values();
    yield* this.scopes.all();
  }

  #forget(lease: AnyLease): void {
    if (lease.kind === "budget") this.scopes.forget(lease);
    else this.#orgs.delete(lease.id);
  }

  #rejectAll(): void {
    for (const lease of this.#each()) for (const { reject } of lease.waiters.splice(0)) reject(unavailable());
  }
}

const NO_CHARGES: Sum = { count: 0, sumMicroUsd: 0 };

const unavailable = () =>
  fail("storage_unavailable", "The org's credit could not be looked up in time.", { retryAfterMs: 1000 });
