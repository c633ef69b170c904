/**
 * One attempt: sends the request to one endpoint with one key and relays the answer. It reports to `Attempts`, which decides
 * what happens next; an attempt does not know of others.
 */
import type { Clock, Timers } from "../../base/clock.ts";
import type { Endpoint } from "../../base/endpoint.ts";
import { asWeirError } from "../../base/errors.ts";
import type { AttemptRecord } from "../../record/record.ts";
import type { AttemptResult, Health, LaneLease } from "../../routing/health/health.ts";
import { withOwnNames } from "../../wire/accepts/quoted-names.ts";
import { NOTHING_SENT } from "../../wire/extras/sent.ts";
import type { AnswerStream } from "../../wire/format.ts";
import type { Passable } from "../../wire/passages.ts";
import { failure, type UpstreamFailure } from "../upstream/failure.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import { type Letter, type Letters, strictFault } from "./body/letters.ts";
import type { Call, ReservedCall } from "./call.ts";
import type { RelayEnd } from "./outcome.ts";
import type { RelayDeps, RelayHost } from "./relay.ts";
import { StreamRelay } from "./relay-stream.ts";
import { WholeRelay } from "./relay-whole.ts";

export interface OneAttemptDeps extends RelayDeps {
  readonly clock: Clock;
  readonly upstreams: Pick<Upstreams, "call" | "proxiesOf">;
  readonly health: Pick<Health, "onFirstContent">;
}

/** Receives the events of an attempt. */
export interface AttemptHost {
  /** Content of its stream is about to be sent to the client: from now on no other attempt may answer. */
  attemptBegins(attempt: Attempt): void;
  /** Called once; the attempt calls nothing after it. */
  attemptEnds(attempt: Attempt, end: RelayEnd): void;
}

export interface AttemptInput {
  readonly lane: LaneLease;
  readonly passable: Passable;
  readonly letters: Letters;
  /** Counted from 1 over the whole call. */
  readonly number: number;
}

export class Attempt implements RelayHost {
  readonly lane: LaneLease;
  readonly passable: Passable;
  readonly letters: Letters;
  /** Monotonic. */
  readonly startMs: number;
  readonly #deps: OneAttemptDeps;
  readonly #call: ReservedCall;
  readonly #host: AttemptHost;
  readonly #relay: StreamRelay | WholeRelay;
  readonly #record: AttemptRecord;
  #stopTimer: (() => void) | undefined;
  #isSuspect = false;

  /** @throws WeirError 400 if the request forbids to leave out what cannot be sent */
  constructor(
    deps: OneAttemptDeps,
    call: ReservedCall,
    host: AttemptHost,
    { lane, passable, letters, number }: AttemptInput,
  ) {
    this.lane = lane;
    this.passable = passable;
    this.letters = letters;
    this.#deps = deps;
    this.#call = call;
    this.#host = host;
    // Which credential is used was not known before.
    const fault = call.request.svc.strict ? strictFault(this.letter, lane.endpoint) : undefined;
    if (fault !== undefined) throw fault;
    this.startMs = deps.clock.monotonic();
    this.#record = newRecord(lane, number, deps.clock.now());
    const { dialect, passage } = passable;
    const { extras, ownTools } = this.letter;
    const tiers = extras?.tiers;
    const { isByok } = lane.key;
    const relayInput = { call, endpoint: lane.endpoint, isByok, dialect, passage, tiers, ownTools };
    this.#relay = call.request.facts.stream
      ? new StreamRelay(deps, relayInput, this)
      : new WholeRelay(deps, relayInput, this);
  }

  /** What is sent with its credential. */
  get letter(): Letter {
    return this.letters[this.lane.key.isByok ? "org" : "platform"];
  }

  get endpoint(): Endpoint {
    return this.lane.endpoint;
  }

  /** The stream as far as it was received; undefined for a whole answer. */
  get stream(): AnswerStream | undefined {
    return this.#relay instanceof StreamRelay ? this.#relay.stream : undefined;
  }

  /** More was read of the answer than was told. */
  get isAhead(): boolean {
    return this.#relay instanceof StreamRelay && this.#relay.isAhead;
  }

  /** Whether the first content was received. */
  get hasBegun(): boolean {
    return this.#record.ttftMs > 0;
  }

