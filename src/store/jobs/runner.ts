/**
 * Runs the jobs of one kind: claims what is due, calls the handler, ends the job in one act with what the handler found.
 *
 * A claim is a row with a lease and a number. Two processes cannot claim the same job, because the act that claims reads the
 * row; a process that was paused longer than its lease cannot end a job that another has claimed since, because the number
 * differs. After kill -9 the next start of the same cell takes its jobs back at once; other cells' leases end by time.
 */
import type { Clock, Random } from "../../base/clock.ts";
import type { Store } from "../store.ts";
import { DueReader } from "./due-reader.ts";
import { laneOf, type SuspectSlot } from "./interruption.ts";
import {
  errorText,
  FinalFailure,
  type JobEnding,
  type JobHandler,
  type JobKind,
  type JobRow,
  type JobRun,
} from "./job.ts";
import type { DueJob, JobTables } from "./job-tables.ts";
import { Lanes } from "./lanes.ts";
import type { Turns } from "./turns.ts";

/** Claimed in one act. */
const CLAIMED_AT_ONCE = 64;
/** A store that refuses is asked again after so long. */
export const RETRY_MS = 1000;

export interface RunnerDeps {
  readonly store: Store;
  readonly tables: JobTables;
  readonly clock: Clock;
  readonly random: Random;
  /** The cell that this process is. */
  readonly holder: string;
  readonly suspectSlot: SuspectSlot;
  /** Shared by all kinds. */
  readonly turns: Turns;
  /** Told of each failed run, and of what cannot be committed. */
  readonly onFailure: (error: unknown, what: string) => void;
  /** Called when a job has ended, so that another may begin. */
  readonly onRoom: () => void;
}

interface Failure {
  readonly text: string;
  /** No later try would end otherwise. */
  readonly isFinal: boolean;
}

export interface KindCounts {
  done: number;
  failed: number;
  gaveUp: number;
}

interface Run {
  /** As claimed, with its newest lease. */
  row: JobRow;
  ended: Promise<void>;
}

export class Runner {
  readonly kind: JobKind;
  readonly counts: KindCounts = { done: 0, failed: 0, gaveUp: 0 };
  readonly lanes: Lanes;
  readonly #deps: RunnerDeps;
  readonly #reader: DueReader;
  readonly #handler: JobHandler<unknown>;
  readonly #stop = new AbortController();
  /** Each until its end is committed; two of one key where another process has taken the first one over and ended it. */
  readonly #running = new Set<Run>();
  /** Jobs whose claims are not committed yet. */
  readonly #claiming = new Set<DueJob>();
  /** The newest claim. */
  #claimed: Promise<boolean> = Promise.resolve(true);

  constructor(deps: RunnerDeps, kind: JobKind, handler: JobHandler<unknown>) {
    this.#deps = deps;
    this.kind = kind;
    this.#handler = handler;
    this.#reader = new DueReader((after, limit) => deps.tables.dueOf(kind.name, after, limit));
    this.lanes = new Lanes({
      atOncePerLane: kind.atOncePerLane,
      read: (lane, limit) => deps.tables.dueIn(kind.name, lane, limit),
      onUnread: (error) => deps.onFailure(error, `jobs of ${kind.name} could not be read`),
      suspectSlot: deps.suspectSlot,
    });
  }

  get running(): number {
    return this.#running.size;
  }

