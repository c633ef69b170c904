/**
 * One client of the tail: keeps what is for it until it is sent, at most once in its interval, and no more than it may wait
 * for. What a client is too slow for is counted, and it is told how many calls it missed and where.
 */
import type { Clock, Timers } from "../../base/clock.ts";
import { type EventSink, eventText } from "../../base/operation/event-stream.ts";
import type { TailRow, Watcher } from "./tail-feed.ts";
import type { TailPosition } from "./tail-history.ts";

export interface ListenerOptions {
  readonly events: EventSink;
  readonly accepts: (row: TailRow) => boolean;
  readonly intervalMs: number;
  /** Calls wait so long for others that were settled before them. */
  readonly settleMs: number;
  readonly clock: Clock;
  readonly timers: Timers;
}

/** What waits for one client: what a stream of a thousand calls a second brings in a second, about 700 KB. */
const MAX_WAITING = 1000;

/** What was sent from ClickHouse may be handed on as news so long after. */
const SENT_MS = 60_000;

interface Waiting {
  readonly row: TailRow;
  /** Monotonic. */
  readonly sinceMs: number;
}

export class TailListener implements Watcher {
  readonly #options: ListenerOptions;
  /** In the order of their arrival. */
  #waiting: Waiting[] = [];
  /** Ids of calls that the client has been sent already, until a time. */
  #sent: ReadonlySet<string> = new Set();
  #sentUntilMs = 0;
  /** Calls up to this one are not for the client. */
  #start: TailPosition | undefined;
  #sentMs = Number.NEGATIVE_INFINITY;
  /** Nothing is sent yet. */
  #isHeld = true;
  #isBehind = false;
  #isOver = false;
  readonly #ended: (() => void)[] = [];
  /** The listener calls it once its client has read everything sent so far, or has disconnected. */
  #reading: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;
  #missed = 0;
  /** Ids of the first and the last call that it missed, where they are known. */
  #first = "";
  #last = "";

  constructor(options: ListenerOptions) {
    this.#options = options;
    options.events.onOver(() => {
      this.#isOver = true;
      this.#waiting = [];
      this.#cancelTimer?.();
      this.#reading?.();
      for (const listener of this.#ended.splice(0)) listener();
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Calls it once the client has left; at once if it has. */
  onOver(ended: () => void): void {
    if (this.#isOver) ended();
    else this.#ended.push(ended);
  }

  /** Calls it once the client has read what was sent, or has left. Only before {@link begin}. */
  onReady(ready: () => void): void {
    if (this.#isOver) {
      ready();
      return;
    }
    this.#reading = () => {
      this.#reading = undefined;
      ready();
    };
    this.#options.events.onReady(() => this.#reading?.());
  }

  /**
   * The client has had this call and all before it: none of them is sent, though the feed may still pass some of them on. Before
   * the listener watches.
   */
  startAfter(position: TailPosition): void {
    this.#start = position;
  }

  take(row: TailRow): void {
    if (this.#isOver || !this.#options.accepts(row) || !this.#isAfterStart(row)) return;
    const sinceMs = this.#options.clock.monotonic();
    if (this.#isSent(row, sinceMs)) return;
    // After a gap nothing is kept until it can be told: what comes later must not be sent before it.
    if (this.#missed > 0 || this.#waiting.length >= MAX_WAITING) {
      this.#missed += 1;
      this.#first ||= row.item.request_id;
      this.#last = row.item.request_id;
    } else this.#waiting.push({ row, sinceMs });
    this.#arm();
  }

  miss(count: number): void {
    this.#missed += count;
    this.#arm();
  }

  /** Begins to send. @param sent ids of calls that have been sent already */
  begin(sent: ReadonlySet<string> = new Set()): void {
    const nowMs = this.#options.clock.monotonic();
    this.#isHeld = false;
    this.#sent = sent;
    this.#sentUntilMs = nowMs + SENT_MS;
    this.#waiting = this.#waiting.filter(({ row }) => !this.#isSent(row, nowMs));
    this.#arm();
  }

  #isAfterStart({ settledAtUs, item }: TailRow): boolean {
    const start = this.#start;
    if (start === undefined || settledAtUs > start.settledAtUs) return true;
    return settledAtUs === start.settledAtUs && item.request_id > start.requestId;
  }

  #isSent(row: TailRow, nowMs: number): boolean {
    if (this.#sent.size > 0 && nowMs > this.#sentUntilMs) this.#sent = new Set();
    return this.#sent.has(row.item.request_id);
  }

  #arm(): void {
    if (this.#isHeld || this.#isBehind || (this.#waiting.length === 0 && this.#missed === 0)) return;
    // Before calls are lost they are sent, whatever the interval.
    if (this.#waiting.length >= MAX_WAITING / 2) this.#send();
    else if (this.#cancelTimer === undefined) {
      const { clock, timers, intervalMs, settleMs } = this.#options;
      const [oldest] = this.#waiting;
      const settledMs = oldest === undefined ? 0 : oldest.sinceMs + settleMs;
      const delayMs = Math.max(0, Math.max(this.#sentMs + intervalMs, settledMs) - clock.monotonic());
      this.#cancelTimer = timers.after(delayMs, () => this.#send());
    }
  }

  #send(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#isOver) return;
    const { events, clock } = this.#options;
    this.#sentMs = clock.monotonic();
    const texts = this.#settled().map(({ text }) => text);
    if (this.#missed > 0) texts.push(this.#gap());
    if (events.sendText(texts.join(""))) {
      this.#arm();
      return;
    }
    this.#isBehind = true;
    events.onReady(() => {
      this.#isBehind = false;
      this.#arm();
    });
  }

  /** Takes what has waited long enough, and what was settled before any of that; all of it where calls would be lost. */
  #settled(): TailRow[] {
    const { clock, settleMs } = this.#options;
    const isAll = settleMs === 0 || this.#missed > 0 || this.#waiting.length >= MAX_WAITING / 2;
    const waiting = this.#waiting;
    if (isAll) {
      this.#waiting = [];
    } else {
      const untilMs = clock.monotonic() - settleMs;
      const lastUs = waiting.reduce(
        (last, { row, sinceMs }) => (sinceMs <= untilMs ? Math.max(last, row.settledAtUs) : last),
        0,
      );
      this.#waiting = waiting.filter(({ row }) => row.settledAtUs > lastUs);
    }
    const left = new Set(this.#waiting);
    const rows = waiting.filter((one) => !left.has(one)).map(({ row }) => row);
    return settleMs === 0 ? rows : rows.sort((a, b) => a.settledAtUs - b.settledAtUs);
  }

  #gap(): string {
    const data = { missed: this.#missed, first: this.#first, last: this.#last };
    this.#missed = 0;
    this.#first = "";
    this.#last = "";
    return eventText(data, { event: "gap" });
  }
}
