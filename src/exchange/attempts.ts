/**
 * Attempts: one endpoint of the plan after another, until one answers or all have failed; two at a time where the policy hedges
 * against silence. An attempt may be replaced only before its first content reached the client (T15), and none begins for a
 * client that is gone (T19). Within a credential pool a refused request is repeated with another key; otherwise no POST is
 * repeated at the same endpoint, for whether it was processed there cannot be known (T43).
 */
import type { Timers } from "../clock.ts";
import type { Endpoint } from "../endpoint.ts";
import { asWeirError, fail, WeirError } from "../errors.ts";
import type { Health, LaneLease } from "../routing/health.ts";
import { failure, mayFallBack, type UpstreamFailure, withoutCredential } from "../upstream/failure.ts";
import type { Outgoing } from "../wire/format.ts";
import { type Passable, passageTo } from "../wire/passages.ts";
import { Attempt, type AttemptHost, type AttemptInput, type OneAttemptDeps } from "./attempt.ts";
import type { Bodies } from "./bodies.ts";
import type { ReservedCall } from "./call.ts";
import { moreHelpful } from "./failure.ts";
import { laneFor, RefusedLanes } from "./lane.ts";
import type { Indexed } from "./live.ts";
import type { Outcome, RelayEnd } from "./outcome.ts";

export interface AttemptDeps extends OneAttemptDeps {
  readonly health: Health;
  readonly timers: Timers;
  readonly bodies: Bodies;
  /** Counts the call among those that are read to their end though their client left; false where there are too many. */
  beginDrain(): boolean;
  endDrain(): void;
  readonly timeouts: {
    readonly firstByteMs: number;
    readonly stallMs: number;
    readonly totalMs: number;
    readonly drainMs: number;
    /** 0: no keep-alive. */
    readonly keepAliveMs: number;
  };
}

/** Asks the endpoints in order; `callEnds` is called once, with what is to be settled. */
export class Attempts implements AttemptHost, Indexed {
  index = -1;
  readonly #deps: AttemptDeps;
  readonly #call: ReservedCall;
  readonly #callEnds: (outcome: Outcome) => void;
  /** Index in the plan of the next attempt's endpoint. */
  #next = 0;
  /** Under way, the oldest first: two while a hedge runs. */
  #running: Attempt[] = [];
  /** Bodies that a thread is writing. */
  #writing = 0;
  #started = 0;
  /** Made with the first refusal. */
  #refused: RefusedLanes | undefined;
  /** Whose content the client is getting. */
  #winner: Attempt | undefined;
  #isHedged = false;
  #stopHedge: (() => void) | undefined;
  /** Since when an upstream is waited for; monotonic. */
  #waitingSinceMs = 0;
  #over = false;
  #drainUntilMs = 0;
  #lastFailure: UpstreamFailure | undefined;
  /** Why the request could not be written for the first endpoint for which it could not. */
  #refusal: WeirError | undefined;

  constructor(deps: AttemptDeps, call: ReservedCall, callEnds: (outcome: Outcome) => void) {
    this.#deps = deps;
    this.#call = call;
    this.#callEnds = callEnds;
  }

  get requestId(): string {
    return this.#call.requestId;
  }

