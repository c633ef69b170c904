/**
 * Inserts the rows of a queue into ClickHouse, batch by batch. A batch and its token are on disk before it is sent, and it
 * is sent until it is known to be inserted (`delivery.ts`). So neither a lost answer, a dead engine nor kill -9 loses or
 * doubles a row.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import { type Clock, inTime } from "../../base/clock.ts";
import { requestId } from "../../base/ids.ts";
import type { BatchBounds, Batches, BatchRows } from "./batch-queue.ts";

export interface SpoolLog {
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface SpoolOptions {
  readonly queue: Batches;
  /**
   * Inserts a batch into ClickHouse. A batch that is not new may have been inserted before, wholly or in part.
   * @returns the number of inserted rows. @throws if it is not known that they are inserted: the batch is then tried
   * again
   */
  readonly insertBatch: (batch: BatchRows) => Promise<number>;
  /** Prefix of each batch's token. */
  readonly tokenPrefix: string;
  /** What the rows are, for the operator's log: `records`. */
  readonly what: string;
  readonly clock: Clock;
  readonly log: SpoolLog;
  readonly bounds: BatchBounds;
  /** A row waits at most this long for others of its batch. Default: 2 s. */
  readonly ageMs?: number | undefined;
  /** The same while the rows are few, which costs no memory worth the name. Default: `ageMs`. */
  readonly fewAgeMs?: number | undefined;
}

/** Since the start. */
interface SpoolCounts {
  readonly rows: number;
  readonly failures: number;
}

/** Each insertion has a price of its own, whatever its rows: at twice the age the engine needs half the processor time. */
const DEFAULT_AGE_MS = 2000;
/** Rows of fewer bytes are few. */
const FEW_BYTES = 4 * 1024 * 1024;
/** Meanwhile the number of pending rows is checked this often: in a busy second they would fill the memory. */
const POLL_MS = 100;
/** The same while none is pending. */
const IDLE_POLL_MS = 500;
/** A batch is inserted at once when this share of its maximum number of rows is pending. */
const FULL_SHARE = 0.5;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 5000;
/** Between two batches that reads wait for: a dashboard that polls must not make each row a batch. */
const MIN_GAP_MS = 50;
/** A single failure may be a broken connection. */
const UNREACHABLE_AFTER_FAILURES = 2;

interface Waiter {
  /** The newest row that it waits for. */
  readonly number: number;
  readonly ifReachable: boolean;
  readonly done: (inserted: boolean) => void;
}

