/**
 * Relays a stream. All chunks of one socket read leave in one write; a client that reads slowly pauses the upstream;
 * whole events only, so that a keep-alive line can stand between any two writes (T8).
 */
import type { Dialect, Endpoint } from "../endpoint.ts";
import { WeirError } from "../errors.ts";
import { after, type MaybePromise } from "../maybe-promise.ts";
import { failure, reportedFailure, type UpstreamFailure } from "../upstream/failure.ts";
import type { UpstreamHeaders } from "../upstream/upstreams.ts";
import type { ByokFee } from "../usage.ts";
import { estimateOutputTokens } from "../wire/estimate.ts";
import type { AnswerStream } from "../wire/format.ts";
import { latin1Text, passingBytes } from "../wire/latin1.ts";
import type { ReservedCall } from "./call.ts";
import { streamHeaders } from "./headers.ts";
import type { Delivered } from "./outcome.ts";
import { MAX_ERROR_BYTES, Relay, type RelayDeps, type Relayed, type RelayHost } from "./relay.ts";
import { extend } from "./reserve.ts";

/** Share of its hold at which a stream asks for more. */
const EXTEND_AT = 0.9;
/** Roles, finish reasons, empty deltas. */
const EVENTS_WITHOUT_TOKEN = 16;
/** No prose or code runs to more bytes a token for long. */
const LONGEST_TOKEN_BYTES = 16;
/** Collected bytes beyond this are written before the read is over, so that a pause takes hold in time (T10). */
const WRITE_OVER_BYTES = 16 * 1024;

/** What one read of the upstream came to. */
interface Piece {
  /** For the client. */
  readonly out: string;
  /** The upstream ended with it. */
  readonly isLast: boolean;
  /** As before it. */
  readonly before: Delivered;
}

export class StreamRelay extends Relay {
  readonly stream: AnswerStream;
  /** Content has left for the client: no other endpoint may take over. */
  delivered = false;
  readonly #call: ReservedCall;
  readonly #endpoint: Endpoint;
  readonly #fee: ByokFee | undefined;
  readonly #dialect: Dialect;
  readonly #afterRead = () => this.#flush();
  /** Of one read: what the parser found in it so far. */
  #chunks: Buffer[] = [];
  #collectedBytes = 0;
  #errorBody = "";
  #ended = false;
  #clientGone = false;
  /** The client reads more slowly than the upstream sends. */
  #isClientSlow = false;
  /** What was read last is not covered by the hold yet: it is passed on once the hold has grown. */
  #isWaiting = false;
  /** The upstream broke while the relay waited. */
  #broken: UpstreamFailure | undefined;
  #lastWriteMs: number;
  /** Cleared when the connection ends by itself: it would keep all of the stream alive until it fires. */
  #closeTimer: NodeJS.Timeout | undefined;

  constructor(deps: RelayDeps, { call, endpoint, isByok, dialect, passage }: Relayed, host: RelayHost) {
    super(deps, host);
    this.#call = call;
    this.#endpoint = endpoint;
    this.#fee = isByok ? deps.byokFee : undefined;
    this.#dialect = dialect;
    this.#lastWriteMs = call.incoming.startMs;
    this.stream = passage.stream(call.request, call.identity(deps.bounds));
  }

  clientGone(): void {
    this.#clientGone = true;
    this.#isClientSlow = false;
    this.#resume();
  }

