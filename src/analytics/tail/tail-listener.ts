/**
 * One client of the tail: keeps what is for it until it is sent, at most once in its interval, and no more than it may wait
 * for.
 */
import type { Clock, Timers } from "../../base/clock.ts";
import { type EventSink, eventText } from "../../base/operation/event-stream.ts";
import { PacedClient } from "./paced-client.ts";
import { RowQueue } from "./row-queue.ts";
import type { TailRow } from "./tail-feed.ts";

export interface ListenerOptions {
  readonly events: EventSink;
  readonly accepts: (row: TailRow) => boolean;
  readonly intervalMs: number;
  /** Calls wait so long for others that were settled before them. */
  readonly settleMs: number;
  readonly clock: Clock;
  readonly timers: Timers;
}

export class TailListener {
  readonly rows: RowQueue;
  readonly client: PacedClient;

  constructor({ events, accepts, intervalMs, settleMs, clock, timers }: ListenerOptions) {
    this.rows = new RowQueue({ accepts, settleMs, clock, changed: () => this.client.arm() });
    this.client = new PacedClient({
      events,
      intervalMs,
      clock,
      timers,
      waiting: () => {
        const { dueMs, isFilling } = this.rows;
        return dueMs === undefined ? undefined : { dueMs, isUrgent: isFilling };
      },
      take: () => this.#take(),
    });
    this.client.onOver(() => this.rows.close());
  }

  #take(): string {
    const texts = this.rows.settled().map(({ text }) => text);
    const gap = this.rows.gap();
    if (gap !== undefined) texts.push(eventText(gap, { event: "gap" }));
    return texts.join("");
  }
}
