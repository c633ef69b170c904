/**
 * Relays a stream. All events of one socket read are sent in one write, those of the last read together with the end. If the
 * client reads slowly, the upstream is paused. Only whole events are written, so that a keep-alive line may be written between
 * any two writes (T8).
 */
import { WeirError } from "../../base/errors.ts";
import type { AnswerStream } from "../../wire/format.ts";
import type { UpstreamError } from "../../wire/neutral/contract.ts";
import { ReceivedPieces } from "../../wire/relay/received.ts";
import type { ClientReply } from "../client-reply.ts";
import { failure, reportedFailure, type UpstreamFailure } from "../upstream/failure.ts";
import type { AnswerHeaders } from "../upstream/upstreams.ts";
import type { ReservedCall } from "./call.ts";
import { NOT_A_STREAM, STREAM_CUT } from "./forms/answered-as.ts";
import { asStream, beginsAsLabelled, type FormEnd, StreamForm } from "./forms/stream-form.ts";
import { streamHeaders } from "./headers.ts";
import type { Delivered } from "./outcome.ts";
import {
  isLabelledAsStream,
  MAX_ERROR_BYTES,
  mayMakeCall,
  Relay,
  type RelayDeps,
  type RelayHost,
  type RelayInput,
} from "./relay.ts";
import { requestAt } from "./reservation/fit.ts";
import { StreamCover } from "./reservation/stream-cover.ts";

/** Above this many bytes, data is written before the read is over, so that a pause takes effect in time (T10). */
const WRITE_OVER_BYTES = 32 * 1024;

/** The result of one read of the upstream, while the relay waits. */
interface Piece {
  /** Events for the client, on memory of their own. */
  readonly out: Buffer;
  /** Whether the upstream ended with it. */
  readonly isLast: boolean;
  /** What was delivered before it. */
  readonly before: Delivered;
}

export class StreamRelay extends Relay {
  stream: AnswerStream;
  /** Content was sent to the client: no other endpoint may answer. */
  delivered = false;
  readonly #call: ReservedCall;
  readonly #reply: ClientReply;
  readonly #input: RelayInput;
  readonly #cover: StreamCover;
  /** Data of the upstream that `stream` has not parsed yet: of the current read, and of reads while the relay waited. */
  readonly #received = new ReceivedPieces();
  #errorBody = "";
  /** The content type is that of the dialect's streams. */
  #isLabelled = false;
  /** What comes is the stream that was asked for. */
  #isPlain = false;
  /** What it is instead, as far as is known. */
  #form: StreamForm | undefined;
  #ended = false;
  #clientGone = false;
  /** The client reads more slowly than the upstream sends. */
  #isClientSlow = false;
  /** The last read is not covered by the hold yet: it is sent once the hold is extended. */
  #isWaiting = false;
  /** The failure of an upstream that broke while the relay waited. */
  #broken: UpstreamFailure | undefined;
  #lastWriteMs: number;
  /**
   * Cancels a connection that does not end by itself. Cleared when it does: the timer would keep the whole stream in memory.
   */
  #closeTimer: NodeJS.Timeout | undefined;

  constructor(deps: RelayDeps, input: RelayInput, host: RelayHost) {
    super(deps, host);
    const { call, endpoint, isByok, passage, tiers, ownTools } = input;
    this.#input = input;
    this.#call = call;
    this.#reply = call.incoming.reply;
    this.#lastWriteMs = call.incoming.startMs;
    const fee = isByok ? deps.byokFee : undefined;
    this.#cover = new StreamCover(deps, { call, endpoint, tiers, fee });
    this.stream = passage.stream(requestAt(call, endpoint), call.identity(deps), ownTools);
  }

