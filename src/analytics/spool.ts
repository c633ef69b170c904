/**
 * Drains the outbox into ClickHouse, one batch after the other. A batch is on disk with its token before it is sent and
 * is sent until it is known to be in (`delivery.ts`), so a lost answer, a dead engine or kill -9 neither lose a row nor
 * double one.
 */
import type { Clock } from "../clock.ts";
import { requestId } from "../ids.ts";
import { BatchWriters, type LaidOut, layOut } from "./batch.ts";
import type { ClickHouse } from "./client.ts";
import { deliver } from "./delivery.ts";
import { recordDestinations } from "./destinations.ts";
import type { Finisher } from "./finisher.ts";
import type { BatchBounds, BatchRows, Outbox } from "./outbox.ts";

export interface SpoolLog {
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface SpoolOptions {
  readonly outbox: Outbox;
  readonly clickhouse: ClickHouse;
  readonly finisher: Finisher;
  readonly clock: Clock;
  readonly log: SpoolLog;
  /** How long a row waits for company. */
  readonly ageMs?: number;
  readonly bounds?: BatchBounds;
  readonly maxBackoffMs?: number;
}

export interface SpoolMetrics {
  /** Rows waiting in the outbox. */
  readonly outboxRows: number;
  readonly insertedRows: number;
  readonly insertedBatches: number;
  readonly insertFailures: number;
  /** Rows inserted without their payload because it could not be redacted. */
  readonly payloadsLost: number;
  /** Rows that could not be decoded and were set apart on disk. */
  readonly rowsSetApart: number;
}

const AGE_MS = 1000;
/** Looked at this often meanwhile: with so much company a row waits no longer, or a busy second would fill the memory. */
const LOOK_MS = 100;
const COMPANY_ROWS = 2500;
const BOUNDS: BatchBounds = { rows: 5000, bytes: 8 * 1024 * 1024 };
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 5000;
/** Between two batches that readers asked for: a dashboard that polls must not make a batch of every row. */
const MIN_GAP_MS = 50;
/** One failure alone may be a connection that broke. */
const AWAY_AFTER_FAILURES = 2;

interface Waiter {
  /** Of the newest row that it waits for. */
  readonly number: number;
  readonly ifReachable: boolean;
  readonly done: (inserted: boolean) => void;
}

export class Spool {
  readonly #options: SpoolOptions;
  readonly #ageMs: number;
  readonly #bounds: BatchBounds;
  readonly #maxBackoffMs: number;
  readonly #writers = new BatchWriters();
  #stopping = false;
  #running: Promise<void> | undefined;
  /** Numbers that readers wait for; the loop does not rest before the greatest is in. */
  #wanted = 0;
  #wake: (() => void) | undefined;
  #waiters: Waiter[] = [];
  #lastBatchMs = 0;
  #inserted = 0;
  #batches = 0;
  #failures = 0;
  #payloadsLost = 0;
  #setApart = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#ageMs = options.ageMs ?? AGE_MS;
    this.#bounds = options.bounds ?? BOUNDS;
    this.#maxBackoffMs = options.maxBackoffMs ?? MAX_BACKOFF_MS;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /**
   * Resolves true once every row put before the call is in ClickHouse, false when that takes longer than `withinMs`.
   * @param ifReachable resolves false as soon as two tries in a row have failed, too: for those who have no time to wait for a
   * ClickHouse that is away
   */
  flush(withinMs: number, { ifReachable = false } = {}): Promise<boolean> {
    const number = this.#options.outbox.newest();
    if (this.#options.outbox.acknowledged() >= number || this.#options.outbox.pending() === 0) {
      return Promise.resolve(true);
    }
    if (this.#stopping) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        number,
        ifReachable,
        done: (inserted: boolean) => {
          clearTimeout(timer);
          resolve(inserted);
        },
      };
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((w) => w !== waiter);
        resolve(false);
      }, withinMs);
      this.#waiters.push(waiter);
      this.#wanted = Math.max(this.#wanted, number);
      this.#wake?.();
    });
  }

  /** Ends after the batch under way, or without it when that takes long: it stays in the outbox for the next start. */
  async stop(withinMs: number): Promise<void> {
    this.#stopping = true;
    this.#wake?.();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([this.#running, late]);
    clearTimeout(timer);
    for (const { done } of this.#waiters.splice(0)) done(false);
  }

  metrics(): SpoolMetrics {
    return {
      outboxRows: this.#options.outbox.pending(),
      insertedRows: this.#inserted,
      insertedBatches: this.#batches,
      insertFailures: this.#failures,
      payloadsLost: this.#payloadsLost,
      rowsSetApart: this.#setApart,
    };
  }

  async #run(): Promise<void> {
    const { outbox } = this.#options;
    while (!this.#stopping) {
      // All that was there when the round began; what comes meanwhile waits for company.
      const target = Math.max(outbox.newest(), this.#wanted);
      while (!this.#stopping && outbox.acknowledged() < target && (await this.#oneBatch()));
      if (this.#stopping) return;
      const asked = this.#waiters.length > 0;
      // A row may have its number and not yet be committed: a reader that waits for it looks again soon.
      if (asked) await this.#rest(MIN_GAP_MS / 10);
      else await this.#company();
    }
  }

  /** @returns false when nothing is pending. */
  async #oneBatch(): Promise<boolean> {
    const { outbox, clock } = this.#options;
    const gap = this.#lastBatchMs + MIN_GAP_MS - clock.monotonic();
    if (this.#waiters.length > 0 && gap > 0 && gap <= MIN_GAP_MS) await this.#sleep(gap);
    let backoffMs = FIRST_BACKOFF_MS;
    let batch: BatchRows | undefined;
    let laidOut: LaidOut | undefined;
    let isDoubtful = false;
    let failedInARow = 0;
    while (!this.#stopping) {
      try {
        batch ??= await outbox.nextBatch(this.#bounds, () => `weir-${requestId(clock.now())}`);
        if (batch === undefined) return false;
        laidOut ??= await this.#layOut(batch);
        isDoubtful ||= !batch.isNew;
        await this.#insert(batch, laidOut, isDoubtful);
        this.#lastBatchMs = clock.monotonic();
        this.#acknowledged();
        return true;
      } catch (error) {
        isDoubtful = true;
        this.#failures++;
        if (++failedInARow >= AWAY_AFTER_FAILURES) this.#notReachable();
        this.#options.log.warn(
          { error: messageOf(error), backoffMs, outboxRows: outbox.pending() },
          "records cannot be written to analytics; they wait in the outbox",
        );
        await this.#rest(backoffMs);
        backoffMs = Math.min(backoffMs * 2, this.#maxBackoffMs);
      }
    }
    return false;
  }

  async #layOut({ batch, rows }: BatchRows): Promise<LaidOut> {
    const mark = { run: batch.run, number: batch.number, isRepaired: false };
    const laidOut = await layOut(rows, this.#writers, this.#options.finisher, mark);
    const { damaged, payloadsLost } = laidOut;
    if (damaged.length > 0) {
      await this.#options.outbox.setApart(batch, damaged);
      this.#setApart += damaged.length;
      this.#options.log.warn({ rows: damaged.length }, "outbox rows cannot be decoded; set apart");
    }
    this.#payloadsLost += payloadsLost;
    return laidOut;
  }

  async #insert(batch: BatchRows, laidOut: LaidOut, isDoubtful: boolean): Promise<void> {
    const { clickhouse, outbox, finisher, clock } = this.#options;
    const destinations = recordDestinations({ clickhouse, finisher, clock, batch, laidOut });
    await deliver(clickhouse, { token: batch.batch.token, isDoubtful, destinations });
    await outbox.acknowledge(batch.batch);
    this.#inserted += laidOut.requests.rows;
    this.#batches++;
  }

  #acknowledged(): void {
    const to = this.#options.outbox.acknowledged();
    const reached = this.#waiters.filter((w) => w.number <= to);
    this.#waiters = this.#waiters.filter((w) => w.number > to);
    for (const { done } of reached) done(true);
  }

  #notReachable(): void {
    const given = this.#waiters.filter((w) => w.ifReachable);
    this.#waiters = this.#waiters.filter((w) => !w.ifReachable);
    for (const { done } of given) done(false);
  }

  /** Until the oldest row has waited long enough, or many wait. */
  async #company(): Promise<void> {
    let restMs = this.#ageMs;
    while (restMs > 0 && !this.#stopping && this.#waiters.length === 0) {
      await this.#rest(Math.min(LOOK_MS, restMs));
      restMs = this.#options.outbox.pending() >= COMPANY_ROWS ? 0 : restMs - LOOK_MS;
    }
  }

  /** Until the time is over, a reader asks, or the spool is stopped. */
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

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }
}

const messageOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof Error ? cause.message || String(cause) : String(cause);
};