  /** After a silence a comment line; before the first byte it opens the stream (T7). */
  keepAlive(nowMs: number, afterMs: number): void {
    if (afterMs === 0 || this.paused || this.#clientGone || nowMs - this.#lastWriteMs < afterMs) return;
    this.#send(Buffer.from(this.#call.incoming.format.keepAlive), nowMs);
  }

  override onHead(status: number, headers: UpstreamHeaders): void {
    super.onHead(status, headers);
    if (!this.answering) return;
    const type = String(headers["content-type"] ?? "").toLowerCase();
    if (!type.startsWith(streamType(this.#dialect))) {
      this.upstream?.cancel();
      this.fail(failure("invalid_response", "protocol", status, NO_STREAM));
    }
  }

  onData(chunk: Buffer): void {
    if (this.over) return;
    if (!this.answering) {
      this.lastDataMs = this.deps.clock.monotonic();
      this.#errorBody += chunk.toString("latin1");
      if (this.#errorBody.length > MAX_ERROR_BYTES) this.#endOfError();
      return;
    }
    // The parser calls us once for each HTTP chunk of a read, in one synchronous run: a microtask runs after the last.
    if (this.#chunks.length === 0) {
      this.lastDataMs = this.deps.clock.monotonic();
      queueMicrotask(this.#afterRead);
    }
    this.#chunks.push(chunk);
    this.#collectedBytes += chunk.length;
    if (this.#collectedBytes > WRITE_OVER_BYTES) this.#flush();
  }

  onEnd(): void {
    this.#ended = true;
    clearTimeout(this.#closeTimer);
    if (this.over) return;
    if (!this.answering) {
      this.#endOfError();
      return;
    }
    this.#flush();
  }

  override onFailure(failure: UpstreamFailure): void {
    clearTimeout(this.#closeTimer);
    if (this.over) return;
    if (this.#isWaiting) {
      this.#broken ??= failure;
      return;
    }
    this.#flush();
    if (this.#isWaiting) this.#broken = failure;
    else if (!this.over) this.fail(failure);
  }

  #flush(): void {
    if (!this.over && !this.#isWaiting) this.#guarded(() => this.#pass());
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      // Nothing above us would take it: this may be a microtask.
      this.#reportFault(error);
      this.upstream?.cancel();
      if (!this.over) this.fail(failure("invalid_response", "protocol", this.status));
    }
  }

  #pass(): void {
    const { stream } = this;
    const { textBytes, nextSequence } = stream;
    const before = { textBytes, nextSequence };
    const isLast = this.#ended;
    let out: string;
    try {
      out = stream.push(this.#collected());
      if (isLast) out += stream.end();
    } catch (error) {
      const isTooLarge = error instanceof WeirError;
      if (!isTooLarge) this.#reportFault(error);
      this.upstream?.cancel();
      const reason = isTooLarge ? TOO_LARGE : undefined;
      this.fail(failure("invalid_response", "protocol", this.status, reason));
      return;
    }
    const isCovered = out === "" || this.#covered();
    if (isCovered instanceof Promise) void this.#wait(isCovered, { out, isLast, before });
    else this.#forward(isCovered, { out, isLast, before });
  }

  /** The upstream rests meanwhile; what it has sent already, its end and its failure are kept for later. */
  async #wait(promised: Promise<boolean>, piece: Piece): Promise<void> {
    this.#isWaiting = true;
    this.#pause();
    let pass: () => void;
    try {
      const isCovered = await promised;
      pass = () => this.#forward(isCovered, piece);
    } catch (error) {
      pass = () => {
        throw error;
      };
    }
    this.#isWaiting = false;
    if (this.over) return;
    this.#guarded(pass);
    if (this.#chunks.length > 0 || (this.#ended && !piece.isLast)) this.#flush();
    // It may wait again, for what came meanwhile.
    if (this.#broken !== undefined && !this.#isWaiting && !this.over) this.fail(this.#broken);
    this.#resume();
  }

  #forward(isCovered: boolean, { out, isLast, before }: Piece): void {
    const { stream } = this;
    if (!isCovered) {
      this.upstream?.cancel();
      this.finish({ kind: "exhausted", stream, delivered: before });
      return;
    }
    if (out !== "") this.#deliver(out);
    if (stream.error !== undefined) {
      this.upstream?.cancel();
      this.fail(reportedFailure(stream.error, this.status));
    } else if (stream.done || (isLast && stream.complete)) {
      this.#answered();
    } else if (isLast) {
      this.fail(failure("stream_error", "protocol", this.status, CUT));
    }
  }

  #deliver(out: string): void {
    if (!this.delivered) {
      this.delivered = true;
      this.host.relayBegins();
    }
    if (this.#clientGone) return;
    // It came in this moment's read: what was read of the clock then will do.
    if (!this.#send(passingBytes(out), this.lastDataMs)) this.#waitForClient();
  }

  /** The bytes of the read as latin1 text; they are let go of. */
  #collected(): string {
    const chunks = this.#chunks;
    const bytes = this.#collectedBytes;
    this.#chunks = [];
    this.#collectedBytes = 0;
    return latin1Text(chunks, bytes);
  }

  #send(bytes: Buffer, nowMs: number): boolean {
    const call = this.#call;
    const { reply } = call.incoming;
    this.#lastWriteMs = nowMs;
    if (this.delivered && call.firstSentMs === 0) call.firstSentMs = this.deps.clock.monotonic();
    if (!call.streaming) {
      call.streaming = true;
      reply.openStream(streamHeaders(this.deps.limits, call), call.incoming.format.keepAlive);
    }
    call.bytesOut += bytes.length;
    return reply.write(bytes);
  }

  #waitForClient(): void {
    if (this.#isClientSlow) return;
    this.#isClientSlow = true;
    this.#pause();
    this.#call.incoming.reply.onDrain(() => {
      if (!this.#isClientSlow) return;
      this.#isClientSlow = false;
      this.#resume();
    });
  }

  #pause(): void {
    if (this.paused) return;
    this.paused = true;
    this.upstream?.pause();
  }

  #resume(): void {
    if (!this.paused || this.over || this.#isClientSlow || this.#isWaiting) return;
    this.paused = false;
    // The silence was ours: the stall clock starts anew.
    this.lastDataMs = this.deps.clock.monotonic();
    this.upstream?.resume();
  }

  /** Whether the hold covers what is about to be delivered; grown ahead of it while the credit allows (T40). */
  #covered(): MaybePromise<boolean> {
    const { reservation, request } = this.#call;
    const { events, textBytes } = this.stream;
    let tokens: number;
    if (request.facts.maxTokens === undefined) {
      tokens = Math.max(events, estimateOutputTokens(textBytes));
      if (tokens < reservation.outputTokens * EXTEND_AT) return true;
    } else {
      // The hold is the client's own bound, which upstreams keep to the token: only one that clearly does not is cut.
      tokens = Math.max(
        events - EVENTS_WITHOUT_TOKEN * request.facts.choices,
        Math.ceil(textBytes / LONGEST_TOKEN_BYTES),
      );
      if (tokens <= reservation.outputTokens) return true;
    }
    const { extendTokens } = this.deps.bounds;
    const lacking = Math.max(0, tokens - reservation.outputTokens);
    const grows = (by: number) => extend(this.deps, reservation, this.#endpoint, by, this.#fee);
    return after(grows(lacking + extendTokens), (hasGrown) => hasGrown || lacking === 0 || grows(lacking));
  }

  #endOfError(): void {
    this.upstream?.cancel();
    this.refused(Buffer.from(this.#errorBody, "latin1"));
  }

  #answered(): void {
    this.over = true;
    // What a provider sends after [DONE] is ignored; most close here anyway.
    if (!this.#ended) this.#finishConnection();
    this.finish({ kind: "streamed", stream: this.stream });
  }

  #reportFault(error: unknown): void {
    this.deps.onFault(error, this.#call.requestId);
  }

  /** Lets the connection end by itself, so that it can be used again; it is cut if the provider does not. */
  #finishConnection(): void {
    this.#closeTimer = setTimeout(() => this.upstream?.cancel(), 1000).unref();
    if (this.paused) this.upstream?.resume();
  }
}

/** The media type that a stream of the dialect comes as. */
const streamType = (dialect: Dialect): string =>
  dialect === "converse" ? "application/vnd.amazon.eventstream" : "text/event-stream";

const NO_STREAM = { code: "not_an_event_stream", type: "", message: "" };
const TOO_LARGE = { code: "event_too_large", type: "", message: "" };
const CUT = { code: "stream_cut", type: "", message: "" };
