/**
 * Attempts: tries the plan's endpoints in order until one answers or all have failed; two at a time if the policy hedges
 * against silence. An attempt may be replaced only before its first content was sent to the client (T15), and none begins
 * after the client has left (T19). Within a credential pool a refused request is repeated with another key. Otherwise no
 * POST is repeated at the same endpoint, because it may have been processed there (T43).
 */
import type { Timers } from "../../base/clock.ts";
import type { Endpoint } from "../../base/endpoint.ts";
import { asWeirError, WeirError } from "../../base/errors.ts";
import { NONE, withItem, withoutItem } from "../../base/lists.ts";
import type { Health, LaneLease } from "../../routing/health/health.ts";
import { type Passable, passageTo } from "../../wire/passages.ts";
import { failure, mayFallBack, type UpstreamFailure, withoutCredential } from "../upstream/failure.ts";
import { Attempt, type AttemptHost, type AttemptInput, type OneAttemptDeps } from "./attempt.ts";
import type { Bodies } from "./body/bodies.ts";
import { type Letters, lettersOf, type Written, writeBodies } from "./body/letters.ts";
import type { ReservedCall } from "./call.ts";
import { LongerContext, withContext } from "./errors/longer-context.ts";
import { moreHelpful } from "./failure.ts";
import { laneFor, RefusedLanes } from "./lane.ts";
import type { Indexed } from "./live/live.ts";
import type { Outcome, RelayEnd } from "./outcome.ts";
import { coveredEndpoints } from "./reservation/fit.ts";

export interface AttemptDeps extends OneAttemptDeps {
  readonly health: Health;
  readonly timers: Timers;
  readonly bodies: Bodies;
  /** Counts the call as draining: it is read to its end though its client left. False if too many calls are. */
  beginDrain(): boolean;
  endDrain(): void;
  /** The first content of a stream is about to be sent to the client. */
  firstContent(call: ReservedCall): void;
  readonly timeouts: {
    readonly firstByteMs: number;
    readonly stallMs: number;
    readonly totalMs: number;
    readonly drainMs: number;
    /** 0: no keep-alive. */
    readonly keepAliveMs: number;
  };
}

type CallEnds = (outcome: Outcome, attempts: Attempts) => void;

/** Tries the endpoints in order; calls `callEnds` once, with the outcome to settle. */
export class Attempts implements AttemptHost, Indexed {
  index = -1;
  readonly call: ReservedCall;
  readonly #deps: AttemptDeps;
  readonly #callEnds: CallEnds;
  /** Those that may be asked, in the plan's order. */
  readonly #endpoints: readonly Endpoint[];
  /** Index of the next attempt's endpoint. */
  #next = 0;
  /** Running attempts, the oldest first: two while a hedge runs. */
  #running: readonly Attempt[] = NONE;
  /** Number of bodies that a thread is writing. */
  #writing = 0;
  #started = 0;
  /** Created at the first refused key. */
  #refused: RefusedLanes | undefined;
  /** Created at the first failure. */
  #longer: LongerContext | undefined;
  /** The attempt whose content is being sent to the client. */
  #winner: Attempt | undefined;
  #isHedged = false;
  #stopHedge: (() => void) | undefined;
  /** Since when the call waits for an upstream; monotonic. */
  #waitingSinceMs = 0;
  #over = false;
  #drainUntilMs = 0;
  #lastFailure: UpstreamFailure | undefined;
  /** The first error in writing the request for an endpoint. */
  #refusal: WeirError | undefined;

  constructor(deps: AttemptDeps, call: ReservedCall, callEnds: CallEnds) {
    this.#deps = deps;
    this.call = call;
    this.#endpoints = coveredEndpoints(call);
    this.#callEnds = callEnds;
  }

