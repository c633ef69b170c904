/**
 * One client of `GET /v1/live`: keeps what is for it until it is sent, all together at most once in an interval, and no more than may
 * wait. What the client is too slow for is counted, and it is told how much it missed.
 */
import type { Clock, Timers } from "../../base/clock.ts";
import { isoTime } from "../../base/clock.ts";
import { type EventSink, eventText } from "../../base/operation/event-stream.ts";
import type { Watcher } from "../tail/org-feed.ts";
import { PacedClient } from "../tail/paced-client.ts";
import { RowQueue } from "../tail/row-queue.ts";
import type { TailRow } from "../tail/tail-feed.ts";
import type { LiveMark } from "./live-mark.ts";
import { type LivePosition, positionText } from "./live-position.ts";
import type { Snapshot } from "./live-snapshot.ts";
import { type GapWire, type Hello, type Kind, type Running, runningWire } from "./live-wire.ts";
import type { OrgEvent } from "./org-events.ts";
import type { RunningCall } from "./running-call.ts";

export interface LiveListenerOptions {
  readonly events: EventSink;
  readonly acceptsRow: (row: TailRow) => boolean;
  readonly acceptsCall: (call: RunningCall) => boolean;
  readonly settleMs: number;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Where the client is. */
  readonly position: LivePosition;
  /** Takes a snapshot of the calls that run; undefined: none is shown to this client. */
  readonly snapshot: (() => Promise<Snapshot>) | undefined;
}

/** Everything is sent together, at most once in this time. */
const INTERVAL_MS = 200;
/** What waits for one client: begins and first contents, about 300 KB. */
const MAX_MARKS = 1000;
/** Org events that wait for one client: their number, and their characters. */
const MAX_EVENTS = 200;
const MAX_EVENT_LENGTH = 500_000;

export class LiveListener {
  /** Settled calls. */
  readonly rows: RowQueue;
  readonly client: PacedClient;
  /** Watches what is told of calls while they run. */
  readonly marks: Watcher<LiveMark> = {
    take: (mark) => this.#takeMark(mark),
    miss: (count) => this.#missMarks(count),
  };
  /** Watches calls that are settled. */
  readonly ends: Watcher<TailRow> = {
    take: (row) => this.#takeEnd(row),
    miss: (count) => this.rows.miss(count),
  };
  /** Watches events of the org. */
  readonly orgEvents: Watcher<OrgEvent> = {
    take: (event) => this.#takeEvent(event),
    miss: (count) => this.#missEvents(count),
  };
  readonly #options: LiveListenerOptions;
  #position: LivePosition;
  #running: string | undefined;
  #marks: LiveMark[] = [];
  #missedMarks = 0;
  #events: OrgEvent[] = [];
  #eventLength = 0;
  #missedEvents = 0;
  #credit: string | undefined;
  /** Calls may have been missed, and how many is not known. */
  #hasUnknownGap = false;
  /** Ids of calls that ended since the snapshot under way was begun. */
  #endedMeanwhile: Set<string> | undefined;
  #needsSnapshot = false;
  /** Ids of calls whose ends were sent from ClickHouse: what is told of their beginning comes too late. */
  #past: ReadonlySet<string> = new Set();

