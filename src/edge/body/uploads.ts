/**
 * Reads request bodies, once and bounded. A body beyond its limit is drained, so that its client can read the 413. A
 * body that arrives too slowly is answered with 408: uWebSockets.js itself would close the connection without an
 * answer.
 */
import type { HttpResponse } from "uWebSockets.js";
import type { Clock } from "../../base/clock.ts";
import { asWeirError, fail, WeirError } from "../../base/errors.ts";
import type { SocketReply } from "../reply.ts";
import type { RequestHead } from "../request.ts";
import { type BodyBudget, BodyShare } from "./body-budget.ts";
import { BodyBuffer, tooLarge } from "./body-buffer.ts";
import { type Coding, codingsOf } from "./codings.ts";
import { decode } from "./decode.ts";
import { DecodeQueue } from "./decode-queue.ts";

export interface UploadPace {
  /** Interval between progress checks of an upload, in milliseconds. */
  readonly windowMs: number;
  /** Bytes that must arrive per interval, unless fewer remain. */
  readonly minBytes: number;
}

/** The body and its share of the budget, held until the request is over; or why it was not read. */
export type Uploaded = { readonly body: Buffer; readonly share: BodyShare } | WeirError;

/** uWebSockets.js closes a connection 10 s after its timeout was last renewed, minus up to 4 s of timer granularity. */
const HOLD_MS = 4000;

/**
 * Body bytes copied per turn of the event loop, about five milliseconds. Beyond that, uploads are paused: what else has
 * arrived stays in the kernel until later turns, so that five hundred uploads do not delay all other calls.
 */
const TURN_BYTES = 2 * 1024 * 1024;
/** Uploads resumed per turn, longest paused first. uWebSockets.js reads up to 512 KiB of each. */
const GO_ON = 8;

export class Uploads {
  readonly #budget: BodyBudget;
  readonly #pace: UploadPace;
  readonly #clock: Clock;
  readonly #decoding = new DecodeQueue();
  /** Uploads that did not arrive completely with their head. */
  readonly #slow = new Set<Upload>();
  /** Paused uploads, in the order in which they resume. */
  readonly #resting = new Set<Upload>();
  /** Uploads that arrived completely while they were paused: resuming has given their connections a timeout, which their calls may outlast. */
  readonly #resumed = new Set<Upload>();
  /** Body bytes read in this turn of the event loop. */
  #turnBytes = 0;
  /** The start of the next turn is scheduled. */
  #isTurnAsked = false;
  readonly #timer: NodeJS.Timeout;
  /** One for all uploads. */
  readonly #host: UploadHost = {
    slow: (upload) => {
      upload.nextLookMs = this.#clock.monotonic() + this.#pace.windowMs;
      this.#slow.add(upload);
    },
    taken: (upload, bytes) => this.#taken(upload, bytes),
    ended: (upload) => {
      this.#slow.delete(upload);
      // The rest of a refused body is read too, so that the client can read the answer.
      if (this.#resting.delete(upload)) this.#resume(upload);
    },
    left: (upload) => {
      this.#slow.delete(upload);
      this.#resting.delete(upload);
    },
  };

