/**
 * Attempts: one endpoint of the plan after another, until one answers or none is left. An attempt may be replaced by
 * the next only before its first content reached the client (T15), and never for a client that is gone (T19).
 * A POST is not repeated at the same endpoint: whether it was processed there cannot be known (T43).
 */
import type { Clock } from "../clock.ts";
import type { Endpoint } from "../endpoint.ts";
import { asWeirError, fail, WeirError } from "../errors.ts";
import type { AttemptRecord } from "../record.ts";
import type { Health } from "../routing/health.ts";
import { failure, mayFallBack, type UpstreamFailure, withoutCredential } from "../upstream/failure.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import type { Outgoing } from "../wire/format.ts";
import { type Passable, passageTo } from "../wire/passages.ts";
import type { Bodies } from "./bodies.ts";
import type { Reserved } from "./call.ts";
import type { Placed } from "./live.ts";
import type { Outcome } from "./outcome.ts";
import type { RelayDeps, RelayHost } from "./relay.ts";
import { StreamRelay } from "./relay-stream.ts";
import { WholeRelay } from "./relay-whole.ts";

export interface AttemptDeps extends RelayDeps {
  readonly clock: Clock;
  readonly health: Health;
  readonly upstreams: Upstreams;
  /** Takes a place among the calls read to their end for clients that left; false when all are taken. */
  beginDrain(): boolean;
  endDrain(): void;
  readonly bodies: Bodies;
  /** A fault of ours: for the operator's log, never shown. */
  readonly onFault: (error: unknown, requestId: string) => void;
  readonly timeouts: {
    readonly firstByteMs: number;
    readonly stallMs: number;
    readonly totalMs: number;
    readonly drainMs: number;
    /** 0: no keep-alive. */
    readonly keepAliveMs: number;
  };
}

/** What the sweep of all live calls looks at once a second. */
export interface LiveAttempts extends Placed {
  tick(nowMs: number): void;
  /** The process stops: ends the call with an error now. */
  shutDown(): void;
}

/** Asks the endpoints in order; `done` is called once, with what is to be settled. */
export class Attempts implements RelayHost, LiveAttempts {
  place = -1;
  readonly #deps: AttemptDeps;
  readonly #reserved: Reserved;
  readonly #done: (outcome: Outcome) => void;
  #next = 0;
  #relay: StreamRelay | WholeRelay | undefined;
  #record: AttemptRecord | undefined;
  #attemptMs = 0;
  #over = false;
  #drainUntilMs = 0;
  #lastFailure: UpstreamFailure | undefined;
  /** Why the first endpoint that could not be told the request could not. */
  #refusal: WeirError | undefined;

  constructor(deps: AttemptDeps, reserved: Reserved, done: (outcome: Outcome) => void) {
    this.#deps = deps;
    this.#reserved = reserved;
    this.#done = done;
  }

