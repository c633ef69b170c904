/**
 * Settled calls that wait for one client, no more than may wait. What a client is too slow for is counted, and it is told how many
 * calls it missed and where.
 */
import type { Clock } from "../../base/clock.ts";
import type { Watcher } from "./org-feed.ts";
import type { TailRow } from "./tail-feed.ts";
import type { TailPosition } from "./tail-history.ts";

export interface RowQueueOptions {
  readonly accepts: (row: TailRow) => boolean;
  /** Calls wait so long for others that were settled before them. */
  readonly settleMs: number;
  readonly clock: Pick<Clock, "monotonic">;
  /** Called where something waits that did not before. */
  readonly changed: () => void;
}

/** What was missed: how many calls, and the ids of the first and the last, where they are known. */
export interface Gap {
  readonly missed: number;
  readonly first: string;
  readonly last: string;
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

export class RowQueue implements Watcher<TailRow> {
  readonly #options: RowQueueOptions;
  /** In the order of their arrival. */
  #waiting: Waiting[] = [];
  /** Ids of calls that the client has been sent already, until a time. */
  #sent: ReadonlySet<string> = new Set();
  #sentUntilMs = Number.POSITIVE_INFINITY;
  /** Calls up to this one are not for the client. */
  #start: TailPosition | undefined;
  /** Nothing is taken yet. */
  #isHeld = true;
  #isClosed = false;
  #missed = 0;
  #first = "";
  #last = "";

  constructor(options: RowQueueOptions) {
    this.#options = options;
  }

  /**
   * The client has had this call and all before it: none of them is kept, though the feed may still pass some of them on. Before
   * the queue watches.
   */
  startAfter(position: TailPosition): void {
    this.#start = position;
  }

  take(row: TailRow): void {
    if (this.#isClosed || !this.#options.accepts(row) || !this.#isAfterStart(row)) return;
    const sinceMs = this.#options.clock.monotonic();
    if (this.#isSent(row, sinceMs)) return;
    // After a gap nothing is kept until it can be told: what comes later must not be sent before it.
    if (this.#missed > 0 || this.#waiting.length >= MAX_WAITING) {
      this.#missed += 1;
      this.#first ||= row.item.request_id;
      this.#last = row.item.request_id;
    } else this.#waiting.push({ row, sinceMs });
    this.#options.changed();
  }

  miss(count: number): void {
    if (this.#isClosed) return;
    this.#missed += count;
    this.#options.changed();
  }

  /** Calls may be taken from now on. @param sent ids of calls that have been sent already */
  begin(sent: ReadonlySet<string> = new Set()): void {
    const nowMs = this.#options.clock.monotonic();
    this.#isHeld = false;
    this.#sent = sent;
    this.#sentUntilMs = nowMs + SENT_MS;
    this.#waiting = this.#waiting.filter(({ row }) => !this.#isSent(row, nowMs));
    this.#options.changed();
  }

  /** The client is gone. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#missed = 0;
  }

  /** So much waits that calls will be lost unless they are taken. */
  get isFilling(): boolean {
    return !this.#isHeld && this.#waiting.length >= MAX_WAITING / 2;
  }

  /** When something can be taken, monotonic; undefined where nothing waits. */
  get dueMs(): number | undefined {
    if (this.#isHeld || (this.#waiting.length === 0 && this.#missed === 0)) return undefined;
    const [oldest] = this.#waiting;
    return oldest === undefined ? 0 : oldest.sinceMs + this.#options.settleMs;
  }

  /** Takes what has waited long enough, and what was settled before any of that; all of it where calls would be lost. */
  settled(): TailRow[] {
    if (this.#isHeld) return [];
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

  /** Takes what was missed, once all that came before it was taken; undefined: nothing was. */
  gap(): Gap | undefined {
    if (this.#isHeld || this.#missed === 0) return undefined;
    const gap = { missed: this.#missed, first: this.#first, last: this.#last };
    this.#missed = 0;
    this.#first = "";
    this.#last = "";
    return gap;
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
}
