/**
 * Calls that wait for credit and budgets that other calls hold (`svc.hold_wait_ms`): a line for each org, in the order of their coming.
 * What a call waits for goes to none behind it. A line is served when a call of its org ends, and again and again meanwhile: what other
 * cells free, a top-up, or a new day is seen so.
 */
import type { Clock, Timers } from "../../../base/clock.ts";
import { fail, WeirError } from "../../../base/errors.ts";
import type { MaybePromise } from "../../../base/maybe-promise.ts";
import { WHOSE } from "../../../credits/budgets/budget.ts";
import type { Limits } from "../../../credits/limits/limits.ts";
import type { Call, PlannedCall, Reservation } from "../call.ts";
import { streamHeaders } from "../headers.ts";
import { type HoldDeps, type HoldRefusal, releaseHolds } from "./holds.ts";

export interface HoldQueueDeps extends HoldDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly limits: Limits;
  /** Most calls that wait; and those of one org. */
  readonly maxWaiting: number;
  readonly maxWaitingOfOrg: number;
  /** Silence towards a client before it is sent a comment line; 0: no line. */
  readonly keepAliveMs: number;
}

/** What a call waits for. */
export interface Wish {
  /**
   * Takes the call's key as it is now: it may have been revoked since, or its budgets may be others.
   * @throws WeirError 401 or 403 where a new call of the key would be refused
   */
  renew(): void;
  /** Takes the holds, or says why they are not to be had now. */
  take(): MaybePromise<Reservation | HoldRefusal>;
  /** The least that the call can do with, for the last time: a budget that refuses it is told of as exceeded. */
  takeLast(): MaybePromise<Reservation | HoldRefusal>;
  /** Whether they could be had if no other call held anything. */
  couldBeMet(): boolean;
  /** The error of a call whose wish can never be met. */
  refusal(refusal: HoldRefusal): WeirError;
}

/** Thrown to a call that waits when its client leaves. */
export class ClientLeft extends Error {}

/** How often a line is served though no call of its org has ended here. At a cell it costs an exchange with Redis. */
const LOOK_MS = 200;

interface Waiter {
  readonly call: PlannedCall;
  readonly wish: Wish;
  readonly sinceMs: number;
  readonly resolve: (reservation: Reservation) => void;
  readonly reject: (error: Error) => void;
  stopDeadline: (() => void) | undefined;
  stopKeepAlive: (() => void) | undefined;
  isOver: boolean;
  /** What it lacked when it was asked last; undefined: it stood behind another one since it came. */
  refusal: HoldRefusal | undefined;
  /** Set while it could not be known whether there is credit. */
  unknown: WeirError | undefined;
}

/** A line is not looked at for so long after it could not be known whether there is credit. */
const REST_MS = 2000;

interface Line {
  readonly waiters: Waiter[];
  isServed: boolean;
  /** Something was freed while the line was being served. */
  isDue: boolean;
  restsUntilMs: number;
}

export class HoldQueue {
  readonly #deps: HoldQueueDeps;
  readonly #lines = new Map<string, Line>();
  #waiting = 0;
  #stopLooking: (() => void) | undefined;
  #isShutDown = false;

  constructor(deps: HoldQueueDeps) {
    this.#deps = deps;
  }

  /** Number of calls that wait. */
  get size(): number {
    return this.#waiting;
  }

  /** Whether a call of the org waits. */
  hasLine(orgId: string): boolean {
    return this.#lines.has(orgId);
  }

  /** Whether one more call of the org may wait. */
  hasRoom(orgId: string): boolean {
    const { maxWaiting, maxWaitingOfOrg } = this.#deps;
    const ofOrg = this.#lines.get(orgId)?.waiters.length ?? 0;
    return this.#waiting < maxWaiting && ofOrg < maxWaitingOfOrg;
  }