  override get isWriting(): boolean {
    const { stream } = this;
    const isInMiddle = stream.isInText && !mayMakeCall(this.#input);
    return stream.complete || isInMiddle || this.#form?.isCollecting === true || super.isWriting;
  }

  /** More was read than was sent: it waits for the hold. */
  get isAhead(): boolean {
    return this.#isWaiting;
  }

  clientGone(): void {
    this.#clientGone = true;
    this.#isClientSlow = false;
    this.#resume();
  }

  /** Writes a comment line after a silence; before the first byte it also opens the stream (T7). */
  keepAlive(nowMs: number, afterMs: number): void {
    if (afterMs === 0 || this.paused || this.#clientGone || nowMs - this.#lastWriteMs < afterMs) return;
    this.#send(Buffer.from(this.#call.incoming.format.keepAlive), nowMs);
  }

  override onHead(status: number, headers: AnswerHeaders): void {
    super.onHead(status, headers);
    this.#isLabelled = isLabelledAsStream(headers, this.#input.dialect);
  }

  onData(bytes: Buffer, start: number, end: number): void {
    if (this.over || (!this.#isPlain && !this.#begins(bytes, start, end))) return;
    const received = this.#received;
    if (received.count === 0) this.lastDataMs = this.deps.clock.monotonic();
    if (this.#isWaiting) received.addCopy(bytes, start, end);
    else received.add(bytes, start, end);
    if (received.bytes > WRITE_OVER_BYTES) this.#flush();
  }

  /** The end, too, may be in the read: then it has come before, with which the last events leave. */
  onReadOver(): void {
    if (this.#received.count > 0) this.#flush();
  }

  /** Whether the data are those of the stream that was asked for. What comes before that is known is looked at here. */
  #begins(bytes: Buffer, start: number, end: number): boolean {
    this.lastDataMs = this.deps.clock.monotonic();
    if (!this.answering) {
      this.#errorBody += bytes.toString("latin1", start, end);
      if (this.#errorBody.length > MAX_ERROR_BYTES) this.#endOfError();
      return false;
    }
    if (
      this.#form === undefined &&
      this.#isLabelled &&
      beginsAsLabelled(bytes[start] as number, this.#input.dialect)
    ) {
      this.#isPlain = true;
      return true;
    }
    this.#form ??= new StreamForm(this.deps, this.#input, this.#isLabelled);
    this.#received.addText(this.#form.push(bytes.toString("latin1", start, end)));
    const { isPlain, answeredAs, fault } = this.#form;
    this.#isPlain = isPlain;
    this.answeredAs = answeredAs;
    if (fault !== undefined) this.#isNone(fault);
    return false;
  }

  onEnd(): void {
    this.#ended = true;
    clearTimeout(this.#closeTimer);
    if (this.over) return;
    if (!this.answering) {
      this.#endOfError();
      return;
    }
    if (!this.#isPlain && (this.#form !== undefined || !this.#isLabelled)) this.#endOfOther();
    if (!this.over) this.#flush();
  }

  /** The end of what is no event stream: a whole answer is told as one. */
  #endOfOther(): void {
    this.#become(this.#form?.end() ?? { kind: "fault", fault: NOT_A_STREAM });
  }

  #become(end: FormEnd): void {
    if (end.kind === "fault") this.#isNone(end.fault);
    else if (end.kind === "error") this.fail(reportedFailure(end.error, this.status));
    else if (end.kind === "restated") {
      this.stream = end.stream;
      this.answeredAs = "whole";
      this.#received.addText(end.events);
    }
  }

  #isNone(fault: UpstreamError): void {
    this.upstream?.cancel();
    this.fail(failure("invalid_response", "protocol", this.status, fault));
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
    if (this.over || this.#isWaiting) return;
    try {
      this.#pass();
    } catch (error) {
      this.#faulted(error);
    }
  }

  /** No caller could catch it: this may run in a microtask. */
  #faulted(error: unknown): void {
    this.#reportFault(error);
    this.upstream?.cancel();
    if (!this.over) this.fail(failure("invalid_response", "protocol", this.status));
  }

  #pass(): void {
    const { stream } = this;
    const { textBytes, nextSequence } = stream;
    const isLast = this.#ended;
    const received = this.#received;
    let out: Buffer;
    try {
      out = stream.read(received, isLast);
    } catch (error) {
      const isTooLarge = error instanceof WeirError;
      if (!isTooLarge) this.#reportFault(error);
      this.upstream?.cancel();
      const reason = isTooLarge ? TOO_LARGE : undefined;
      this.fail(failure("invalid_response", "protocol", this.status, reason));
      return;
    } finally {
      received.clear();
    }
    const isCovered = out.length === 0 || this.#cover.covers(stream);
    if (isCovered instanceof Promise) {
      const piece = { out: Buffer.from(out), isLast, before: { textBytes, nextSequence } };
      void this.#wait(isCovered, piece);
    } else if (isCovered) this.#forward(out, isLast);
    else this.#exhausted({ textBytes, nextSequence });
  }

  /**
   * Waits until the hold is extended. The upstream is paused; data that it has sent already, its end and its failure are
   * handled afterwards.
   */
  async #wait(promised: Promise<boolean>, piece: Piece): Promise<void> {
    this.#isWaiting = true;
    this.#pause();
    let pass: () => void;
    try {
      const isCovered = await promised;
      pass = () => (isCovered ? this.#forward(piece.out, piece.isLast) : this.#exhausted(piece.before));
    } catch (error) {
      pass = () => {
        // Anything else is a fault of the gateway.
        if (!(error instanceof WeirError)) throw error;
        this.#exhausted(piece.before, error);
      };
    }
    this.#isWaiting = false;
    if (this.over) return;
    try {
      pass();
    } catch (error) {
      this.#faulted(error);
    }
    if (this.#received.count > 0 || (this.#ended && !piece.isLast)) this.#flush();
    // It may wait again, for data that came meanwhile.
    if (this.#broken !== undefined && !this.#isWaiting && !this.over) this.fail(this.#broken);
    this.#resume();
  }

  /** @param out is covered by the hold */
  #forward(out: Buffer, isLast: boolean): void {
    const { stream } = this;
    const isComplete = stream.error === undefined && (stream.done || (isLast && stream.complete));
    if (isComplete) {
      this.#answered(out);
      return;
    }
    if (out.length > 0) this.#deliver(out);
    if (stream.error !== undefined) {
      this.upstream?.cancel();
      const { whole } = stream.error;
      if (whole === undefined || this.delivered) this.fail(reportedFailure(stream.error, this.status));
      else {
        this.#ended = true;
        this.#become(asStream(this.deps, this.#input, whole));
        this.#flush();
      }
    } else if (isLast) {
      this.fail(failure("stream_error", "protocol", this.status, STREAM_CUT));
    }
  }

  #deliver(out: Buffer): void {
    this.#begin();
    if (this.#clientGone) return;
    // The data was read just now, so the clock need not be read again.
    if (!this.#send(out, this.lastDataMs)) this.#waitForClient();
  }

  /** Events are about to be delivered. */
  #begin(): void {
    if (this.delivered) return;
    this.delivered = true;
    this.host.relayBegins();
  }

  #send(bytes: Buffer, nowMs: number): boolean {
    const call = this.#call;
    const reply = this.#reply;
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
    this.#reply.onDrain(() => {
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
    // The gateway caused the silence: the stall timeout begins anew.
    this.lastDataMs = this.deps.clock.monotonic();
    this.upstream?.resume();
  }

  /** @param error where it could not be known whether there is more credit */
  #exhausted(delivered: Delivered, error?: WeirError): void {
    this.upstream?.cancel();
    this.finish({ kind: "exhausted", stream: this.stream, delivered, ...(error && { error }) });
  }

  #endOfError(): void {
    this.upstream?.cancel();
    this.refused(Buffer.from(this.#errorBody, "latin1"));
  }

  /** @param out the events of the last read: they are sent with those that end the stream, after the charge. */
  #answered(out: Buffer): void {
    const unsent = this.#clientGone ? NOTHING : Buffer.from(out);
    // An answer without content begins with its end.
    this.#begin();
    const call = this.#call;
    if (!this.#clientGone && call.firstSentMs === 0) call.firstSentMs = this.deps.clock.monotonic();
    this.over = true;
    // Data after [DONE] is ignored; most providers close the connection here anyway.
    if (!this.#ended) this.#finishConnection();
    this.finish({ kind: "streamed", stream: this.stream, unsent });
  }

  #reportFault(error: unknown): void {
    this.deps.onFault(error, this.#call.requestId);
  }

  /** Lets the connection end by itself, so that it can be reused; cancels it if it does not end within a second. */
  #finishConnection(): void {
    this.#closeTimer = setTimeout(() => this.upstream?.cancel(), 1000).unref();
    if (this.paused) this.upstream?.resume();
  }
}

const NOTHING = Buffer.alloc(0);

const TOO_LARGE = { code: "event_too_large", type: "", message: "" };
