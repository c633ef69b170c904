/**
 * One model call from its body to its record: (continue →) admit → plan → (fetch media →) reserve (room to keep, credit) → attempt → relay →
 * settle → record, in this order; each step takes the result of the one before. (`authenticate` comes before the body is read: `keyring`.)
 */
import type { Clock } from "../../base/clock.ts";
import type { Endpoint } from "../../base/endpoint.ts";
import { asWeirError, fail, type WeirError } from "../../base/errors.ts";
import { during } from "../../base/turns/long-work.ts";
import type { AttemptRecord } from "../../record/record.ts";
import type { Store } from "../../store/store.ts";
import type { ClientRequest } from "../../wire/format.ts";
import { type AdmitDeps, admit } from "./admit.ts";
import { type AttemptDeps, Attempts } from "./attempts.ts";
import { type AcceptDeps, accepted } from "./background/accept.ts";
import { asBackground } from "./background/as-background.ts";
import type { Bodies } from "./body/bodies.ts";
import { type AdmittedCall, Call, type Incoming, type PlannedCall, type ReservedCall } from "./call.ts";
import { type ContinueDeps, continued } from "./continue.ts";
import type { DetachedCalls } from "./detached/detached-calls.ts";
import { detach, type JoinDeps, joined } from "./detached/join.ts";
import { progressOf } from "./detached/progress.ts";
import { CallCounts, type ExchangeCounts } from "./figures/call-counts.ts";
import { missedEndpoints } from "./figures/missed.ts";
import { answerHeaders, identityHeaders, JSON_TYPE, retryHeaders } from "./headers.ts";
import { type Claim, type IdempotentAnswers, replay } from "./kept/idempotency.ts";
import { type KeepRoomDeps, takeKeptRoom } from "./kept/keep-room.ts";
import { Live } from "./live/live.ts";
import type { WatchedCalls } from "./live/watched-calls.ts";
import { type FetchDeps, MediaFetches } from "./media/fetch-media.ts";
import type { Outcome } from "./outcome.ts";
import { type PlanDeps, planCall, reportCanaryResult } from "./plan.ts";
import { ClientLeft, HoldQueue, type HoldQueueDeps } from "./reservation/hold-queue.ts";
import { type ReserveDeps, reserve } from "./reserve.ts";
import { releaseAll, type SettleDeps, settle } from "./settle.ts";
import { openShadows, type ShadowDeps, type Shadows } from "./shadow/shadow.ts";

/** The dependencies of the steps, and those of the exchange itself. */
export interface ExchangeDeps {
  readonly clock: Clock;
  readonly store: Pick<Store, "healthy">;
  readonly bodies: Pick<Bodies, "read">;
  readonly answers: IdempotentAnswers;
  readonly continue: ContinueDeps;
  readonly admit: AdmitDeps;
  readonly plan: PlanDeps;
  readonly fetch: FetchDeps;
  readonly keepRoom: KeepRoomDeps;
  readonly reserve: Omit<ReserveDeps, "waits">;
  readonly holdQueue: HoldQueueDeps;
  readonly attempt: Omit<AttemptDeps, "beginDrain" | "endDrain" | "firstContent">;
  readonly shadow: Omit<ShadowDeps, "isAwaited">;
  readonly settle: SettleDeps;
  readonly detached: DetachedCalls;
  readonly join: JoinDeps;
  readonly accept: AcceptDeps;
  /** Those who watch calls as they run. */
  readonly watched: WatchedCalls;
  /** At most this many calls at a time are read to their end after their client left. */
  readonly maxDrains: number;
  /** An answer waits at most this long for the commit of its charge. */
  readonly commitMs: number;
  /** Whether file descriptors are left for one more call; `live`: current calls including that one. */
  readonly hasRoomFor: (live: number) => boolean;
  /** Reports a fault of the gateway to the operator's log; clients never see it. */
  readonly onFault: (error: unknown, requestId: string) => void;
  /** Reports a failed attempt to the operator's log, once its call has ended. */
  readonly onUpstreamFailure: (requestId: string, attempt: AttemptRecord) => void;
  /** An org's call failed at the endpoint, or was refused because the endpoint is out; once its call has ended. Never throws. */
  readonly onEndpointMissed: (endpoint: Endpoint, orgId: string) => void;
}