  /** A waiting job was committed. */
  added(job: DueJob): void {
    const nowMs = this.#deps.clock.now();
    if (this.lanes.has(job.lane) || this.#reader.told(job, nowMs)) this.lanes.add(job);
    // Much else is still to be read that is due: the lane takes turns with it from now on.
    else if (job.dueMs <= nowMs) this.lanes.open(job.lane);
  }

  /** Other processes may have added jobs since then, and nobody told. */
  lookAgain(sinceMs: number): void {
    this.#reader.again(this.kind.name, sinceMs);
  }

  /**
   * Reads on what is due, and starts it as far as there is room.
   * @returns when to call again; infinite: when a job is added or ends
   */
  async advance(): Promise<number> {
    if (this.#stop.signal.aborted) return Number.POSITIVE_INFINITY;
    const nowMs = this.#deps.clock.now();
    for (const job of this.#reader.read(nowMs)) this.lanes.meet(job);
    const due = this.lanes.take(Math.min(this.#room, CLAIMED_AT_ONCE), nowMs);
    if (due.length > 0) {
      this.#claimed = this.#claim(due);
      // Refused: the store has said how it is, and need not be asked again at once.
      if (!(await this.#claimed)) return this.#deps.clock.now() + RETRY_MS;
    }
    const lanesMs =
      this.#room > 0 ? (this.lanes.nextMs() ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
    return Math.min(lanesMs, this.#reader.nextMs);
  }

  get #room(): number {
    return this.kind.atOnce - this.#running.size - this.#claiming.size;
  }

  /**
   * Whether this process runs what it has claimed, or may in a moment. It does not where the store could not say in time whether the
   * claim was committed, and it was.
   */
  holds({ key, fence }: Pick<JobRow, "key" | "fence">): boolean {
    const isRun = [...this.#running].some(({ row }) => row.key === key && row.fence === fence);
    return isRun || [...this.#claiming].some((job) => job.key === key);
  }

  /** @returns false where the store refused it; never rejects */
  async #claim(due: readonly DueJob[]): Promise<boolean> {
    const { store } = this.#deps;
    for (const job of due) this.#claiming.add(job);
    try {
      const rows = await store.act(() => due.map((job) => this.#claimRow(job)));
      rows.forEach((row, i) => {
        if (row === undefined) this.lanes.ended((due[i] as DueJob).lane);
        else this.#begin(row);
      });
      return true;
    } catch (error) {
      this.#deps.onFailure(error, `${this.kind.name} could not be claimed`);
      for (const job of due) {
        this.lanes.add(job);
        this.lanes.ended(job.lane);
      }
      return false;
    } finally {
      for (const job of due) this.#claiming.delete(job);
    }
  }

  /** In an act. Undefined where the job is not what the index said: somebody else was faster. */
  #claimRow({ kind, key, dueMs }: DueJob): JobRow | undefined {
    const { tables, clock, holder } = this.#deps;
    const row = tables.row(kind, key);
    if (row === undefined || row.state !== "waiting" || row.dueMs !== dueMs) return undefined;
    const claimed: JobRow = {
      ...row,
      state: "running",
      holder,
      leaseEndsAtMs: clock.now() + this.kind.leaseMs,
      fence: row.fence + 1,
      tries: row.tries + 1,
    };
    tables.put(claimed);
    return claimed;
  }

  #begin(row: JobRow): void {
    const run: Run = { row, ended: Promise.resolve() };
    this.#running.add(run);
    run.ended = this.#deps.turns
      .run(() => this.#run(row))
      .finally(() => {
        this.#running.delete(run);
        this.lanes.ended(laneOf(row));
        this.#deps.onRoom();
      });
  }

  async #run(row: JobRow): Promise<void> {
    const job: JobRun = {
      key: row.key,
      orgId: row.orgId,
      createdAtMs: row.createdAtMs,
      attempt: Math.min(row.tries, this.kind.tries),
      signal: this.#stop.signal,
    };
    try {
      const ending = await this.#call(row, job);
      await this.#act(() => this.#endDone(row, ending));
    } catch (error) {
      // The run failed, or the act that ends it: then nothing was put.
      await this.#fail(row, job, error);
    }
  }

  #act(act: () => void): Promise<void> {
    return this.#deps.store.act(act, { isOwed: true });
  }

  async #call(row: JobRow, job: JobRun): Promise<JobEnding | undefined> {
    // The stop came while it was claimed.
    this.#stop.signal.throwIfAborted();
    // The process died in its last try, by this job as far as one can tell.
    if (row.tries > this.kind.tries) throw new Error(row.error);
    const payload = this.kind.payload.safeParse(row.payload);
    if (!payload.success) throw new Error(`its payload is not valid: ${payload.error.message}`);
    return await this.#handler.run(payload.data, job);
  }

  /** Never rejects. */
  async #fail(row: JobRow, job: JobRun, error: unknown): Promise<void> {
    const { onFailure } = this.#deps;
    const name = `${row.kind} ${row.key}`;
    if (!this.#stop.signal.aborted) onFailure(error, `${name} failed`);
    const failure = { text: errorText(error), isFinal: error instanceof FinalFailure };
    const { text } = failure;
    try {
      await this.#act(() => this.#endFailed(row, failure, () => this.#tellGaveUp(row, job, text))).catch(
        (cause: unknown) => {
          onFailure(cause, `${name} was given up, but its handler could not be told`);
          return this.#act(() => this.#endFailed(row, failure, () => {}));
        },
      );
    } catch (cause) {
      onFailure(cause, `${name} could not be ended`);
    }
  }

  #tellGaveUp({ payload }: JobRow, job: JobRun, text: string): void {
    const parsed = this.kind.payload.safeParse(payload);
    if (parsed.success) this.#handler.gaveUp?.(parsed.data, job, text);
  }

  /** The job's row; undefined where another process has taken it over. */
  #stillOurs(claimed: JobRow): JobRow | undefined {
    const row = this.#deps.tables.row(claimed.kind, claimed.key);
    return row?.fence === claimed.fence && row.state === "running" ? row : undefined;
  }

  /** In an act. */
  #endDone(claimed: JobRow, ending: JobEnding | undefined): void {
    const { tables } = this.#deps;
    const row = this.#stillOurs(claimed);
    if (row === undefined) return;
    const { act, againAtMs } = ending ?? {};
    act?.();
    this.#count("done");
    if (againAtMs === undefined) tables.remove(row);
    else tables.put({ ...row, state: "waiting", dueMs: againAtMs, tries: 0, interrupted: 0, error: "" });
  }

  /** In an act. */
  #endFailed(claimed: JobRow, { text, isFinal }: Failure, tellGaveUp: () => void): void {
    const { tables, clock, random } = this.#deps;
    const row = this.#stillOurs(claimed);
    if (row === undefined) return;
    const nowMs = clock.now();
    // The process stops: the run was not given the time it needs.
    if (this.#stop.signal.aborted && !isFinal) {
      tables.put({ ...row, state: "waiting", dueMs: nowMs, tries: row.tries - 1 });
      return;
    }
    if (isFinal || row.tries >= this.kind.tries) {
      this.#count("gaveUp");
      tables.put({ ...row, state: "given_up", dueMs: nowMs, tries: this.kind.tries, error: text });
      tellGaveUp();
      return;
    }
    this.#count("failed");
    tables.put({
      ...row,
      state: "waiting",
      dueMs: nowMs + waitMs(this.kind, row.tries, random()),
      interrupted: 0,
      error: text,
    });
  }

  /** In an act, which may be run again. */
  #count(what: keyof KindCounts): void {
    this.counts[what]++;
    this.#deps.store.ifDropped(() => this.counts[what]--);
  }

