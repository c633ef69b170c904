/**
 * The call log of the simulator: its newest calls (10,000 by default), each with what the gateway sent and how the call ended. Memory is bounded: the
 * total size of stored bodies has a limit; older ones are dropped, their size stays known.
 */
import type { RequestHead } from "./request.ts";

export interface SimulatedCall {
  readonly method: string;
  /** Path and query as sent. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The request body as received; emptied once newer bodies fill {@link SimulatorOptions.keepBodyBytes}. */
  readonly body: Buffer;
  readonly bodyBytes: number;
  /** When the request had arrived completely, milliseconds since 1970. */
  readonly startedAt: number;
  /** Bytes of the reply, head and framing included, handed to the socket so far. */
  readonly bytesWritten: number;
  /** The reply is over, in whatever way. */
  readonly ended: boolean;
  /** The client disconnected before the reply was over. */
  readonly closedByPeer: boolean;
}

const NO_BODY = Buffer.alloc(0);

/** The mutable side of {@link SimulatedCall}, for the connection that serves it. */
export class CallRecord implements SimulatedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBytes: number;
  readonly startedAt: number;
  body: Buffer;
  bytesWritten = 0;
  ended = false;
  closedByPeer = false;

  constructor(head: RequestHead, body: Buffer, startedAt: number) {
    this.method = head.method;
    this.path = head.target;
    this.headers = head.headers;
    this.body = body;
    this.bodyBytes = body.length;
    this.startedAt = startedAt;
  }
}

const KEEP_CALLS = 10_000;

export class CallLog {
  #calls: CallRecord[] = [];
  /** Index in {@link #calls} of the oldest call whose body is kept. */
  #oldestBody = 0;
  #bodyBytes = 0;
  readonly #maxBodyBytes: number;
  readonly #keepCalls: number;
  total = 0;
  open = 0;

  constructor(maxBodyBytes: number, keepCalls = KEEP_CALLS) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#keepCalls = keepCalls;
  }

  add(call: CallRecord): void {
    this.total++;
    this.open++;
    if (this.#keepCalls === 0) return;
    this.#calls.push(call);
    this.#bodyBytes += call.bodyBytes;
    while (this.#bodyBytes > this.#maxBodyBytes) this.#dropBody();
    // Trimmed by half at a time, so that the cost per call does not depend on the log's length.
    if (this.#calls.length >= 2 * this.#keepCalls) this.#trim();
  }

  end(call: CallRecord, closedByPeer: boolean): void {
    if (call.ended) return;
    call.ended = true;
    call.closedByPeer = closedByPeer;
    this.open--;
  }

  /** Oldest first. */
  last(): readonly SimulatedCall[] {
    return this.#keepCalls === 0 ? [] : this.#calls.slice(-this.#keepCalls);
  }

  #dropBody(): void {
    const call = this.#calls[this.#oldestBody++] as CallRecord;
    this.#bodyBytes -= call.bodyBytes;
    call.body = NO_BODY;
  }

  #trim(): void {
    const cut = this.#calls.length - this.#keepCalls;
    while (this.#oldestBody < cut) this.#dropBody();
    this.#calls = this.#calls.slice(cut);
    this.#oldestBody -= cut;
  }
}