  /** Sends the request. Never throws: an error while sending fails the attempt. */
  send(): void {
    const { lane, passable, letter } = this;
    const { incoming, request } = this.#call;
    const { stream } = request.facts;
    const { trace } = incoming;
    const { headers: passing } = letter;
    const headers = trace === undefined ? passing : { ...passing, ...trace.headersOf(this.#record.attempt) };
    const sent = {
      endpoint: lane.endpoint,
      key: lane.key,
      dialect: passable.dialect,
      parts: letter.parts,
      stream,
      headers,
    };
    try {
      this.#relay.attach(this.#deps.upstreams.call(sent, this.#relay));
    } catch (error) {
      const upstream = { code: asWeirError(error).code, type: "", message: "" };
      this.#fail(failure("connect_error", "network", 0, upstream));
    }
  }

  /** Makes this the attempt that the call is metered by and that its answer names. */
  adopt(call: Call): void {
    call.endpoint = this.endpoint;
    call.lane = this.lane;
    call.dropped = this.letter.dropped;
    call.droppedMore = this.letter.droppedMore ?? 0;
    call.sent = this.letter.extras ?? NOTHING_SENT;
    call.answeredAs = this.#relay.answeredAs;
    if (this.#record.ttftMs > 0) call.upstreamTtftMs = this.#record.ttftMs;
  }

  /** Fails the attempt after `delayMs` if no content was received until then. */
  giveUpAfter(timers: Timers, delayMs: number): void {
    this.#stopTimer = timers.after(delayMs, () => this.giveUp());
  }

  giveUp(): void {
    this.#relay.cancel();
    this.#fail(failure("timeout", "timeout"));
  }

  #fail(failed: UpstreamFailure): void {
    this.relayEnds({ kind: "failed", failure: failed });
  }

  cancel(): void {
    this.#relay.cancel();
  }

  /** The client left: the upstream is read on for its usage only. */
  clientGone(): void {
    this.#relay.clientGone();
  }

  keepAlive(nowMs: number, afterMs: number): void {
    this.#relay.keepAlive(nowMs, afterMs);
  }

  /**
   * Whether nothing has come for too long: for `stallMs` in the middle of a text, else for `firstByteMs`, because models are silent while
   * they work. Whatever the upstream sends is a sign of life, also a comment or a ping.
   */
  isSilent(nowMs: number, { firstByteMs, stallMs }: { firstByteMs: number; stallMs: number }): boolean {
    const relay = this.#relay;
    if (relay.paused) return false;
    const sinceMs = relay.lastDataMs === 0 ? this.startMs : relay.lastDataMs;
    const workMs = this.hasBegun ? Math.max(firstByteMs, stallMs) : firstByteMs;
    return nowMs - sinceMs >= (relay.isWriting ? stallMs : workMs);
  }

  get isStream(): boolean {
    return this.#relay instanceof StreamRelay;
  }

  /**
   * Whether it is silent for longer than its endpoint usually is; the first time this is reported to `health`.
   * @param others the plan's endpoints: their times are used for an endpoint that never answered
   */
  suspect(nowMs: number, health: Health, others: readonly Endpoint[]): boolean {
    if (this.#record.ttftMs > 0) return false;
    if (this.#isSuspect) return true;
    if (nowMs - this.startMs < health.patienceMs(this.endpoint, this.isStream, others)) return false;
    this.#isSuspect = true;
    health.onSilence(this.lane, this.#call.key.orgId);
    return true;
  }

  /** Completes the attempt's record. @param nowMs monotonic */
  close(nowMs: number, failed: UpstreamFailure | undefined, outputTokens: number): AttemptRecord {
    this.#stopTimer?.();
    const record = this.#record;
    record.durationMs = Math.round(nowMs - this.startMs);
    record.outcome = failed?.outcome ?? "ok";
    record.errorClass = failed?.errorClass ?? "";
    record.httpStatus = this.#relay.status || failed?.httpStatus || 0;
    record.upstreamCode = (failed?.upstream.code || failed?.upstream.type) ?? "";
    record.upstreamMessage = failed?.upstream.message ?? "";
    record.refusal = failed?.refusal?.row ?? "";
    record.outputTokens = outputTokens;
    return record;
  }

  /**
   * The result for the endpoint's health, once the attempt is closed.
   * @param isLoser another attempt answered first: this one's first token would have taken at least as long as it was silent
   */
  result(nowMs: number, failed: UpstreamFailure | undefined, isLoser: boolean): AttemptResult {
    const { outcome, errorClass, httpStatus, ttftMs, durationMs, outputTokens } = this.#record;
    const streamMs = durationMs - ttftMs;
    const { isStream } = this;
    const isMeasured = isStream && outputTokens > 1 && ttftMs > 0 && streamMs > 0;
    // A silence is reported only once.
    const isLost = isLoser && ttftMs === 0 && !this.#isSuspect;
    const silentMs = isLost ? nowMs - this.startMs : undefined;
    return {
      outcome,
      errorClass,
      httpStatus,
      orgId: this.#call.key.orgId,
      retryAfterMs: failed?.retryAfterMs,
      isOvertaken: isLost,
      ttftMs: isStream ? (ttftMs > 0 ? ttftMs : silentMs) : undefined,
      wholeMs: isStream ? undefined : outcome === "ok" ? durationMs : silentMs,
      tokensPerSecond: isMeasured ? (outputTokens * 1000) / streamMs : undefined,
    };
  }

  // -- RelayHost --

  relayBegins(): void {
    const record = this.#record;
    if (record.ttftMs > 0) return;
    this.#stopTimer?.();
    record.ttftMs = Math.max(1, Math.round(this.#deps.clock.monotonic() - this.startMs));
    this.#deps.health.onFirstContent(this.lane);
    // A whole answer is sent only when it is complete.
    if (this.#relay instanceof StreamRelay) this.#host.attemptBegins(this);
  }

  relayEnds(end: RelayEnd): void {
    this.#host.attemptEnds(this, end.kind === "failed" ? this.#inOwnNames(end.failure) : end);
  }

  #inOwnNames(failed: UpstreamFailure): RelayEnd {
    const upstream = withOwnNames(failed.upstream, this.letter.ownTools);
    return { kind: "failed", failure: { ...failed, upstream } };
  }
}

const newRecord = ({ endpoint, key }: LaneLease, attempt: number, tsMs: number): AttemptRecord => ({
  attempt,
  tsMs,
  provider: endpoint.provider.id,
  endpointId: endpoint.id,
  poolId: key.poolId,
  keyHint: key.hint,
  outcome: "cancelled",
  httpStatus: 0,
  errorClass: "",
  upstreamCode: "",
  upstreamMessage: "",
  refusal: "",
  ttftMs: 0,
  durationMs: 0,
  outputTokens: 0,
});