  /** Renews the leases of running jobs. Call more often than the lease is long. */
  async renew(): Promise<void> {
    const { store, tables, clock } = this.#deps;
    const leaseEndsAtMs = clock.now() + this.kind.leaseMs;
    const late = [...this.#running].filter(
      ({ row }) => row.leaseEndsAtMs - clock.now() < this.kind.leaseMs / 2,
    );
    if (late.length === 0) return;
    await store.act(() => {
      for (const { row } of late) {
        const now = tables.row(row.kind, row.key);
        if (now?.fence === row.fence && now.state === "running") tables.put({ ...now, leaseEndsAtMs });
      }
    });
    for (const run of late) run.row = { ...run.row, leaseEndsAtMs };
  }

  /** Claims no more, asks what runs to end, and resolves once it has. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#claimed;
    await Promise.all(Array.from(this.#running, ({ ended }) => ended));
  }
}

/** "Equal jitter": half of the doubled wait for sure, so that a failing receiver is never asked in a hurry. @param random in [0, 1) */
export function waitMs({ backoff }: Pick<JobKind, "backoff">, tries: number, random: number): number {
  const wholeMs = Math.min(backoff.mostMs, backoff.firstMs * 2 ** Math.min(tries - 1, 40));
  return Math.round(wholeMs / 2 + (wholeMs / 2) * random);
}
