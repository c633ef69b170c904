/**
 * The room's interface: rooms put jobs in their acts, and say what runs a kind; the runners do the rest.
 */
import { type Clock, jumpWatch, type Random, type Timers } from "../clock.ts";
import { newId } from "../ids.ts";
import type { Store } from "../store/store.ts";
import type { JobHandler, JobKind, JobOrder, JobRow } from "./job.ts";
import { JobTables } from "./job-tables.ts";
import { type KindCounts, Runner, type RunnerDeps } from "./runner.ts";

/** Longest wait between two looks: the wall clock may jump, and other processes add jobs without notice. */
const LOOK_MS = 1000;
/** Longest wait between two looks at leases. */
const TEND_MS = 5000;
/** Looks at leases within the shortest one: a renewal that comes late, or is refused once, is still in time. */
const TENDS_PER_LEASE = 6;

export interface JobsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  /** See `RunnerDeps`. */
  readonly holder: string;
  readonly onFailure: RunnerDeps["onFailure"];
}

export interface JobMetrics {
  readonly running: number;
  /** Lanes with waiting or running jobs. */
  readonly lanes: number;
  readonly givenUp: number;
  readonly byKind: ReadonlyMap<string, Readonly<KindCounts>>;
}

/** What rooms that only ask for work need. */
export type JobQueue = Pick<Jobs, "enqueue" | "has" | "drop">;