  /** Called once. A client that left while its call waited for this is told of here and now. */
  run(): void {
    this.#reserved.call.incoming.reply.onGone(() => this.#clientGone());
    if (!this.#over) this.#start();
  }

  /** Starts the next attempt, or finishes with the last failure. */
  #start(): void {
    const { plan, call, request } = this.#reserved;
    // The attempt before is over: neither its silence nor what it said counts while this one's body is written.
    this.#relay = undefined;
    const endpoint = plan.attempts[this.#next++];
    if (endpoint === undefined) {
      this.#nobodyLeft();
      return;
    }
    const passable = passageTo(call.incoming.format, endpoint);
    if (passable === undefined) {
      this.#start();
      return;
    }
    try {
      const outgoing = this.#deps.bodies.write(call.incoming.format, passable, request, endpoint);
      if (!(outgoing instanceof Promise)) this.#send(endpoint, passable, outgoing);
      else {
        outgoing
          .then((written) => {
            if (!this.#over) this.#send(endpoint, passable, written);
          })
          .catch((error: unknown) => this.#unwritable(error));
      }
    } catch (error) {
      this.#unwritable(error);
    }
  }

  #send(endpoint: Endpoint, passable: Passable, { parts, dropped }: Outgoing): void {
    const { call, request } = this.#reserved;
    const [first] = dropped;
    if (first !== undefined && request.svc.strict) {
      const message = `${first} cannot be told to ${endpoint.id}, and svc.compat.strict is set.`;
      this.#unwritable(fail("capability_not_supported", message, { param: first, details: { dropped } }));
      return;
    }
    // Between planning and now it may have saturated, or another call may be probing it.
    if (!this.#deps.health.begin(endpoint.id)) {
      this.#start();
      return;
    }
    call.endpoint = endpoint;
    call.dropped = dropped;
    this.#attemptMs = this.#deps.clock.monotonic();
    this.#record = this.#newRecord(endpoint);
    const { dialect, passage, isSplice } = passable;
    const { stream } = request.facts;
    const relayed = { reserved: this.#reserved, endpoint, dialect, passage };
    const relay = stream
      ? new StreamRelay(this.#deps, relayed, this)
      : new WholeRelay(this.#deps, relayed, this);
    this.#relay = relay;
    try {
      // What the client says in headers is of its own dialect.
      const headers = isSplice ? call.incoming.passing : NO_HEADERS;
      relay.attach(this.#deps.upstreams.call({ endpoint, dialect, parts, stream, headers }, relay));
    } catch (error) {
      this.failed({ ...failure("connect_error", "network"), upstream: reason(error) });
    }
  }

  /** This endpoint cannot be told the request; another one may. */
  #unwritable(thrown: unknown): void {
    if (this.#over) return;
    const error = asWeirError(thrown);
    if (!(thrown instanceof WeirError)) this.fault(thrown);
    this.#refusal ??= error;
    this.#start();
  }

  #nobodyLeft(): void {
    if (this.#lastFailure === undefined && this.#refusal !== undefined) {
      this.#finish({ kind: "refused", error: this.#refusal });
      return;
    }
    this.#finish({ kind: "failed", failure: this.#lastFailure });
  }

  // -- what a relay tells --

  firstContent(): void {
    const nowMs = this.#deps.clock.monotonic();
    const record = this.#record;
    if (record !== undefined && record.ttftMs === 0) {
      record.ttftMs = Math.max(1, Math.round(nowMs - this.#attemptMs));
      this.#reserved.call.upstreamTtftMs = record.ttftMs;
    }
  }

  failed(reported: UpstreamFailure): void {
    if (this.#over) return;
    const relay = this.#relay;
    const failed = withoutCredential(reported, this.#reserved.call.endpoint?.provider.credential);
    this.#close(failed);
    this.#lastFailure = failed;
    const { call } = this.#reserved;
    if (relay instanceof StreamRelay && relay.delivered) {
      this.#finish({ kind: "broken", failure: failed, stream: relay.stream });
    } else if (mayFallBack(failed) && !call.incoming.reply.gone) {
      this.#start();
    } else {
      this.#finish({ kind: "failed", failure: failed });
    }
  }

  answered(outcome: Outcome): void {
    if (this.#over) return;
    const usage = outcome.kind === "whole" ? outcome.answer.facts.usage : undefined;
    const tokens =
      usage?.outputTokens ?? (outcome.kind === "streamed" ? outcome.stream.facts.usage?.outputTokens : 0);
    this.#close(undefined, tokens ?? 0);
    this.#finish(outcome);
  }

  exhausted(deliveredBytes: number): void {
    const relay = this.#relay as StreamRelay;
    this.#cancel();
    this.#finish({ kind: "exhausted", stream: relay.stream, deliveredBytes });
  }

  fault(error: unknown): void {
    this.#deps.onFault(error, this.#reserved.call.requestId);
  }

  // -- what the world does --

  tick(nowMs: number): void {
    if (this.#over) return;
    const { timeouts } = this.#deps;
    const { call } = this.#reserved;
    if (this.#drainUntilMs > 0) {
      if (nowMs >= this.#drainUntilMs) this.#leave();
      return;
    }
    const late = nowMs - call.incoming.startMs >= timeouts.totalMs;
    if (late || this.#silentTooLong(nowMs)) {
      // The time of the whole call is up: nobody else is asked.
      if (late) this.#next = Number.POSITIVE_INFINITY;
      this.#relay?.cancel();
      this.failed(failure("timeout", "timeout"));
      return;
    }
    this.#relay?.keepAlive(nowMs, timeouts.keepAliveMs);
  }

  shutDown(): void {
    if (this.#over) return;
    const relay = this.#relay;
    this.#cancel();
    this.#finish({ kind: "shut_down", stream: relay instanceof StreamRelay ? relay.stream : undefined });
  }

  #silentTooLong(nowMs: number): boolean {
    const relay = this.#relay;
    if (relay === undefined || relay.paused) return false;
    const { firstByteMs, stallMs } = this.#deps.timeouts;
    return relay.lastDataMs === 0
      ? nowMs - this.#attemptMs >= firstByteMs
      : nowMs - relay.lastDataMs >= stallMs;
  }

  #clientGone(): void {
    if (this.#over || this.#drainUntilMs > 0) return;
    const { call, request } = this.#reserved;
    const asked = request.svc.onDisconnect ?? call.key.onDisconnect;
    const drains = asked === "drain" || call.endpoint?.provider.quirks.billsAfterDisconnect === true;
    // An attempt that has not answered yet is billed by such a provider all the same.
    if (drains && this.#record !== undefined && this.#deps.beginDrain()) {
      this.#drainUntilMs = this.#deps.clock.monotonic() + this.#deps.timeouts.drainMs;
      this.#relay?.clientGone();
      return;
    }
    this.#leave();
  }

  #leave(): void {
    const relay = this.#relay;
    this.#cancel();
    this.#finish({ kind: "cancelled", stream: relay instanceof StreamRelay ? relay.stream : undefined });
  }

  #cancel(): void {
    this.#relay?.cancel();
    this.#close(failure("cancelled", ""));
  }

  /** Writes down how the attempt under way ended, once. */
  #close(failed: UpstreamFailure | undefined, outputTokens = 0): void {
    const record = this.#record;
    if (record === undefined) return;
    this.#record = undefined;
    const { call } = this.#reserved;
    const nowMs = this.#deps.clock.monotonic();
    record.durationMs = Math.round(nowMs - this.#attemptMs);
    call.upstreamMs += nowMs - this.#attemptMs;
    record.outcome = failed?.outcome ?? "ok";
    record.errorClass = failed?.errorClass ?? "";
    record.httpStatus = this.#relay?.status || failed?.httpStatus || 0;
    record.upstreamCode = (failed?.upstream.code || failed?.upstream.type) ?? "";
    record.upstreamMessage = failed?.upstream.message ?? "";
    record.outputTokens = outputTokens;
    call.attempts.push(record);
    const streamMs = record.durationMs - record.ttftMs;
    this.#deps.health.onResult(record.endpointId, {
      outcome: record.outcome,
      errorClass: record.errorClass,
      retryAfterMs: failed?.retryAfterMs,
      ttftMs: record.ttftMs > 0 ? record.ttftMs : undefined,
      tokensPerSecond:
        outputTokens > 1 && record.ttftMs > 0 && streamMs > 0 ? (outputTokens * 1000) / streamMs : undefined,
    });
  }

  #finish(outcome: Outcome): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#drainUntilMs > 0) this.#deps.endDrain();
    this.#done(outcome);
  }

  #newRecord(endpoint: Endpoint): AttemptRecord {
    return {
      attempt: this.#reserved.call.attempts.length + 1,
      tsMs: this.#deps.clock.now(),
      provider: endpoint.provider.id,
      endpointId: endpoint.id,
      poolId: "",
      keyHint: this.#deps.upstreams.keyHint(endpoint.provider),
      outcome: "cancelled",
      httpStatus: 0,
      errorClass: "",
      upstreamCode: "",
      upstreamMessage: "",
      ttftMs: 0,
      durationMs: 0,
      outputTokens: 0,
    };
  }
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

const reason = (error: unknown) => ({ code: asWeirError(error).code, type: "", message: "" });
