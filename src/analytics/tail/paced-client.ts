/** One client of a stream: what waits for it leaves together, at most once in an interval, and not before it has read what was sent. */
import type { Clock, Timers } from "../../base/clock.ts";
import type { EventSink } from "../../base/operation/event-stream.ts";

export interface PacedClientOptions {
  readonly events: EventSink;
  readonly intervalMs: number;
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers: Timers;
  /** What waits: when it is due, monotonic, and whether it leaves whatever the interval; undefined: nothing. */
  readonly waiting: () => { readonly dueMs: number; readonly isUrgent: boolean } | undefined;
  /** Takes what waits and is due, as events. May be empty. */
  readonly take: () => string;
}

export class PacedClient {
  readonly #options: PacedClientOptions;
  #sentMs = Number.NEGATIVE_INFINITY;
  #isBehind = false;
  #isOver = false;
  readonly #ended: (() => void)[] = [];
  /** Called once the client has read everything sent so far, or has left. */
  #reading: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(options: PacedClientOptions) {
    this.#options = options;
    options.events.onOver(() => {
      this.#isOver = true;
      this.#cancelTimer?.();
      this.#reading?.();
      for (const ended of this.#ended.splice(0)) ended();
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

  /** Sends whatever the interval, one call at a time. Resolves once the client has read what was sent, or has left. */
  async sendNow(text: () => string): Promise<void> {
    await this.#hasRead();
    if (this.#isOver) return;
    this.#send(text());
    await this.#hasRead();
  }

  async #hasRead(): Promise<void> {
    if (!this.#isBehind || this.#isOver) return;
    await new Promise<void>((read) => {
      this.#reading = read;
    });
  }

  /** Something may wait now. */
  arm(): void {
    if (this.#isBehind || this.#isOver) return;
    const waiting = this.#options.waiting();
    if (waiting === undefined) return;
    if (waiting.isUrgent) this.#sendDue();
    else if (this.#cancelTimer === undefined) {
      const { clock, timers, intervalMs } = this.#options;
      const dueMs = Math.max(this.#sentMs + intervalMs, waiting.dueMs);
      this.#cancelTimer = timers.after(Math.max(0, dueMs - clock.monotonic()), () => this.#sendDue());
    }
  }

  #sendDue(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#isOver) return;
    this.#sentMs = this.#options.clock.monotonic();
    this.#send(this.#options.take());
    this.arm();
  }

  #send(text: string): void {
    const { events } = this.#options;
    if (text === "" || events.sendText(text)) return;
    this.#isBehind = true;
    events.onReady(() => {
      this.#isBehind = false;
      const reading = this.#reading;
      this.#reading = undefined;
      reading?.();
      this.arm();
    });
  }
}
