/** Common parts of both relays: the upstream's call, the report to the attempt, and their limits. */
import type { Clock } from "../../base/clock.ts";
import type { Dialect, Endpoint } from "../../base/endpoint.ts";
import type { ByokFee } from "../../base/usage.ts";
import type { Limits } from "../../credits/limits/limits.ts";
import type { OwnTools, Passage } from "../../wire/format.ts";
import type { TierNames } from "../../wire/neutral/asked-extras.ts";
import { answerFailure, type UpstreamFailure } from "../upstream/failure.ts";
import { streamType } from "../upstream/paths.ts";
import type { AnswerHeaders, UpstreamCall, UpstreamHandler } from "../upstream/upstreams.ts";
import type { ReservedCall } from "./call.ts";
import type { AnsweredAs } from "./forms/answered-as.ts";
import type { RelayEnd } from "./outcome.ts";
import type { HoldDeps } from "./reservation/holds.ts";

export interface RelayDeps extends HoldDeps {
  readonly clock: Clock;
  readonly limits: Limits;
  /** Reports a fault of the gateway to the operator's log; clients never see it. The relay fails as well. */
  readonly onFault: (error: unknown, requestId: string) => void;
  /** Charged instead of tokens if an org's own provider key answers. */
  readonly byokFee: ByokFee;
  readonly bounds: {
    readonly maxEventBytes: number;
    readonly maxReplyBytes: number;
    readonly maxPayloadBytes: number;
    /** A stream's hold is extended by this many output tokens at a time. */
    readonly extendTokens: number;
  };
}

/** Receives the events of a relay. */
export interface RelayHost {
  /** The first content was received. Content of a stream is sent to the client after this returns. */
  relayBegins(): void;
  /** Called once; the relay calls nothing after it. */
  relayEnds(end: RelayEnd): void;
}

/** The call and the endpoint that a relay connects. */
export interface RelayInput {
  readonly call: ReservedCall;
  readonly endpoint: Endpoint;
  /** Whether it is asked with an org's own key. */
  readonly isByok: boolean;
  readonly dialect: Dialect;
  readonly passage: Passage;
  /** Tiers that it is asked for. */
  readonly tiers?: TierNames | undefined;
  /** The client's tools that it was told in another way. */
  readonly ownTools?: OwnTools | undefined;
}

const NO_ANSWER_HEADERS: AnswerHeaders = {};

/** Bytes of an error body that are read; enough for a code and a message. */
export const MAX_ERROR_BYTES = 64 * 1024;

/** Gemini sends a call as a whole, and is silent after a text while it writes one. */
export const mayMakeCall = ({ dialect, call }: RelayInput): boolean =>
  dialect === "gemini" && call.request.facts.hasTools;

/** Whether an answer has the content type of the dialect's streams. */
export const isLabelledAsStream = (headers: AnswerHeaders, dialect: Dialect): boolean =>
  String(headers["content-type"] ?? "")
    .toLowerCase()
    .startsWith(streamType(dialect));

/** Passes one upstream's answer to the client. Once `over`, it reports nothing more and ignores further data. */
export abstract class Relay implements UpstreamHandler {
  /** Status of the answer; 0 before its head. */
  status = 0;
  /** Monotonic time of the last data; 0 before the first. */
  lastDataMs = 0;
  /**
   * The upstream is paused, because the client reads too slowly or the hold is being extended: its silence is not its fault.
   */
  paused = false;
  /** The form of an answer that came in another one than was asked for. */
  answeredAs: AnsweredAs | undefined;
  protected readonly deps: RelayDeps;
  protected readonly host: RelayHost;
  protected upstream: UpstreamCall | undefined;
  protected headers: AnswerHeaders = NO_ANSWER_HEADERS;
  protected over = false;

  constructor(deps: RelayDeps, host: RelayHost) {
    this.deps = deps;
    this.host = host;
  }

  /** True once the upstream has accepted the request. */
  get answering(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /**
   * Whether the upstream is in the middle of what it writes, where it falls silent only if it is dead. Elsewhere it may be at work: before
   * its first content, and as {@link AnswerStream.isInText} says.
   */
  get isWriting(): boolean {
    return this.status !== 0 && !this.answering;
  }

  attach(call: UpstreamCall): void {
    this.upstream = call;
    if (this.over) call.cancel();
  }

  cancel(): void {
    this.over = true;
    this.upstream?.cancel();
  }

  /** The client left: the upstream is read on for its usage only. */
  abstract clientGone(): void;
  /** Sends a keep-alive without content after a silence of `afterMs` (0: never). */
  abstract keepAlive(nowMs: number, afterMs: number): void;
  abstract onData(bytes: Buffer, start: number, end: number): void;
  abstract onEnd(): void;

  onHead(status: number, headers: AnswerHeaders): void {
    this.status = status;
    this.headers = headers;
  }

  onFailure(failure: UpstreamFailure): void {
    if (!this.over) this.fail(failure);
  }

  /** The upstream answered with an error status. */
  protected refused(body: Buffer): void {
    this.fail(answerFailure(this.status, this.headers, body, this.deps.clock.now()));
  }

  protected fail(failure: UpstreamFailure): void {
    this.finish({ kind: "failed", failure });
  }

  protected finish(end: RelayEnd): void {
    this.over = true;
    this.host.relayEnds(end);
  }
}