export class Jobs {
  readonly #options: JobsOptions;
  readonly #tables: JobTables;
  readonly #runners = new Map<string, Runner>();
  #givenUp: number;
  #isStarted = false;
  /** No more is claimed. */
  #isStopped = false;
  /** Nothing runs any more. */
  #isEnded = false;
  /** Cancels the timer of the next look. */
  #cancel: () => void = () => {};
  #looking = false;
  #lookAgain = false;
  /** Cancels the timer of the next look at leases. */
  #cancelTend: () => void = () => {};
  #tending: Promise<void> = Promise.resolve();
  readonly #isSteady: () => boolean;

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#tables = new JobTables(options.store);
    this.#isSteady = jumpWatch(options.clock);
    this.#isSteady();
    this.#givenUp = this.#tables.countGivenUp();
    this.#tables.watchGivenUp((isAdded) => (this.#givenUp += isAdded ? 1 : -1));
    this.#tables.watchDue((job, isAdded) => {
      const lanes = this.#runners.get(job.kind)?.lanes;
      if (isAdded) lanes?.add(job);
      else lanes?.remove(job);
      if (isAdded) this.#look();
    });
  }

  /**
   * Only in an act: the job exists if and only if the act commits. A job of the same kind and key that waits or runs stays as
   * it is; one that was given up begins anew.
   */
  enqueue<P>(kind: JobKind<P>, order: JobOrder<P>): void {
    const { clock, random } = this.#options;
    const nowMs = clock.now();
    const key = order.key ?? newId("job", nowMs);
    const before = this.#tables.row(kind.name, key);
    if (before !== undefined && before.state !== "given_up") return;
    this.#tables.put({
      kind: kind.name,
      key,
      lane: order.lane ?? order.orgId,
      orgId: order.orgId,
      payload: order.payload,
      createdAtMs: nowMs,
      dueMs: order.dueMs ?? nowMs,
      tries: 0,
      // Not from zero: a run of an earlier job of this key, in a process that was paused, must not end this one.
      fence: before?.fence ?? Math.floor(random() * 2 ** 32),
      state: "waiting",
      holder: "",
      leaseEndsAtMs: 0,
      error: "",
    });
  }

  row(kind: string, key: string): JobRow | undefined {
    return this.#tables.row(kind, key);
  }

  /** Whether a job of this key waits or runs. */
  has(kind: JobKind<never> | JobKind, key: string): boolean {
    const row = this.#tables.row(kind.name, key);
    return row !== undefined && row.state !== "given_up";
  }

  /** Says what runs a kind; once for each kind, before `start`. */
  handle<P>(kind: JobKind<P>, handler: JobHandler<P>): void {
    if (this.#isStarted || this.#runners.has(kind.name))
      throw new Error(`${kind.name} has a handler already`);
    // The payload's type is erased here; the runner checks each payload by the kind's schema.
    const runner = new Runner(this.#deps(), kind as JobKind, handler as JobHandler<unknown>);
    this.#runners.set(kind.name, runner);
  }

  /** Takes back the jobs that this cell ran when it died, and begins. */
  async start(): Promise<void> {
    const { store, holder } = this.#options;
    const left = this.#tables.running((name) => name === holder);
    await store.act(() => this.#release(left), { isOwed: true });
    for (const job of this.#tables.firstOfLanes()) this.#runners.get(job.kind)?.lanes.learn(job);
    this.#isStarted = true;
    this.#tendLater();
    this.#look();
  }

  /** Claims no more and waits for what runs; that which cannot end in time runs again after the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await Promise.all(Array.from(this.#runners.values(), (runner) => runner.stop()));
    // Only now: until its end, a run keeps its lease.
    this.#isEnded = true;
    this.#cancelTend();
    await this.#tending;
  }

  /** Given-up jobs, newest first. Read lazily. */
  givenUp(before?: readonly [number, string, string]): Iterable<JobRow> {
    return this.#tables.givenUp(before);
  }

  /** Only in an act: gives a given-up job its tries again. @returns false where there is no such job */
  retry(kind: string, key: string): boolean {
    const row = this.#tables.row(kind, key);
    if (row?.state !== "given_up") return false;
    this.#tables.put({ ...row, state: "waiting", dueMs: this.#options.clock.now(), tries: 0 });
    return true;
  }

  /** Only in an act: forgets a job that waits or was given up. @returns false where there is no such job */
  drop(kind: string, key: string): boolean {
    const row = this.#tables.row(kind, key);
    if (row === undefined || row.state === "running") return false;
    this.#tables.remove(row);
    return true;
  }

  /**
   * Only in an act: forgets the jobs of an org that do not run, whose payloads may hold names and addresses.
   * @returns whether more are left
   */
  erase(orgId: string, most: number): boolean {
    let left = most;
    for (const row of this.#tables.ofOrg(orgId)) {
      if (row.state === "running") continue;
      if (left-- === 0) return true;
      this.#tables.remove(row);
    }
    return false;
  }

  metrics(): JobMetrics {
    const runners = [...this.#runners.values()];
    return {
      running: runners.reduce((sum, runner) => sum + runner.running, 0),
      lanes: runners.reduce((sum, runner) => sum + runner.lanes.size, 0),
      givenUp: this.#givenUp,
      byKind: new Map(runners.map(({ kind, counts }) => [kind.name, counts])),
    };
  }

  #deps(): RunnerDeps {
    const { store, clock, random, holder, onFailure } = this.#options;
    return { store, tables: this.#tables, clock, random, holder, onFailure, onRoom: () => this.#look() };
  }

  /** In an act. A try that the death of the process cut short counts: it may be what killed the process. */
  #release(left: readonly JobRow[]): void {
    const dueMs = this.#options.clock.now();
    for (const { kind, key, fence, leaseEndsAtMs } of left) {
      const row = this.#tables.row(kind, key);
      if (row?.state !== "running" || row.fence !== fence) continue;
      // Renewed by an act that was not committed when it was read.
      if (row.leaseEndsAtMs !== leaseEndsAtMs) continue;
      this.#tables.put({ ...row, state: "waiting", dueMs, error: "the process that ran it ended" });
    }
  }

  /** Starts what is due, and sets the timer for what is due next. Calls while it runs are answered by one more round. */
  #look(): void {
    if (!this.#isStarted || this.#isStopped) return;
    this.#lookAgain = true;
    if (this.#looking) return;
    this.#looking = true;
    this.#cancel();
    void this.#rounds().then((nextMs) => {
      this.#looking = false;
      // Asked for between the last round and now.
      if (this.#lookAgain) return this.#look();
      if (this.#isStopped) return;
      const waitMs = Math.max(0, Math.min(LOOK_MS, nextMs - this.#options.clock.now()));
      this.#cancel = this.#options.timers.after(waitMs, () => this.#look());
    });
  }

  /** @returns when the next job is due; never rejects */
  async #rounds(): Promise<number> {
    let nextMs = Number.POSITIVE_INFINITY;
    while (this.#lookAgain && !this.#isStopped) {
      this.#lookAgain = false;
      try {
        const times = await Promise.all(Array.from(this.#runners.values(), (runner) => runner.advance()));
        nextMs = Math.min(...times.map((ms) => ms ?? Number.POSITIVE_INFINITY));
      } catch (error) {
        this.#options.onFailure(error, "jobs could not be looked at");
        nextMs = Number.POSITIVE_INFINITY;
      }
    }
    return nextMs;
  }

  /** On a timer of its own: that of the looks starts anew with each job that comes, and may never ring. */
  #tendLater(): void {
    if (this.#isEnded) return;
    const leases = Array.from(this.#runners.values(), ({ kind }) => kind.leaseMs / TENDS_PER_LEASE);
    this.#cancelTend = this.#options.timers.after(Math.min(TEND_MS, ...leases), () => {
      this.#tending = this.#tend().then(() => this.#tendLater());
    });
  }

  /** Renews this process's leases, and takes back the jobs of processes whose leases have ended. Never rejects. */
  async #tend(): Promise<void> {
    const { store, clock, holder, onFailure } = this.#options;
    const nowMs = clock.now();
    const isSteady = this.#isSteady();
    try {
      for (const runner of this.#runners.values()) await runner.renew();
      // Behind a jump of the wall clock all leases look ended: those who live have until the next time to renew theirs.
      if (this.#isStopped || !isSteady) return;
      const left = this.#tables
        .running((name) => name !== holder)
        .filter((row) => row.leaseEndsAtMs <= nowMs);
      if (left.length > 0) await store.act(() => this.#release(left));
    } catch (error) {
      onFailure(error, "leases of jobs could not be renewed");
    }
  }
}
