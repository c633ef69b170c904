/**
 * One client of the tail: keeps what is for it until it is sent, at most once in its interval, and no more than it may wait
 * for. What a client is too slow for is counted, and it is told how many calls it missed and where.
 */
import type { Clock, Timers } from "../clock.ts";
import { type EventSink, eventText } from "../event-stream.ts";
import type { TailRow, Watcher } from "./tail-feed.ts";

export interface ListenerOptions {
  readonly events: EventSink;
  readonly accepts: (row: TailRow) => boolean;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly timers: Timers;
}

/** What waits for one client: what a stream of a thousand calls a second brings in a second, about 700 KB. */
const MAX_WAITING = 1000;

export class TailListener implements Watcher {
  readonly #options: ListenerOptions;
  #waiting: TailRow[] = [];
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

  take(row: TailRow): void {
    if (this.#isOver || !this.#options.accepts(row)) return;
    // After a gap nothing is kept until it can be told: what comes later must not be sent before it.
    if (this.#missed > 0 || this.#waiting.length >= MAX_WAITING) {
      this.#missed += 1;
      this.#first ||= row.item.request_id;
      this.#last = row.item.request_id;
    } else this.#waiting.push(row);
    this.#arm();
  }

  miss(count: number): void {
    this.#missed += count;
    this.#arm();
  }

  /** Begins to send; rows up to this one have been sent already. */
  begin(sent?: Pick<TailRow, "settledAtUs">): void {
    this.#isHeld = false;
    const afterUs = sent?.settledAtUs ?? 0;
    this.#waiting = this.#waiting.filter(({ settledAtUs }) => settledAtUs > afterUs);
    this.#arm();
  }

  #arm(): void {
    if (this.#isHeld || this.#isBehind || (this.#waiting.length === 0 && this.#missed === 0)) return;
    // Before calls are lost they are sent, whatever the interval.
    if (this.#waiting.length >= MAX_WAITING / 2) this.#send();
    else if (this.#cancelTimer === undefined) {
      const { clock, timers, intervalMs } = this.#options;
      const delayMs = Math.max(0, this.#sentMs + intervalMs - clock.monotonic());
      this.#cancelTimer = timers.after(delayMs, () => this.#send());
    }
  }

  #send(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#isOver) return;
    const { events, clock } = this.#options;
    this.#sentMs = clock.monotonic();
    const texts = this.#waiting.map(({ text }) => text);
    this.#waiting = [];
    if (this.#missed > 0) texts.push(this.#gap());
    if (events.sendText(texts.join(""))) return;
    this.#isBehind = true;
    events.onReady(() => {
      this.#isBehind = false;
      this.#arm();
    });
  }

  #gap(): string {
    const data = { missed: this.#missed, first: this.#first, last: this.#last };
    this.#missed = 0;
    this.#first = "";
    this.#last = "";
    return eventText(data, { event: "gap" });
  }
}