  /** Called once. Where the client left before, the call is cancelled here. */
  run(): void {
    this.#call.incoming.reply.onGone(() => this.#clientGone());
    if (!this.#over) this.#start();
  }

  /** Starts the plan's next attempt, or finishes with the last failure where nothing is under way. */
  #start(): void {
    const { plan, incoming, request } = this.#call;
    const endpoint = this.#started < plan.decision.maxAttempts ? plan.attempts[this.#next] : undefined;
    const isLate = this.#remainingMs() <= 0;
    if (endpoint === undefined || isLate) {
      if (this.#running.length === 0 && this.#writing === 0) this.#finishUnanswered(isLate);
      return;
    }
    this.#next++;
    const passable = passageTo(incoming.format, endpoint);
    if (passable === undefined) {
      this.#start();
      return;
    }
    try {
      const outgoing = this.#deps.bodies.write(incoming.format, passable, request, endpoint);
      if (outgoing instanceof Promise) this.#sendLater(endpoint, passable, outgoing);
      else this.#send(endpoint, passable, outgoing);
    } catch (error) {
      this.#writeFailed(error);
    }
  }

  #sendLater(endpoint: Endpoint, passable: Passable, outgoing: Promise<Outgoing>): void {
    this.#writing++;
    outgoing
      .then(
        (written) => {
          this.#writing--;
          if (!this.#over) this.#send(endpoint, passable, written);
        },
        (error: unknown) => {
          this.#writing--;
          throw error;
        },
      )
      .catch((error: unknown) => this.#writeFailed(error));
  }

  #send(endpoint: Endpoint, passable: Passable, outgoing: Outgoing): void {
    const { request } = this.#call;
    const { dropped } = outgoing;
    const [first] = dropped;
    if (first !== undefined && request.svc.strict) {
      const message = `${first} cannot be told to ${endpoint.id}, and svc.compat.strict is set.`;
      this.#writeFailed(fail("capability_not_supported", message, { param: first, details: { dropped } }));
      return;
    }
    // While this body was written the client may have left, or the attempt before begun to answer. If that one breaks off, this
    // endpoint is the next again.
    if (this.#isDecided()) {
      this.#next--;
      return;
    }
    // Or the time may be over; or the endpoint saturated, or another call is probing it.
    const lane = this.#remainingMs() > 0 ? laneFor(this.#deps.health, this.#call, endpoint) : undefined;
    if (lane === undefined) this.#start();
    else this.#open(lane, passable, outgoing);
  }

  #open(lane: LaneLease, passable: Passable, outgoing: Outgoing): void {
    const call = this.#call;
    const { plan } = call;
    const attempt = this.#newAttempt({ lane, passable, outgoing, number: ++this.#started });
    if (attempt === undefined) return;
    if (this.#running.length === 0) {
      this.#waitingSinceMs = attempt.startMs;
      attempt.adopt(call);
    }
    this.#running.push(attempt);
    const { timeoutMs, hedgeAfterMs, maxAttempts } = plan.decision;
    if (timeoutMs !== undefined) {
      // Each attempt gets its part of the remaining time, so that the next ones have some too.
      const behind = Math.min(plan.attempts.length - this.#next, maxAttempts - this.#started);
      const others = Math.max(0, behind);
      attempt.giveUpAfter(this.#deps.timers, this.#remainingMs() / (1 + others));
    }
    if (hedgeAfterMs !== undefined && !this.#isHedged && this.#next < plan.attempts.length) {
      this.#stopHedge = this.#deps.timers.after(hedgeAfterMs, () => this.#hedge());
    }
    attempt.send();
  }

  /** Undefined after a fault of ours: then another one is asked. */
  #newAttempt(input: AttemptInput): Attempt | undefined {
    try {
      return new Attempt(this.#deps, this.#call, this, input);
    } catch (error) {
      this.#deps.health.onResult(input.lane, CANCELLED_RESULT);
      this.#writeFailed(error);
      return undefined;
    }
  }

  /** The first was silent for so long: the next one is asked as well. Once a call. */
  #hedge(): void {
    if (this.#isHedged || this.#isDecided()) return;
    this.#isHedged = true;
    this.#start();
  }

  /** Whether no further endpoint is asked: the call is over, its client has left (T19), or an answer has begun. */
  #isDecided(): boolean {
    if (this.#over || this.#winner !== undefined || this.#drainUntilMs > 0) return true;
    return this.#running.some(({ hasBegun }) => hasBegun);
  }

  /** Of the policy's time for all attempts together. */
  #remainingMs(): number {
    const { incoming, plan } = this.#call;
    const { timeoutMs } = plan.decision;
    if (timeoutMs === undefined) return Number.POSITIVE_INFINITY;
    return incoming.startMs + timeoutMs - this.#deps.clock.monotonic();
  }

  /** The request cannot be written for this endpoint: the next one is tried. */
  #writeFailed(thrown: unknown): void {
    if (this.#isDecided()) return;
    const error = asWeirError(thrown);
    if (!(thrown instanceof WeirError)) this.#deps.onFault(thrown, this.#call.requestId);
    this.#refusal ??= error;
    this.#start();
  }

  /** @param isLate the time is over, too. */
  #finishUnanswered(isLate: boolean): void {
    if (this.#lastFailure === undefined && this.#refusal !== undefined) {
      this.#finish({ kind: "refused", error: this.#refusal });
      return;
    }
    this.#lastFailure ??= isLate ? failure("timeout", "timeout") : undefined;
    this.#finish({ kind: "failed", failure: this.#lastFailure });
  }