export class Spool {
  readonly #options: SpoolOptions;
  readonly #ageMs: number;
  readonly #fewAgeMs: number;
  #stopping = false;
  #running: Promise<void> | undefined;
  /** The greatest number that a read waits for: batches are inserted until it is reached. */
  #awaited = 0;
  #wake: (() => void) | undefined;
  #waiters: Waiter[] = [];
  #lastBatchMs = 0;
  readonly #counts = { rows: 0, failures: 0 };
  /** Batches and holds, one after the other. */
  readonly #inTurn = pLimit(1);

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#ageMs = options.ageMs ?? DEFAULT_AGE_MS;
    this.#fewAgeMs = options.fewAgeMs ?? this.#ageMs;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /**
   * Resolves true once every row put before this call is in ClickHouse, false if that takes longer than `withinMs`.
   * @param ifReachable resolves false also as soon as two tries in a row have failed: for callers that cannot wait until
   * ClickHouse is reachable again
   */
  flush(withinMs: number, { ifReachable = false } = {}): Promise<boolean> {
    const { queue } = this.#options;
    const number = queue.newest();
    if (queue.acknowledged() >= number) return Promise.resolve(true);
    if (this.#stopping) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { number, ifReachable, done: resolve };
    this.#waiters.push(waiter);
    this.#awaited = Math.max(this.#awaited, number);
    this.#wake?.();
    return inTime(promise, withinMs, () => {
      this.#waiters = this.#waiters.filter((w) => w !== waiter);
      return false;
    });
  }

  /**
   * Lets the batch under way end, and begins none until the returned function is called: ClickHouse then has exactly the rows that
   * the queue no longer has. A batch that failed stays in the queue, and may have been inserted.
   * @throws Error if the batch takes longer than `withinMs`
   */
  hold(withinMs: number): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<() => void>();
    let isLate = false;
    void this.#inTurn(async () => {
      if (!isLate) await new Promise<void>((release) => resolve(release));
    });
    return inTime(promise, withinMs, () => {
      isLate = true;
      throw new Error(`${this.#options.what} are still being inserted`);
    });
  }

  /**
   * Stops after the current batch, or after `withinMs` if that takes longer: the batch then stays in the queue for the
   * next start.
   */
  async stop(withinMs: number): Promise<void> {
    this.#stopping = true;
    this.#wake?.();
    if (this.#running !== undefined) await inTime(this.#running, withinMs, () => {});
    for (const { done } of this.#waiters.splice(0)) done(false);
  }

  counts(): SpoolCounts {
    return { ...this.#counts };
  }

  async #run(): Promise<void> {
    const { queue } = this.#options;
    while (!this.#stopping) {
      // The rows that are pending now; later ones are left for the next batch.
      const target = Math.max(queue.newest(), this.#awaited);
      while (!this.#stopping && queue.acknowledged() < target && (await this.#nextBatch()));
      if (this.#stopping) return;
      const hasWaiters = this.#waiters.length > 0;
      // A row may have its number and not be committed yet: if a read waits for it, the queue is checked again soon.
      if (hasWaiters) await this.#rest(MIN_GAP_MS / 10);
      else await this.#waitForBatch();
    }
  }

  /** @returns false when nothing is pending. */
  async #nextBatch(): Promise<boolean> {
    const { queue, clock, log, what } = this.#options;
    const gapMs = this.#lastBatchMs + MIN_GAP_MS - clock.monotonic();
    if (this.#waiters.length > 0 && gapMs > 0 && gapMs <= MIN_GAP_MS) await sleep(gapMs);
    let backoffMs = FIRST_BACKOFF_MS;
    let failedInARow = 0;
    while (!this.#stopping) {
      try {
        if (!(await this.#inTurn(() => this.#tryBatch()))) return false;
        this.#lastBatchMs = clock.monotonic();
        this.#acknowledged();
        return true;
      } catch (error) {
        this.#counts.failures++;
        if (++failedInARow >= UNREACHABLE_AFTER_FAILURES)
          this.#release(({ ifReachable }) => ifReachable, false);
        const fields = { error: messageOf(error), backoffMs, rows: queue.pending() };
        log.warn(fields, `${what} cannot be written to analytics; they wait`);
        await this.#rest(backoffMs);
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
      }
    }
    return false;
  }

  /** @returns false when nothing is pending. */
  async #tryBatch(): Promise<boolean> {
    const { queue, insertBatch, bounds, tokenPrefix, clock } = this.#options;
    if (this.#stopping) return false;
    const next = await queue.nextBatch(bounds, () => `${tokenPrefix}-${requestId(clock.now())}`);
    if (next === undefined) return false;
    const rows = await insertBatch(next);
    await queue.acknowledge(next.batch);
    this.#counts.rows += rows;
    return true;
  }

  #acknowledged(): void {
    const to = this.#options.queue.acknowledged();
    this.#release(({ number }) => number <= to, true);
  }

  #release(isReleased: (waiter: Waiter) => boolean, inserted: boolean): void {
    const released = this.#waiters.filter(isReleased);
    this.#waiters = this.#waiters.filter((waiter) => !isReleased(waiter));
    for (const { done } of released) done(inserted);
  }

  /** Waits until the oldest row is old enough, or many rows are pending. */
  async #waitForBatch(): Promise<void> {
    const { queue, bounds } = this.#options;
    let waitedMs = 0;
    let ageMs = this.#fewAgeMs;
    while (waitedMs < ageMs && !this.#stopping && this.#waiters.length === 0) {
      const pollMs = queue.pending() === 0 ? IDLE_POLL_MS : POLL_MS;
      await this.#rest(Math.min(pollMs, ageMs - waitedMs));
      if (queue.pending() >= bounds.rows * FULL_SHARE) return;
      waitedMs += pollMs;
      ageMs = queue.pendingBytes() < FEW_BYTES ? this.#fewAgeMs : this.#ageMs;
    }
  }

  /** Resolves when the time is over, a read waits, or the spool is stopped. */
  async #rest(ms: number): Promise<void> {
    if (this.#stopping) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}

const messageOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof Error ? cause.message || String(cause) : String(cause);
};
