/**
 * The client of a detached call: whatever the call says goes into its log, and from there to the client that made it, as long as that
 * client is there and as fast as it reads. The call itself never waits, and never hears that the client has left.
 */
import type { Clock } from "../../../base/clock.ts";
import { type ClientReply, isFiller } from "../../client-reply.ts";
import type { CallLog, LoggedCall, WholeBody } from "./call-log.ts";
import { type EventLog, type Part, piecesOf } from "./event-log.ts";
import { LogReader } from "./log-reader.ts";
import { ReplyBody } from "./reply-body.ts";

/** Hears what happens to a log. */
export interface LogKeeper {
  /** There is more to store. */
  grew(reply: DetachedReply): void;
  /** The call has ended, and all of its log was given to the store. */
  ended(reply: DetachedReply): void;
}

/** What is stored of the end of a call, in the commit that settles it. */
export interface LogEnd {
  /** All events that are not stored yet, the last ones among them. */
  readonly parts: readonly Part[];
  /** Number of events; 0 for a whole answer. */
  readonly end: number;
  /** Status of a whole answer. */
  readonly status: number | undefined;
}

export class DetachedReply implements ClientReply, CallLog {
  readonly call: LoggedCall;
  readonly events: EventLog;
  readonly brokenOff = undefined;
  endedMs = 0;
  /** The call was cancelled: what its upstream still says is not told. */
  gone = false;
  readonly #keeper: LogKeeper;
  readonly #clock: Clock;
  /** The client that made the call, while it is there. */
  #client: ClientReply | undefined;
  /** It reads the log like others, once its stream is open. */
  #reader: LogReader | undefined;
  /** Opens its stream, once the beginning of the call is kept. */
  #opening: (() => void) | undefined;
  #filler = "";
  #onGone: (() => void) | undefined;
  /** Events that are in the store already, and leave with the end. */
  #last: Part | undefined;
  #whole: WholeBody | undefined;
  #isWithdrawn = false;

  /** @param client leaves whenever it wants */
  constructor(call: LoggedCall, events: EventLog, client: ClientReply, keeper: LogKeeper, clock: Clock) {
    this.call = call;
    this.events = events;
    this.#keeper = keeper;
    this.#clock = clock;
    this.#client = client;
    client.onGone(() => this.#clientIsDone());
  }

  whole(): WholeBody | undefined {
    return this.#whole;
  }

  /** Bytes of the events and of the whole answer that are kept. */
  get bytes(): number {
    return this.events.bytes + (this.#whole?.body.length ?? 0);
  }

  /** What it was told at its end is not what the store has. */
  get isWithdrawn(): boolean {
    return this.#isWithdrawn;
  }

  /** Whole answers of ended calls are read from the store. */
  leaveMemory(): void {
    this.#whole = undefined;
    this.events.leaveMemory();
  }

  cancel(): void {
    if (this.gone || this.endedMs > 0) return;
    this.gone = true;
    this.#onGone?.();
  }

  /**
   * The last the call says, before it is said: it is stored in the commit that settles the call, and told behind it.
   * @param last events without numbers, or the whole answer
   */
  ending(last: Buffer, status: number): LogEnd {
    const unstored = this.events.unstored();
    if (!this.call.isStream) {
      this.#whole = { status, body: last };
      return { parts: [{ first: 0, end: 0, bytes: last }], end: 0, status };
    }
    this.#last ??= this.events.number(last);
    const parts = [...unstored, ...piecesOf(this.#last)].filter(({ bytes }) => bytes.length > 0);
    return { parts, end: this.#last.end, status: undefined };
  }

  /** Until `kept`, nothing is told: who knows of a call finds it, whatever happens to the process. */
  hold(): void {
    this.events.hold();
  }

  /** The beginning of the call is in the store, or will not be. */
  kept(): void {
    if (!this.events.isHeld) return;
    const opening = this.#opening;
    this.#opening = undefined;
    this.events.release();
    opening?.();
  }

  /** The client that made the call has its answer otherwise: what the call says is for readers of the log alone. */
  dismiss(tell: (client: ClientReply) => void): void {
    const client = this.#client;
    this.#client = undefined;
    this.#reader?.leave();
    if (client !== undefined && this.endedMs === 0) tell(client);
  }

  // -- what the call says --

  openStream(headers: string, filler: string): void {
    this.#filler = filler;
    if (this.events.isHeld) this.#opening = () => this.#open(headers, filler);
    else this.#open(headers, filler);
  }

  #open(headers: string, filler: string): void {
    const client = this.#client;
    if (client === undefined) return;
    client.openStream(headers, filler);
    const options = { clock: this.#clock, filler, keepAliveMs: 0 };
    const done = () => this.#clientIsDone();
    this.#reader = new LogReader(this, 0, new ReplyBody(client, { resolve: done, reject: done }), options);
    this.#reader.begin();
  }

  write(chunk: Buffer): boolean {
    if (this.gone || this.endedMs > 0) return true;
    if (isFiller(chunk, this.#filler)) {
      this.#reader?.fill();
      return true;
    }
    const part = this.events.number(chunk);
    this.events.append(part);
    this.#keeper.grew(this);
    return true;
  }

  /** @param chunk has no numbers; as `ending` was given it, where it was called */
  end(chunk?: Buffer): void {
    if (this.endedMs > 0) return;
    const isStored = this.#last !== undefined;
    const part = this.#last ?? (chunk === undefined ? undefined : this.events.number(chunk));
    if (part !== undefined) this.events.append(part, isStored);
    this.#over();
  }

  /** What `ending` was given could not be stored in time: it is not told, and what is told in its place is in memory alone. */
  withdrawEnding(): void {
    if (this.endedMs > 0) return;
    if (this.#last !== undefined) this.events.takeBack(this.#last);
    this.#last = this.#whole = undefined;
    this.#isWithdrawn = true;
  }

  send(status: number, headers: string, body: Buffer | string): void {
    this.#answer(status, body, (client) => client.send(status, headers, body));
  }

  sendJson(status: number, headers: string, body: Buffer | string): void {
    this.#answer(status, body, (client) => client.sendJson(status, headers, body));
  }

  /** @param body of a stream's call: an error before the first event, which readers are told as an event */
  #answer(status: number, body: Buffer | string, tell: (client: ClientReply) => void): void {
    if (this.endedMs > 0) return;
    if (this.#last !== undefined) this.events.append(this.#last, true);
    else if (!this.call.isStream) this.#whole ??= { status, body: Buffer.from(body) };
    this.#over();
    if (this.#client !== undefined) tell(this.#client);
  }

  abort(): void {
    if (this.endedMs > 0) return;
    this.#opening = undefined;
    this.#reader?.leave();
    this.#over();
    this.#client?.abort();
  }

  #over(): void {
    // Its end is told, whether the store could take its beginning or not.
    this.kept();
    this.endedMs = this.#clock.now();
    this.events.end();
    this.#onGone = undefined;
    this.#keeper.ended(this);
  }

  /** It has all, or has left: nothing of its connection is kept with the log. */
  #clientIsDone(): void {
    this.#client = this.#reader = undefined;
  }

  onDrain(): void {}

  onGone(gone: () => void): void {
    if (this.gone) gone();
    else this.#onGone = gone;
  }
}