/** How often live calls are checked for silence and deadlines. */
const TICK_MS = 1000;
/** Calls that are looked at in a turn: a keep-alive is a system call, and a thousand streams may fall silent together. */
const TICKED_AT_ONCE = 100;

export const openExchange = (deps: ExchangeDeps): Exchange => new Exchange(deps);

export class Exchange {
  readonly #deps: ExchangeDeps;
  readonly #attemptDeps: AttemptDeps;
  readonly #live = new Live<Attempts>();
  /** Calls that wait for the commit of their charge. */
  readonly #settling = new Live<Call>();
  readonly #fetches: MediaFetches;
  readonly #waits: HoldQueue;
  readonly #reserveDeps: ReserveDeps;
  readonly #shadows: Shadows;
  readonly #counts = new CallCounts();
  /** Number of calls between `run` and the end of their settlement. */
  #openCalls = 0;
  #draining = 0;
  #closing = false;
  /** `drain`'s time is over: calls that begin to attempt now are ended at once. */
  #isShuttingDown = false;
  #onIdle: (() => void)[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(deps: ExchangeDeps) {
    this.#deps = deps;
    this.#attemptDeps = {
      ...deps.attempt,
      beginDrain: () => this.#beginDrain(),
      endDrain: () => {
        this.#draining--;
      },
      firstContent: (call) => deps.watched.firstContent(call),
    };
    this.#fetches = new MediaFetches(deps.fetch);
    this.#waits = new HoldQueue(deps.holdQueue);
    this.#reserveDeps = { ...deps.reserve, waits: this.#waits };
    this.#shadows = openShadows({ ...deps.shadow, isAwaited: (orgId) => this.#waits.hasLine(orgId) });
    this.#timer = setInterval(() => during("tick", () => this.#tick()), TICK_MS).unref();
  }

  run(incoming: Incoming): void {
    if (!this.#deps.hasRoomFor(this.#openCalls + 1)) {
      this.#refuseUnrecorded(incoming);
      return;
    }
    const call = new Call(incoming);
    this.#openCalls++;
    try {
      if (this.#closing) throw fail("shutting_down", "The gateway is shutting down.", { retryAfterMs: 1000 });
      if (!this.#deps.store.healthy()) {
        throw fail("storage_unavailable", "The gateway cannot record calls now.", { retryAfterMs: 1000 });
      }
      if (incoming.idempotencyKey === "") this.#read(call);
      else this.#next(call, this.#deps.answers.claim(call), (claim) => this.#claimed(call, claim));
    } catch (error) {
      this.#refuse(call, error);
    }
  }

  /** Refuses a call without a record: while descriptors are short, many refusals must not cost a commit each. */
  #refuseUnrecorded({ reply, format, requestId, release }: Incoming): void {
    release();
    const message = "The gateway has as many connections open as it may.";
    const error = fail("gateway_unavailable", message, { retryAfterMs: 1000 });
    this.#counts.ended("refused");
    const headers = JSON_TYPE + identityHeaders(requestId) + retryHeaders(error);
    reply.send(error.status, headers, format.errorBody(error, requestId));
  }

  #claimed(call: Call, claim: Claim): void {
    if (claim.kind === "refused") throw claim.error;
    if (claim.kind === "replay") {
      replay(call.incoming.reply, claim.answer);
      this.#callEnded(call);
      return;
    }
    if (claim.kind === "running") {
      this.#next(call, joined(this.#deps.join, call, claim), this.#left);
      return;
    }
    const { lock } = claim;
    call.idempotencyLock = lock;
    call.incoming = { ...call.incoming, reply: lock.recorder };
    // A client that leaves a call with an idempotency key is expected to repeat it: the call continues, unless the request
    // forbids that or the call is over.
    lock.recorder.mayRunWithoutClient = () => {
      call.runsWithoutClient =
        !call.settled &&
        call.detached === undefined &&
        call.request?.svc.onDisconnect !== "cancel" &&
        this.#beginDrain();
      return call.runsWithoutClient;
    };
    this.#read(call);
  }

  #read(call: Call): void {
    const { format, body } = call.incoming;
    this.#next(call, this.#deps.bodies.read(format, body), this.#continue);
  }

  /** It is no call of its own: another one answers it. */
  readonly #left = (_: unknown, call: Call): void => this.#callEnded(call);

  // The steps, in their order: each is given what the one before it returned. They are fields so that no call makes functions of its own.

  readonly #continue = (read: ClientRequest, call: Call): void => {
    this.#counts.unlisted(read.extras.unlisted);
    const { history, background } = call.incoming.format;
    // Most formats have neither: each of their calls is spared two steps.
    if (history === undefined && background === undefined) this.#admit(read, call);
    else this.#next(call, continued(this.#deps.continue, call, read), this.#inBackground);
  };
  readonly #inBackground = (request: ClientRequest, call: Call): void =>
    this.#next(call, asBackground(this.#deps.bodies, call, request), this.#admit);
  readonly #admit = (request: ClientRequest, call: Call): void =>
    this.#next(call, admit(this.#deps.admit, call.withRequest(request)), this.#plan);
  readonly #plan = (call: AdmittedCall): void =>
    this.#next(call, planCall(this.#deps.plan, call), this.#fetch);
  readonly #fetch = (call: PlannedCall): void => {
    if (call.onDisconnect === "detach") detach(this.#deps.detached, call);
    this.#next(call, this.#fetches.fetchFor(call), this.#keepRoom);
  };
  readonly #keepRoom = (call: PlannedCall): void =>
    this.#next(call, takeKeptRoom(this.#deps.keepRoom, call), this.#reserve);
  readonly #reserve = (call: PlannedCall): void =>
    this.#next(call, reserve(this.#reserveDeps, call), this.#attempt);
  readonly #attempt = (call: ReservedCall): void => {
    const attempts = new Attempts(this.#attemptDeps, call, this.#attempted);
    if (call.detached !== undefined) {
      const progress = progressOf(this.#deps.settle, call, () => attempts.leader);
      this.#deps.detached.began(call.requestId, progress);
      // Its upstream is not kept waiting for it.
      if (!call.isBackground) this.#deps.detached.storeBeginning(call.requestId);
    }
    if (call.isBackground) this.#later(call, accepted(this.#deps.accept, call), () => this.#run(attempts));
    else this.#run(attempts);
  };

  #run(attempts: Attempts): void {
    const { call } = attempts;
    this.#live.add(attempts);
    // The call may have waited for its reservation until after the shutdown.
    if (this.#isShuttingDown) attempts.shutDown();
    else attempts.run();
    this.#deps.watched.started(call);
    call.shadow = this.#shadows.start(call);
  }

  readonly #attempted = (outcome: Outcome, attempts: Attempts): void => {
    this.#live.remove(attempts);
    this.#settle(attempts.call, outcome);
  };

  /** Runs the next step, at once or when the promise resolves: most calls go through all steps without waiting. */
  #next<T>(call: Call, value: T | Promise<T>, step: (value: T, call: Call) => void): void {
    if (value instanceof Promise) this.#later(call, value, step);
    else step(value, call);
  }

  #later<T>(call: Call, value: Promise<T>, step: (value: T, call: Call) => void): void {
    value.then((known) => step(known, call)).catch((error: unknown) => this.#refuse(call, error));
  }

  counts(): ExchangeCounts {
    return {
      live: this.#openCalls,
      draining: this.#draining,
      waiting: this.#waits.size,
      ...this.#counts.all(),
      shadows: this.#shadows.counts(),
      fetches: this.#fetches.counts(),
    };
  }

  /** Calls that are attempted or answered now. */
  readonly running = (): ReservedCall[] => this.#live.all().map(({ call }) => call);

  /** Refuses new calls; resolves when the running ones have ended. Ends them after `withinMs`. */
  async drain(withinMs: number): Promise<void> {
    this.#closing = true;
    const deadline = setTimeout(() => {
      this.#isShuttingDown = true;
      this.#fetches.shutDown();
      this.#waits.shutDown();
      for (const attempts of this.#live.all()) attempts.shutDown();
    }, withinMs);
    if (this.#openCalls > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
    clearTimeout(deadline);
    // Shadow copies are compared with calls, and those are over now.
    this.#shadows.stop();
    clearInterval(this.#timer);
  }

  #refuse(call: Call, thrown: unknown): void {
    if (thrown instanceof ClientLeft) {
      this.#settle(call, { kind: "cancelled", stream: undefined });
      return;
    }
    const error = asWeirError(thrown);
    if (error.kind === "internal") this.#deps.onFault(thrown, call.requestId);
    this.#settle(call, { kind: "refused", error });
  }

  #settle(call: Call, outcome: Outcome): void {
    // A step may throw after the call has ended: the first outcome counts.
    if (call.settled) return;
    this.#counts.ended(outcome.kind);
    this.#reportCanaryResult(call);
    for (const attempt of call.attempts) {
      if (attempt.outcome !== "ok" && attempt.outcome !== "cancelled") {
        this.#counts.refused(attempt);
        this.#deps.onUpstreamFailure(call.requestId, attempt);
      }
    }
    for (const endpoint of missedEndpoints(call)) this.#deps.onEndpointMissed(endpoint, call.key.orgId);
    this.#close(call, outcome);
  }

  /** An error here must not prevent the settlement. */
  #reportCanaryResult(call: Call): void {
    try {
      reportCanaryResult(call);
    } catch (error) {
      this.#deps.onFault(error, call.requestId);
    }
  }

  #close(call: Call, outcome: Outcome): void {
    this.#settling.add(call);
    const ended = (error?: unknown): void => this.#closed(call, error);
    try {
      settle(this.#deps.settle, call, outcome, ended);
    } catch (error) {
      ended(error);
    }
  }

  /** @param error why the call could not be settled */
  #closed(call: Call, error: unknown): void {
    if (error !== undefined) {
      this.#deps.onFault(error, call.requestId);
      releaseAll(this.#deps.settle, call);
      this.#abort(call, asWeirError(error));
    }
    this.#settling.remove(call);
    this.#counts.closed(call);
    void call.idempotencyLock?.release();
    call.conversation?.release();
    // If settlement failed, the shadow run does not know yet that the call has ended.
    call.shadow?.primaryEnded(undefined);
    if (call.runsWithoutClient) this.#draining--;
    this.#waits.freed(call.key.orgId);
    this.#callEnded(call);
  }

  #callEnded(call: Call): void {
    call.incoming.release();
    call.mediaShare?.release();
    this.#openCalls--;
    if (this.#openCalls === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  #tick(): void {
    const nowMs = this.#deps.clock.monotonic();
    this.#shadows.tick(nowMs);
    this.#live.visit(TICKED_AT_ONCE, (attempts) => {
      try {
        attempts.tick(nowMs);
      } catch (error) {
        // The other calls must still be checked.
        this.#deps.onFault(error, attempts.call.requestId);
      }
    });
    for (const call of this.#settling.all()) {
      if (nowMs - call.settledMs >= this.#deps.commitMs) this.#commitTimedOut(call);
    }
  }

  /**
   * The store did not commit the charge in time: the client gets an error. The commit goes on and may still charge, so a
   * retry could be charged twice.
   */
  #commitTimedOut(call: Call): void {
    this.#settling.remove(call);
    const message = "The answer was not recorded in time and is not given in full. It may still be charged.";
    const error = fail("storage_unavailable", message, { retryable: false });
    const { reply, format } = call.incoming;
    this.#deps.onFault(error, call.requestId);
    call.detached?.withdrawEnding();
    try {
      if (call.streaming) reply.end(Buffer.from(format.errorEvent(error, call.requestId)));
      else this.#abort(call, error);
    } catch (thrown) {
      this.#deps.onFault(thrown, call.requestId);
      reply.abort();
    }
  }

  /** Ends the response so that an answer that was not settled is never taken for complete. */
  #abort(call: Call, error: WeirError): void {
    const { reply, format } = call.incoming;
    try {
      if (!call.streaming) {
        const body = format.errorBody(error, call.requestId);
        reply.send(error.status, answerHeaders(this.#deps.settle.limits, call) + retryHeaders(error), body);
        return;
      }
    } catch (thrown) {
      // No caller could handle it, and one call must not end the process.
      this.#deps.onFault(thrown, call.requestId);
    }
    reply.abort();
  }

  #beginDrain(): boolean {
    if (this.#draining >= this.#deps.maxDrains) return false;
    this.#draining++;
    return true;
  }
}