  /**
   * Begins the call's stream, with a keep-alive, and waits for its turn.
   * @param refusal of the wish, where it was asked already
   * @throws WeirError (as a rejection) 402 once the time is over or the wish can never be met, 503 at a shutdown; ClientLeft
   */
  enter(call: PlannedCall, wish: Wish, withinMs: number, refusal?: HoldRefusal): Promise<Reservation> {
    const { clock } = this.#deps;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        call,
        wish,
        resolve,
        reject,
        sinceMs: clock.monotonic(),
        stopDeadline: undefined,
        stopKeepAlive: undefined,
        isOver: false,
        unknown: undefined,
        refusal,
      };
      const line = this.#lineOf(call.key.orgId);
      line.waiters.push(waiter);
      this.#waiting++;
      if (this.#isShutDown) {
        this.#fail(waiter, shuttingDown());
        return;
      }
      this.#orFail(waiter, () => this.#beginWait(waiter, withinMs));
      if (waiter.isOver) return;
      this.#look();
      // The first of a line was refused just now.
      if (line.waiters.length > 1) void this.#serve(line);
    });
  }

  #beginWait(waiter: Waiter, withinMs: number): void {
    const { call } = waiter;
    const { reply, format } = call.incoming;
    reply.onGone(() => this.#fail(waiter, new ClientLeft()));
    if (waiter.isOver) return;
    reply.openStream(streamHeaders(this.#deps.limits, call), format.keepAlive);
    call.streaming = true;
    this.#send(call);
    const end = () => this.#fail(waiter, timeOver(waiter, withinMs));
    waiter.stopDeadline = this.#deps.timers.after(withinMs, end);
    this.#keepAlive(waiter);
  }

  /** A fault ends the wait: a call that has failed must not stay in the line, where holds would be taken for it. */
  #orFail(waiter: Waiter, act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#fail(waiter, error as Error);
    }
  }

  /** A call of the org has ended. */
  freed(orgId: string): void {
    const line = this.#lines.get(orgId);
    if (line !== undefined) void this.#serve(line);
  }

  /** Ends all waits, and those of calls that come later. */
  shutDown(): void {
    this.#isShutDown = true;
    for (const { waiters } of [...this.#lines.values()])
      for (const waiter of [...waiters]) this.#fail(waiter, shuttingDown());
  }

  #lineOf(orgId: string): Line {
    let line = this.#lines.get(orgId);
    if (line === undefined) {
      line = { waiters: [], isServed: false, isDue: false, restsUntilMs: 0 };
      this.#lines.set(orgId, line);
    }
    return line;
  }

  #send(call: Call): void {
    const { reply, format } = call.incoming;
    const bytes = Buffer.from(format.keepAlive);
    call.bytesOut += bytes.length;
    reply.write(bytes);
  }

  #keepAlive(waiter: Waiter): void {
    const { timers, keepAliveMs } = this.#deps;
    if (keepAliveMs === 0) return;
    const again = () => {
      if (waiter.isOver) return;
      this.#send(waiter.call);
      this.#keepAlive(waiter);
    };
    waiter.stopKeepAlive = timers.after(keepAliveMs, () => this.#orFail(waiter, again));
  }

  #look(): void {
    this.#stopLooking ??= this.#deps.timers.after(LOOK_MS, () => {
      this.#stopLooking = undefined;
      const nowMs = this.#deps.clock.monotonic();
      for (const line of this.#lines.values()) if (nowMs >= line.restsUntilMs) void this.#serve(line);
      if (this.#lines.size > 0) this.#look();
    });
  }

  /** Goes along the line. Never rejects. */
  async #serve(line: Line): Promise<void> {
    line.isDue = true;
    if (line.isServed) return;
    line.isServed = true;
    while (line.isDue) {
      line.isDue = false;
      /** Ids of orgs, projects and lineages of keys of which nothing is left for those behind. */
      const taken = new Set<string>();
      for (const waiter of [...line.waiters]) {
        const { orgId, projectId, lineageId } = waiter.call.key;
        if (taken.has(orgId)) break;
        if (waiter.isOver || taken.has(projectId) || taken.has(lineageId)) continue;
        const lacking = await this.#try(waiter, line);
        if (lacking !== undefined) taken.add(lacking);
      }
    }
    line.isServed = false;
  }

  /** @returns the id of the org, project or lineage whose credit or budget the waiter still waits for */
  async #try(waiter: Waiter, line: Line): Promise<string | undefined> {
    const { call, wish } = waiter;
    try {
      wish.renew();
      const answer = await taken(wish);
      waiter.unknown = undefined;
      if (!("refusedBy" in answer)) this.#met(waiter, answer);
      else if (wish.couldBeMet()) {
        waiter.refusal = answer;
        return lackingOf(call, answer);
      } else this.#fail(waiter, wish.refusal(answer));
      return undefined;
    } catch (error) {
      if (error instanceof WeirError && error.kind === "storage_unavailable") {
        waiter.unknown = error;
        line.restsUntilMs = this.#deps.clock.monotonic() + REST_MS;
        return call.key.orgId;
      }
      this.#fail(waiter, error as Error);
      return undefined;
    }
  }

  #met(waiter: Waiter, reservation: Reservation): void {
    const { holds } = reservation;
    // Its time is over, or its client has left, since it was asked for.
    if (waiter.isOver && holds !== undefined) releaseHolds(this.#deps, holds);
    if (this.#leave(waiter)) waiter.resolve(reservation);
  }

  #fail(waiter: Waiter, error: Error): void {
    if (this.#leave(waiter)) waiter.reject(error);
  }

  /** False where it has left already. */
  #leave(waiter: Waiter): boolean {
    if (waiter.isOver) return false;
    waiter.isOver = true;
    const { call, sinceMs } = waiter;
    waiter.stopDeadline?.();
    waiter.stopKeepAlive?.();
    call.waitedMs = this.#deps.clock.monotonic() - sinceMs;
    this.#waiting--;
    const line = this.#lineOf(call.key.orgId);
    line.waiters.splice(line.waiters.indexOf(waiter), 1);
    if (line.waiters.length === 0) this.#lines.delete(call.key.orgId);
    else void this.#serve(line);
    return true;
  }
}