  // -- AttemptHost --

  attemptBegins(attempt: Attempt): void {
    this.#winner = attempt;
    attempt.adopt(this.#call);
    this.#stopHedge?.();
    for (const other of [...this.#running]) if (other !== attempt) this.#closeLoser(other);
  }

  attemptEnds(attempt: Attempt, end: RelayEnd): void {
    if (this.#over) return;
    if (end.kind === "failed") {
      this.#attemptFailed(attempt, end.failure);
      return;
    }
    attempt.adopt(this.#call);
    // Where the credit ran out, this upstream is cancelled, too.
    if (end.kind === "exhausted") this.#cancelAllBut(undefined);
    else this.#answered(attempt, end);
    this.#finish(end);
  }

  #attemptFailed(attempt: Attempt, reported: UpstreamFailure): void {
    if (!this.#running.includes(attempt)) return;
    const failed = withoutCredential(reported, attempt.lane.key.credential);
    const isFirst = this.#running[0] === attempt;
    this.#close(attempt, failed);
    this.#lastFailure = moreHelpful(this.#lastFailure, failed);
    if (attempt === this.#winner) {
      // The winner of a stream has delivered: there is one.
      this.#finish({
        kind: "broken",
        failure: failed,
        stream: attempt.stream as NonNullable<typeof attempt.stream>,
      });
      return;
    }
    const isRefusal = !mayFallBack(failed);
    if ((isRefusal && isFirst) || this.#call.incoming.reply.gone) {
      this.#cancelAllBut(undefined);
      this.#finish({ kind: "failed", failure: failed });
      return;
    }
    // What a hedge refuses the one before it may take: the call is no worse off than without.
    if (isRefusal) this.#next = Number.POSITIVE_INFINITY;
    this.#running[0]?.adopt(this.#call);
    if (this.#running.length > 0 || this.#writing > 0) return;
    if (!this.#withAnotherKey(attempt, failed)) this.#start();
  }

  /** A key was refused, so nothing was processed: another of the pool may do. */
  #withAnotherKey({ lane, passable, outgoing }: Attempt, { errorClass }: UpstreamFailure): boolean {
    const isRefused = errorClass === "capacity" || errorClass === "auth";
    if (!isRefused || this.#started >= this.#call.plan.decision.maxAttempts) return false;
    this.#refused ??= new RefusedLanes();
    const another = this.#refused.anotherFor(this.#deps.health, this.#call, lane);
    if (another === undefined) return false;
    this.#open(another, passable, outgoing);
    return true;
  }

  #answered(attempt: Attempt, end: Extract<RelayEnd, { kind: "whole" | "streamed" }>): void {
    for (const other of [...this.#running]) if (other !== attempt) this.#closeLoser(other);
    const { usage } = end.kind === "whole" ? end.answer.facts : end.stream.facts;
    this.#close(attempt, undefined, usage?.outputTokens ?? 0);
  }

  // -- timers, the client, the stop --

  tick(nowMs: number): void {
    if (this.#over) return;
    if (this.#drainUntilMs > 0) {
      if (nowMs >= this.#drainUntilMs) this.#cancelCall();
      return;
    }
    const { timeouts, health } = this.#deps;
    if (nowMs - this.#call.incoming.startMs >= timeouts.totalMs) {
      this.#timeOut();
      return;
    }
    for (const attempt of [...this.#running]) {
      if (attempt.isSilent(nowMs, timeouts)) attempt.giveUp();
      else if (attempt.suspect(nowMs, health, this.#call.plan.attempts)) this.#hedgeIfDoubtful(attempt);
      if (this.#over) return;
    }
    // One is enough to keep the connection alive.
    this.#running[0]?.keepAlive(nowMs, timeouts.keepAliveMs);
  }

  /** It hangs where others hang too, or none was ever answered: the next endpoint, where it is well, is asked as well. */
  #hedgeIfDoubtful({ endpoint, isStream }: Attempt): void {
    const next = this.#call.plan.attempts[this.#next];
    if (next === undefined || this.#running.length > 1) return;
    const { health } = this.#deps;
    if (health.isDoubtful(endpoint, isStream) && !health.of(next)?.failing) this.#hedge();
  }

  /** The time of the whole call is over: no further endpoint is asked. */
  #timeOut(): void {
    this.#next = Number.POSITIVE_INFINITY;
    const [first] = this.#running;
    this.#cancelAllBut(first);
    first?.giveUp();
    // A body that is still being written is not waited for.
    if (!this.#over) this.#finishUnanswered(true);
  }

  shutDown(): void {
    if (this.#over) return;
    const stream = this.#leader()?.stream;
    this.#cancelAllBut(undefined);
    this.#finish({ kind: "shut_down", stream });
  }

  #clientGone(): void {
    if (this.#over || this.#drainUntilMs > 0) return;
    const call = this.#call;
    const { request } = call;
    const asked = request.svc.onDisconnect ?? call.key.onDisconnect;
    const drained = this.#leader();
    const drains = asked === "drain" || drained?.endpoint.provider.quirks.billsAfterDisconnect === true;
    // An attempt that has not answered yet is billed by such a provider all the same.
    if (drains && drained !== undefined && this.#deps.beginDrain()) {
      this.#drainUntilMs = this.#deps.clock.monotonic() + this.#deps.timeouts.drainMs;
      this.#cancelAllBut(drained);
      drained.adopt(call);
      drained.clientGone();
      return;
    }
    this.#cancelCall();
  }

  #cancelCall(): void {
    const stream = this.#leader()?.stream;
    this.#cancelAllBut(undefined);
    this.#finish({ kind: "cancelled", stream });
  }

  /** The attempt that has begun to answer, or else the oldest. */
  #leader(): Attempt | undefined {
    return this.#running.find(({ hasBegun }) => hasBegun) ?? this.#running[0];
  }

  #cancelAllBut(spared: Attempt | undefined): void {
    for (const attempt of [...this.#running]) {
      if (attempt === spared) continue;
      attempt.cancel();
      this.#close(attempt, CANCELLED);
    }
  }

  /** Another attempt answered first. How long this one was silent is reported to `health`. */
  #closeLoser(attempt: Attempt): void {
    attempt.cancel();
    this.#close(attempt, CANCELLED, 0, true);
  }

  #close(attempt: Attempt, failed: UpstreamFailure | undefined, outputTokens = 0, isLoser = false): void {
    const at = this.#running.indexOf(attempt);
    if (at < 0) return;
    this.#running.splice(at, 1);
    const call = this.#call;
    const nowMs = this.#deps.clock.monotonic();
    if (this.#running.length === 0) {
      call.upstreamMs += nowMs - this.#waitingSinceMs;
      this.#stopHedge?.();
    }
    call.attempts.push(attempt.close(nowMs, failed, outputTokens));
    this.#deps.health.onResult(attempt.lane, attempt.result(nowMs, failed, isLoser));
  }

  #finish(outcome: Outcome): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopHedge?.();
    if (this.#drainUntilMs > 0) this.#deps.endDrain();
    // In the order of their starts, whichever ended first.
    if (this.#isHedged) this.#call.attempts.sort((a, b) => a.attempt - b.attempt);
    this.#callEnds(outcome);
  }
}

const CANCELLED = failure("cancelled", "");
const CANCELLED_RESULT = { outcome: "cancelled", errorClass: "" } as const;