  constructor(budget: BodyBudget, pace: UploadPace, clock: Clock) {
    this.#budget = budget;
    this.#pace = pace;
    this.#clock = clock;
    this.#timer = setInterval(() => this.#look(), Math.min(HOLD_MS, pace.windowMs / 4)).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /**
   * Calls `done` once, except where the client has disconnected: the memory is then returned to the budget.
   * @returns what refuses a body that is still arriving: `done` gets the error; without effect later
   */
  read(
    res: HttpResponse,
    reply: SocketReply,
    head: RequestHead,
    orgId: string,
    maxBytes: number,
    done: (uploaded: Uploaded) => void,
  ): { refuse(error: WeirError): void } {
    const upload = new Upload(
      this.#host,
      this.#decoding,
      res,
      reply,
      new BodyShare(this.#budget, orgId),
      done,
    );
    upload.start(head, maxBytes);
    return upload;
  }

  #taken(upload: Upload, bytes: number): void {
    const before = this.#turnBytes;
    this.#turnBytes += bytes;
    this.#askForTurn();
    if (this.#turnBytes < TURN_BYTES) return;
    // On reaching the limit all are paused, including those that uWebSockets.js has not read yet in this turn.
    if (before < TURN_BYTES) for (const slow of this.#slow) this.#rest(slow);
    else if (this.#slow.has(upload)) this.#rest(upload);
  }

  #rest(upload: Upload): void {
    if (upload.isWhole || this.#resting.has(upload)) return;
    this.#resting.add(upload);
    upload.restsSinceMs = this.#clock.monotonic();
    upload.rest();
  }

  #resume(upload: Upload): void {
    upload.goOn();
    if (upload.isWhole) this.#resumed.add(upload);
  }

  #askForTurn(): void {
    if (this.#isTurnAsked) return;
    this.#isTurnAsked = true;
    setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#isTurnAsked = false;
    this.#turnBytes = 0;
    const nowMs = this.#clock.monotonic();
    let places = GO_ON;
    for (const upload of this.#resting) {
      if (places-- === 0) break;
      this.#resting.delete(upload);
      // A paused client could not send.
      upload.nextLookMs += nowMs - upload.restsSinceMs;
      this.#resume(upload);
    }
    if (this.#resting.size > 0) this.#askForTurn();
  }

  #look(): void {
    const nowMs = this.#clock.monotonic();
    for (const upload of this.#resumed) {
      if (upload.isAnswered) this.#resumed.delete(upload);
      else upload.hold();
    }
    for (const upload of this.#slow) {
      if (this.#resting.has(upload)) continue;
      // From then on the connection's timeout is off, and must stay off.
      if (upload.isWhole) this.#slow.delete(upload);
      else if (nowMs < upload.nextLookMs) upload.hold();
      else if (upload.arrived() >= this.#pace.minBytes) {
        upload.nextLookMs = nowMs + this.#pace.windowMs;
        upload.hold();
      } else upload.refuse(tooSlow(this.#pace));
    }
  }
}

/** Told of each upload. */
interface UploadHost {
  /** The body did not arrive at once. */
  slow(upload: Upload): void;
  /** Bytes arrived, and more are expected. */
  taken(upload: Upload, bytes: number): void;
  /** The body is read, or refused. */
  ended(upload: Upload): void;
  /** The client has disconnected. */
  left(upload: Upload): void;
}

/** One body. It has no function of its own but those that its connection calls, since every call makes one. */
class Upload {
  nextLookMs = 0;
  /** When it was last paused. */
  restsSinceMs = 0;
  /** All bytes have arrived; they may still be decompressed. */
  isWhole = false;
  readonly #host: UploadHost;
  readonly #decoding: DecodeQueue;
  readonly #res: HttpResponse;
  readonly #reply: SocketReply;
  readonly #share: BodyShare;
  readonly #done: (uploaded: Uploaded) => void;
  #maxBytes = 0;
  #encoding = "";
  #isSlow = false;
  #gathering: BodyBuffer | undefined;
  /** Stops a decompression that runs, or waits. */
  #stopDecoding: (() => void) | undefined;
  /** Bytes at the last progress check. */
  #before = 0;
  #over = false;

  constructor(
    host: UploadHost,
    decoding: DecodeQueue,
    res: HttpResponse,
    reply: SocketReply,
    share: BodyShare,
    done: (uploaded: Uploaded) => void,
  ) {
    this.#host = host;
    this.#decoding = decoding;
    this.#res = res;
    this.#reply = reply;
    this.#share = share;
    this.#done = done;
  }

  /** The answer was sent, or the client has left: the connection may not be touched any more. */
  get isAnswered(): boolean {
    return this.#reply.closed;
  }

  start({ contentLength, contentEncoding, isChunked }: RequestHead, maxBytes: number): void {
    this.#maxBytes = maxBytes;
    this.#encoding = contentEncoding;
    this.#reply.onGone(() => this.#leave());
    if (isChunked) this.#tellSlow();
    this.#res.onData((piece, isLast) => this.#arrive(piece, isLast));
    // Only after `onData`: the answer ends the response, which must not be used from then on.
    if (contentLength > maxBytes) this.refuse(tooLarge(maxBytes));
    else this.#begin(contentLength);
  }

  #tellSlow(): void {
    this.#isSlow = true;
    this.#host.slow(this);
  }

  #arrive(piece: ArrayBuffer, isLast: boolean): void {
    if (this.#over) return;
    const bytes = piece.byteLength;
    this.#take(piece);
    if (isLast) this.#end();
    else if (!this.#isSlow && !this.#over) this.#tellSlow();
    if (!isLast) this.#host.taken(this, bytes);
  }

  /** Bytes since the last call. */
  arrived(): number {
    const filled = this.#gathering?.filled ?? 0;
    const arrived = filled - this.#before;
    this.#before = filled;
    return arrived;
  }

  /** Renews the connection's timeout and changes nothing else. */
  hold(): void {
    this.rest();
    this.goOn();
  }

  /** Pauses reading; the connection has no timeout until `goOn`. */
  rest(): void {
    this.#res.pause();
  }

  goOn(): void {
    this.#res.resume();
  }

  refuse(error: WeirError): void {
    if (this.#over) return;
    this.#over = true;
    this.#gathering = undefined;
    this.#stopDecoding?.();
    this.#give(error);
  }

  /** The client has disconnected. A body already handed over is released by its receiver. */
  #leave(): void {
    this.#host.left(this);
    if (this.#over) return;
    this.#over = true;
    this.#gathering = undefined;
    this.#stopDecoding?.();
    this.#share.release();
  }

  #begin(announced: number): void {
    try {
      this.#gathering = new BodyBuffer(announced, this.#maxBytes, this.#share);
    } catch (error) {
      this.refuse(asWeirError(error));
    }
  }

  #take(piece: ArrayBuffer): void {
    try {
      if (this.#gathering?.add(new Uint8Array(piece)) === false) this.refuse(tooLarge(this.#maxBytes));
    } catch (error) {
      this.refuse(asWeirError(error));
    }
  }

  #end(): void {
    const encoding = this.#encoding;
    const body = this.#gathering?.whole();
    if (body === undefined) return;
    this.isWhole = true;
    // Where nothing was sent nothing was encoded.
    if (encoding === "" || body.length === 0) {
      this.#finish(body);
      return;
    }
    const codings = codingsOf(encoding);
    if (codings instanceof WeirError) this.#finish(codings);
    else if (codings.length === 0) this.#finish(body);
    else this.#decode(body, codings);
  }

  #decode(body: Buffer, codings: readonly Coding[]): void {
    try {
      this.#stopDecoding = this.#decoding.add(this.#share.orgId, (over) =>
        decode(body, codings, this.#share, this.#maxBytes, (decoded) => {
          over();
          this.#finish(decoded);
        }),
      );
    } catch (error) {
      this.#finish(asWeirError(error));
    }
  }

  #finish(result: Buffer | WeirError): void {
    this.#over = true;
    this.#gathering = undefined;
    this.#give(result);
  }

  #give(result: Buffer | WeirError): void {
    this.#host.ended(this);
    if (this.isWhole && this.#reply.afterwards === "drain") this.#reply.afterwards = "close";
    if (Buffer.isBuffer(result)) this.#done({ body: result, share: this.#share });
    else {
      this.#share.release();
      this.#done(result);
    }
  }
}

const tooSlow = ({ minBytes, windowMs }: UploadPace): WeirError =>
  fail("request_timeout", `The body arrives too slowly: fewer than ${minBytes} bytes in ${windowMs} ms.`);