  /** Called once. Cancels the call if the client has left already. */
  run(): void {
    this.call.incoming.reply.onGone(() => this.#clientGone());
    if (!this.#over) this.#start();
  }

  /** Starts the plan's next attempt. If there is none and nothing is running, ends the call with the last failure. */
  #start(): void {
    const { plan, incoming } = this.call;
    const endpoint = this.#started < plan.decision.maxAttempts ? this.#endpoints[this.#next] : undefined;
    const isLate = this.#remainingMs() <= 0;
    if (endpoint === undefined || isLate) {
      if (this.#running.length === 0 && this.#writing === 0) this.#finishUnanswered(isLate);
      return;
    }
    this.#next++;
    const passable = this.#longer?.isTooShort(endpoint) ? undefined : passageTo(incoming.format, endpoint);
    if (passable === undefined) {
      this.#start();
      return;
    }
    try {
      const written = writeBodies(this.#deps.bodies, this.call, passable, endpoint);
      if (written instanceof Promise) this.#sendLater(endpoint, passable, written);
      else this.#send(endpoint, passable, written);
    } catch (error) {
      this.#writeFailed(error);
    }
  }

  #sendLater(endpoint: Endpoint, passable: Passable, writing: Promise<Written>): void {
    this.#writing++;
    writing
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

  #send(endpoint: Endpoint, passable: Passable, written: Written): void {
    // While the body was written the client may have left, or the previous attempt may have begun to answer. If that attempt
    // breaks off, this endpoint is the next.
    if (this.#isDecided()) {
      this.#next--;
      return;
    }
    // Or the time may be over, the endpoint may have saturated, or another call may be probing it.
    const lane = this.#remainingMs() > 0 ? laneFor(this.#deps.health, this.call, endpoint) : undefined;
    if (lane === undefined) this.#start();
    else this.#open(lane, passable, lettersOf(written, this.call, passable, endpoint));
  }

  #open(lane: LaneLease, passable: Passable, letters: Letters): void {
    const call = this.call;
    const { plan } = call;
    const attempt = this.#newAttempt({ lane, passable, letters, number: this.#started + 1 });
    if (attempt === undefined) return;
    this.#started++;
    if (this.#running.length === 0) {
      this.#waitingSinceMs = attempt.startMs;
      attempt.adopt(call);
    }
    this.#running = withItem(this.#running, attempt);
    const { timeoutMs, hedgeAfterMs, maxAttempts } = plan.decision;
    if (timeoutMs !== undefined) {
      // The remaining time is divided, so that the next attempts have some too.
      const behind = Math.min(this.#endpoints.length - this.#next, maxAttempts - this.#started);
      attempt.giveUpAfter(this.#deps.timers, this.#remainingMs() / (1 + Math.max(0, behind)));
    }
    if (hedgeAfterMs !== undefined && !this.#isHedged && this.#next < this.#endpoints.length) {
      this.#stopHedge = this.#deps.timers.after(hedgeAfterMs, () => this.#hedge());
    }
    attempt.send();
  }

  /** Undefined after a fault of the gateway, or if the request forbids what would be left out: then the next endpoint is tried. */
  #newAttempt(input: AttemptInput): Attempt | undefined {
    try {
      return new Attempt(this.#deps, this.call, this, input);
    } catch (error) {
      this.#deps.health.onResult(input.lane, CANCELLED_RESULT);
      this.#writeFailed(error);
      return undefined;
    }
  }

  /** Starts the next attempt beside the first, which was silent too long. Only once per call. */
  #hedge(): void {
    if (this.#isHedged || this.#isDecided()) return;
    this.#isHedged = true;
    this.#start();
  }

  /** Whether no further endpoint may be tried: the call is over, its client has left (T19), or an answer has begun. */
  #isDecided(): boolean {
    if (this.#over || this.#winner !== undefined || this.#drainUntilMs > 0) return true;
    return this.#running.some(({ hasBegun }) => hasBegun);
  }

  /** What remains of the policy's time for all attempts. */
  #remainingMs(): number {
    const { incoming, plan } = this.call;
    const { timeoutMs } = plan.decision;
    if (timeoutMs === undefined) return Number.POSITIVE_INFINITY;
    return incoming.startMs + this.call.waitedMs + timeoutMs - this.#deps.clock.monotonic();
  }

  /** The request cannot be written for this endpoint: tries the next one. */
  #writeFailed(thrown: unknown): void {
    if (this.#isDecided()) return;
    const error = asWeirError(thrown);
    if (!(thrown instanceof WeirError)) this.#deps.onFault(thrown, this.call.requestId);
    this.#refusal ??= error;
    this.#start();
  }

  /** Ends the call without an answer. @param isLate the time is over */
  #finishUnanswered(isLate: boolean): void {
    if (this.#lastFailure === undefined && this.#refusal !== undefined) {
      this.#finish({ kind: "refused", error: this.#refusal });
      return;
    }
    this.#lastFailure ??= isLate ? failure("timeout", "timeout") : undefined;
    this.#finish({ kind: "failed", failure: this.#lastFailure });
  }

  attemptBegins(attempt: Attempt): void {
    this.#winner = attempt;
    attempt.adopt(this.call);
    this.#stopHedge?.();
    this.#cancelAllBut(attempt, true);
    this.#deps.firstContent(this.call);
  }

  attemptEnds(attempt: Attempt, end: RelayEnd): void {
    if (this.#over) return;
    if (end.kind === "failed") {
      this.#attemptFailed(attempt, end.failure);
      return;
    }
    attempt.adopt(this.call);
    // If the credit ran out, this upstream is cancelled too.
    if (end.kind === "exhausted") this.#cancelAllBut(undefined);
    else this.#answered(attempt, end);
    this.#finish(end);
  }

  #attemptFailed(attempt: Attempt, reported: UpstreamFailure): void {
    if (!this.#running.includes(attempt)) return;
    const proxies = this.#deps.upstreams.proxiesOf(attempt.endpoint.provider);
    const clean = withoutCredential(reported, attempt.lane.key.credential, proxies);
    const failed = withContext(clean, attempt.endpoint);
    const isFirst = this.#running[0] === attempt;
    this.#close(attempt, failed);
    this.#lastFailure = moreHelpful(this.#lastFailure, failed);
    if (attempt === this.#winner) {
      // A winner has delivered content, so it has a stream.
      this.#finish({
        kind: "broken",
        failure: failed,
        stream: attempt.stream as NonNullable<typeof attempt.stream>,
      });
      return;
    }
    this.#longer ??= new LongerContext();
    const mayStart = this.#started < this.call.plan.decision.maxAttempts;
    const unasked = mayStart ? this.#endpoints.slice(this.#next - this.#writing) : [];
    const left = this.#running.map(({ endpoint }) => endpoint).concat(unasked);
    const isRefusal = !mayFallBack(failed) && !this.#longer.isLeft(failed, attempt.endpoint, left);
    if ((isRefusal && isFirst) || this.call.incoming.reply.gone) {
      this.#cancelAllBut(undefined);
      this.#finish({ kind: "failed", failure: failed });
      return;
    }
    // If a hedge is refused, the first attempt may still be accepted: hedging must not make the call fail.
    if (isRefusal) this.#next = Number.POSITIVE_INFINITY;
    this.#running[0]?.adopt(this.call);
    if (this.#running.length > 0 || this.#writing > 0) return;
    if (!this.#withAnotherKey(attempt, failed)) this.#start();
  }

  /** The key was refused, so nothing was processed: tries another key of the pool. @returns whether there is one */
  #withAnotherKey({ lane, passable, letters }: Attempt, { errorClass }: UpstreamFailure): boolean {
    const isRefused = errorClass === "capacity" || errorClass === "auth";
    if (!isRefused || this.#started >= this.call.plan.decision.maxAttempts) return false;
    this.#refused ??= new RefusedLanes();
    const another = this.#refused.anotherFor(this.#deps.health, this.call, lane);
    if (another === undefined) return false;
    this.#open(another, passable, letters);
    return true;
  }

  #answered(attempt: Attempt, end: Extract<RelayEnd, { kind: "whole" | "streamed" }>): void {
    this.#cancelAllBut(attempt, true);
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
    if (nowMs - this.call.incoming.startMs >= timeouts.totalMs) {
      this.#timeOut();
      return;
    }
    for (const attempt of this.#running) {
      if (attempt.isSilent(nowMs, timeouts)) attempt.giveUp();
      else if (attempt.suspect(nowMs, health, this.#endpoints)) this.#hedgeIfDoubtful(attempt);
      if (this.#over) return;
    }
    // One attempt is enough to keep the connection alive.
    this.#running[0]?.keepAlive(nowMs, timeouts.keepAliveMs);
  }

  /** Starts a hedge if other calls hang at this endpoint too, or it never answered any, and the next endpoint is healthy. */
  #hedgeIfDoubtful({ endpoint, isStream }: Attempt): void {
    const next = this.#endpoints[this.#next];
    if (next === undefined || this.#running.length > 1) return;
    const { health } = this.#deps;
    if (health.isDoubtful(endpoint, isStream) && !health.of(next)?.failing) this.#hedge();
  }

  /** The time of the whole call is over: no further endpoint is tried. */
  #timeOut(): void {
    this.#next = Number.POSITIVE_INFINITY;
    const [first] = this.#running;
    this.#cancelAllBut(first);
    first?.giveUp();
    // Does not wait for a body that is still being written.
    if (!this.#over) this.#finishUnanswered(true);
  }

  shutDown(): void {
    if (this.#over) return;
    const stream = this.leader?.stream;
    this.#cancelAllBut(undefined);
    this.#finish({ kind: "shut_down", stream });
  }

  #clientGone(): void {
    if (this.#over || this.#drainUntilMs > 0) return;
    const call = this.call;
    const asked = call.onDisconnect;
    const drained = this.leader;
    const drains = asked === "drain" || drained?.endpoint.provider.quirks.billsAfterDisconnect === true;
    // Such a provider bills an attempt that has not answered yet, too.
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
    const stream = this.leader?.stream;
    this.#cancelAllBut(undefined);
    this.#finish({ kind: "cancelled", stream });
  }

  /** The attempt that has begun to answer, else the oldest. */
  get leader(): Attempt | undefined {
    return this.#running.find(({ hasBegun }) => hasBegun) ?? this.#running[0];
  }

  /** @param hasAnswered the spared one answered first: how long the others were silent is reported to `health` */
  #cancelAllBut(spared: Attempt | undefined, hasAnswered = false): void {
    for (const attempt of this.#running) {
      if (attempt === spared) continue;
      attempt.cancel();
      this.#close(attempt, CANCELLED, 0, hasAnswered);
    }
  }

  #close(attempt: Attempt, failed: UpstreamFailure | undefined, outputTokens = 0, isLoser = false): void {
    if (!this.#running.includes(attempt)) return;
    this.#running = withoutItem(this.#running, attempt);
    const call = this.call;
    const nowMs = this.#deps.clock.monotonic();
    if (this.#running.length === 0) {
      call.upstreamMs += nowMs - this.#waitingSinceMs;
      this.#stopHedge?.();
    }
    call.attempts = withItem(call.attempts, attempt.close(nowMs, failed, outputTokens));
    this.#deps.health.onResult(attempt.lane, attempt.result(nowMs, failed, isLoser));
  }

  #finish(outcome: Outcome): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopHedge?.();
    if (this.#drainUntilMs > 0) this.#deps.endDrain();
    // In the order of their starts, not of their ends.
    if (this.#isHedged) this.call.attempts = this.call.attempts.toSorted((a, b) => a.attempt - b.attempt);
    this.#callEnds(outcome, this);
  }
}

const CANCELLED = failure("cancelled", "");
const CANCELLED_RESULT = { outcome: "cancelled", errorClass: "" } as const;