/** Takes what a call wishes to hold. Where a budget can no longer come to cover it, the least that the call can do with is asked for. */
async function taken(wish: Wish): Promise<Reservation | HoldRefusal> {
  const answer = await wish.take();
  const isLast = "refusedBy" in answer && answer.refusedBy === "budget" && !wish.couldBeMet();
  return isLast ? await wish.takeLast() : answer;
}

/** Whose credit or budget it was that refused. */
function lackingOf({ key }: PlannedCall, refusal: HoldRefusal): string {
  if (refusal.refusedBy === "credit" || refusal.budget.budget === "org_monthly") return key.orgId;
  return refusal.budget.budget === "project_monthly" ? key.projectId : key.lineageId;
}

const shuttingDown = (): WeirError =>
  fail("shutting_down", "The gateway is shutting down.", { retryAfterMs: 1000 });

/** Where it is not known whether there was credit at last, that is said. */
const timeOver = ({ unknown, refusal }: Waiter, withinMs: number): WeirError =>
  unknown ??
  fail(
    "insufficient_credits",
    `Other calls held the ${lackedIn(refusal)} that this one needs for more than ${withinMs} ms (hold_wait_ms).`,
    refusal?.refusedBy === "budget" ? { details: { budget: refusal.budget.budget } } : {},
  );

/** What a call lacked, in a sentence. */
function lackedIn(refusal: HoldRefusal | undefined): string {
  if (refusal === undefined) return "credit or budget";
  return refusal.refusedBy === "credit" ? "credit" : `${WHOSE[refusal.budget.budget]} budget`;
}