  constructor(options: LiveListenerOptions) {
    this.#options = options;
    this.#position = options.position;
    const { events, acceptsRow, settleMs, clock, timers } = options;
    this.rows = new RowQueue({ accepts: acceptsRow, settleMs, clock, changed: () => this.client.arm() });
    this.client = new PacedClient({
      events,
      intervalMs: INTERVAL_MS,
      clock,
      timers,
      waiting: () => this.#waiting(),
      take: () => this.#take(),
    });
    this.client.onOver(() => this.#close());
  }

  /** Says at once where the stream begins, and what it has. */
  greet(kinds: readonly Kind[]): void {
    const position = positionText(this.#position);
    const hello: Hello = { position, kinds: [...kinds], at: isoTime(this.#options.clock.now()) };
    this.#options.events.send(hello, { event: "hello", id: position });
  }

  /** What the org's credit is now, as an event; one that was not sent yet gives way to it. */
  setCredit(event: string): void {
    if (this.client.isOver) return;
    this.#credit = event;
    this.client.arm();
  }

  /** Calls ended while the client was away that it is not sent. */
  missUnknown(): void {
    this.#hasUnknownGap = true;
    this.client.arm();
  }

  /** @param past ids of calls whose ends are sent from ClickHouse, which it is told of while they are read */
  resume(past: ReadonlySet<string>): void {
    this.#past = past;
  }

  /** The events of ended calls that are read from ClickHouse, behind what is to be told of them while they ran. */
  pastText(rows: readonly TailRow[]): string {
    return this.#takeRunning() + rows.map((row) => this.#endText(row)).join("");
  }

  /** Sends the calls that run now. Where a snapshot is under way, another one follows it. */
  async snapshot(): Promise<void> {
    const { snapshot } = this.#options;
    if (snapshot === undefined) return;
    this.#needsSnapshot = true;
    if (this.#endedMeanwhile !== undefined) return;
    while (this.#needsSnapshot && !this.client.isOver) {
      this.#needsSnapshot = false;
      const ended = new Set<string>();
      this.#endedMeanwhile = ended;
      try {
        this.#setRunning(await snapshot(), ended);
      } finally {
        this.#endedMeanwhile = undefined;
      }
    }
  }

  #setRunning({ count, calls }: Snapshot, ended: ReadonlySet<string>): void {
    if (this.client.isOver) return;
    const left = calls.filter(({ requestId }) => !ended.has(requestId) && !this.#past.has(requestId));
    const running: Running = { count: count - (calls.length - left.length), calls: left.map(runningWire) };
    this.#running = eventText(running, { event: "running" });
    this.client.arm();
  }

  #takeMark(mark: LiveMark): void {
    const { call } = mark;
    if (this.client.isOver || !this.#options.acceptsCall(call) || this.#past.has(call.requestId)) return;
    // After a gap nothing is kept until it can be told.
    if (this.#missedMarks > 0 || this.#marks.length >= MAX_MARKS) this.#missedMarks += 1;
    else this.#marks.push(mark);
    this.client.arm();
  }

  #missMarks(count: number): void {
    this.#missedMarks += count;
    this.client.arm();
  }

  #takeEnd(row: TailRow): void {
    this.#endedMeanwhile?.add(row.item.request_id);
    this.rows.take(row);
  }

  #takeEvent(event: OrgEvent): void {
    if (this.client.isOver) return;
    const { length } = event.json;
    const isFull = this.#events.length >= MAX_EVENTS || this.#eventLength + length > MAX_EVENT_LENGTH;
    if (this.#missedEvents > 0 || isFull) this.#missedEvents += 1;
    else {
      this.#events.push(event);
      this.#eventLength += length;
    }
    this.client.arm();
  }

  #missEvents(count: number): void {
    this.#missedEvents += count;
    this.client.arm();
  }

  #close(): void {
    this.rows.close();
    this.#marks = [];
    this.#events = [];
    this.#running = undefined;
    this.#credit = undefined;
  }

  #waiting(): { readonly dueMs: number; readonly isUrgent: boolean } | undefined {
    const { dueMs, isFilling } = this.rows;
    const isUrgent = isFilling || this.#marks.length >= MAX_MARKS / 2;
    const isAny =
      this.#marks.length + this.#missedMarks + this.#events.length + this.#missedEvents > 0 ||
      this.#running !== undefined ||
      this.#credit !== undefined ||
      this.#hasUnknownGap;
    if (isAny) return { dueMs: 0, isUrgent };
    return dueMs === undefined ? undefined : { dueMs, isUrgent };
  }

  #take(): string {
    const credit = this.#credit ?? "";
    this.#credit = undefined;
    const ends = this.rows.settled().map((row) => this.#endText(row));
    return this.#takeRunning() + ends.join("") + this.#takeEvents() + credit + this.#takeGap();
  }

  /** The snapshot, if there is one, and what came of calls since. */
  #takeRunning(): string {
    const marks = this.#marks;
    const running = this.#running ?? "";
    this.#marks = [];
    this.#running = undefined;
    return running + marks.map(({ text }) => text).join("");
  }

  #takeEvents(): string {
    const events = this.#events;
    this.#events = [];
    this.#eventLength = 0;
    return events.map(({ id, json }) => this.#eventText(id, json)).join("");
  }

  #endText({ item, settledAtUs, json }: TailRow): string {
    this.#endedMeanwhile?.add(item.request_id);
    this.#position = { ...this.#position, call: { settledAtUs, requestId: item.request_id } };
    return `event: call.ended\nid: ${positionText(this.#position)}\ndata: ${json}\n\n`;
  }

  #eventText(id: string, json: string): string {
    // Another cell's event may come behind a later one of this cell.
    if (id > this.#position.eventId) this.#position = { ...this.#position, eventId: id };
    return `event: event\nid: ${positionText(this.#position)}\ndata: ${json}\n\n`;
  }

  #takeGap(): string {
    const ended = this.rows.gap()?.missed ?? 0;
    const [started, events, isUnknown] = [this.#missedMarks, this.#missedEvents, this.#hasUnknownGap];
    const missed = started + ended + events;
    if (missed === 0 && !isUnknown) return "";
    this.#missedMarks = 0;
    this.#missedEvents = 0;
    this.#hasUnknownGap = false;
    // Calls whose beginning or end was missed are put right by what runs now.
    if (started + ended > 0 || isUnknown) void this.snapshot();
    const gap: GapWire = { missed: isUnknown ? null : missed, started, ended, events };
    return eventText(gap, { event: "gap" });
  }
}
