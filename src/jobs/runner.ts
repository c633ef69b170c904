/**
 * Runs the jobs of one kind: claims what is due, calls the handler, ends the job in one act with what the handler found.
 *
 * A claim is a row with a lease and a number. Two processes cannot claim the same job, because the act that claims reads the
 * row; a process that was paused longer than its lease cannot end a job that another has claimed since, because the number
 * differs. After kill -9 the next start of the same cell takes its jobs back at once; other cells' leases end by time.
 */
import type { Clock, Random } from "../clock.ts";
import type { Store } from "../store/store.ts";
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

/** Claimed in one act. */
const CLAIMED_AT_ONCE = 64;

export interface RunnerDeps {
  readonly store: Store;
  readonly tables: JobTables;
  readonly clock: Clock;
  readonly random: Random;
  /** The cell that this process is. */
  readonly holder: string;
  /** Told of each failed run, and of what cannot be committed. */
  readonly onFailure: (error: unknown, what: string) => void;
  /** Called when a job has ended, so that another may begin. */
  readonly onRoom: () => void;
}

export interface KindCounts {
  done: number;
  failed: number;
  gaveUp: number;
}

type Result = { readonly ending: JobEnding | undefined } | { readonly error: unknown };

export class Runner {
  readonly kind: JobKind;
  readonly counts: KindCounts = { done: 0, failed: 0, gaveUp: 0 };
  readonly lanes: Lanes;
  readonly #deps: RunnerDeps;
  readonly #handler: JobHandler<unknown>;
  readonly #stop = new AbortController();
  /** Jobs that this process runs, by key, each until its end is committed. */
  readonly #running = new Map<string, { row: JobRow; ended: Promise<void> }>();
  /** Slots for claims that are not committed yet. */
  #claiming = 0;

  constructor(deps: RunnerDeps, kind: JobKind, handler: JobHandler<unknown>) {
    this.#deps = deps;
    this.kind = kind;
    this.#handler = handler;
    this.lanes = new Lanes({
      atOncePerLane: kind.atOncePerLane,
      read: (lane, limit) => deps.tables.dueIn(kind.name, lane, limit),
    });
  }

  get running(): number {
    return this.#running.size;
  }

  /** Starts what is due, as far as there is room. @returns when to call again; undefined: when a job is added or ends */
  async advance(): Promise<number | undefined> {
    if (this.#stop.signal.aborted) return undefined;
    const due = this.lanes.take(Math.min(this.#room, CLAIMED_AT_ONCE), this.#deps.clock.now());
    if (due.length > 0) await this.#claim(due);
    return this.#room > 0 ? this.lanes.nextMs() : undefined;
  }

  get #room(): number {
    return this.kind.atOnce - this.#running.size - this.#claiming;
  }

  async #claim(due: readonly DueJob[]): Promise<void> {
    const { store } = this.#deps;
    this.#claiming += due.length;
    try {
      const rows = await store.act(() => due.map((job) => this.#claimRow(job)));
      rows.forEach((row, i) => {
        if (row === undefined) this.lanes.ended((due[i] as DueJob).lane);
        else this.#begin(row);
      });
    } catch (error) {
      this.#deps.onFailure(error, `${this.kind.name} could not be claimed`);
      for (const job of due) {
        this.lanes.add(job);
        this.lanes.ended(job.lane);
      }
    } finally {
      this.#claiming -= due.length;
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
    const ended = this.#run(row).finally(() => {
      this.#running.delete(row.key);
      this.lanes.ended(row.lane);
      this.#deps.onRoom();
    });
    this.#running.set(row.key, { row, ended });
  }

  async #run(row: JobRow): Promise<void> {
    const job: JobRun = {
      key: row.key,
      orgId: row.orgId,
      createdAtMs: row.createdAtMs,
      attempt: row.tries,
      signal: this.#stop.signal,
    };
    const result = await this.#call(row, job);
    try {
      await this.#deps.store.act(() => this.#end(row, job, result), { isOwed: true });
    } catch (error) {
      // The handler's act threw: the job has not ended, and is tried again like any that fails.
      await this.#deps.store
        .act(() => this.#end(row, job, { error }), { isOwed: true })
        .catch((err: unknown) => this.#deps.onFailure(err, `${row.kind} ${row.key} could not be ended`));
    }
  }

  async #call(row: JobRow, job: JobRun): Promise<Result> {
    const payload = this.kind.payload.safeParse(row.payload);
    if (!payload.success) return { error: new Error(`its payload is not valid: ${payload.error.message}`) };
    try {
      return { ending: await this.#handler.run(payload.data, job) };
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#deps.onFailure(error, `${row.kind} ${row.key} failed`);
      return { error };
    }
  }

  /** In an act. */
  #end(claimed: JobRow, job: JobRun, result: Result): void {
    const { tables } = this.#deps;
    const row = tables.row(claimed.kind, claimed.key);
    if (row === undefined || row.fence !== claimed.fence || row.state !== "running") return;
    if ("error" in result) {
      this.#endFailed(row, job, result.error);
      return;
    }
    const { act, againAtMs } = result.ending ?? {};
    act?.();
    this.#count("done");
    if (againAtMs === undefined) tables.remove(row);
    else tables.put({ ...row, state: "waiting", dueMs: againAtMs, tries: 0, error: "" });
  }

  #endFailed(row: JobRow, job: JobRun, error: unknown): void {
    const { tables, clock, random } = this.#deps;
    const nowMs = clock.now();
    const isFinal = error instanceof FinalFailure;
    // The process stops: the run was not given the time it needs.
    if (this.#stop.signal.aborted && !isFinal) {
      tables.put({ ...row, state: "waiting", dueMs: nowMs, tries: row.tries - 1 });
      return;
    }
    const text = errorText(error);
    if (isFinal || row.tries >= this.kind.tries) {
      this.#count("gaveUp");
      tables.put({ ...row, state: "given_up", dueMs: nowMs, error: text });
      const payload = this.kind.payload.safeParse(row.payload);
      if (payload.success) this.#handler.gaveUp?.(payload.data, job, text);
      return;
    }
    this.#count("failed");
    tables.put({
      ...row,
      state: "waiting",
      dueMs: nowMs + waitMs(this.kind, row.tries, random()),
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
    const late = [...this.#running.values()].filter(
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
    await Promise.all(Array.from(this.#running.values(), ({ ended }) => ended));
  }
}

/** "Equal jitter": half of the doubled wait for sure, so that a failing receiver is never asked in a hurry. @param random in [0, 1) */
export function waitMs({ backoff }: Pick<JobKind, "backoff">, tries: number, random: number): number {
  const wholeMs = Math.min(backoff.mostMs, backoff.firstMs * 2 ** Math.min(tries - 1, 40));
  return Math.round(wholeMs / 2 + (wholeMs / 2) * random);
}
