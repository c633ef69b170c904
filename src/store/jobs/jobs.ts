/**
 * The room's interface: rooms put jobs in their acts, and say what runs a kind; the runners do the rest.
 */
import { jumpWatch, type Timers } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import { GivenUpCount } from "./given-up-count.ts";
import { afterInterruption, SuspectSlot } from "./interruption.ts";
import type { JobHandler, JobKind, JobOrder, JobRow } from "./job.ts";
import { type GivenUpKey, JobTables } from "./job-tables.ts";
import { type KindCounts, RETRY_MS, Runner, type RunnerDeps, waitMs } from "./runner.ts";
import { Turns } from "./turns.ts";

/** Timers know nothing of a wall clock that was set, or of a machine that slept. */
const LONGEST_WAIT_MS = 5_000;
/** Longest wait between two looks where other processes add jobs without notice. */
const SHARED_LOOK_MS = 1000;
/** Their clocks may be behind by so much. */
const CLOCKS_APART_MS = 60_000;
/** Longest wait between two looks at leases. */
const TEND_MS = 5000;
/** Looks at leases within the shortest one: a renewal that comes late, or is refused once, is still in time. */
const TENDS_PER_LEASE = 6;

export interface JobsOptions extends Pick<RunnerDeps, "store" | "clock" | "random" | "holder" | "onFailure"> {
  readonly timers: Timers;
  /** Several processes use the store: each looks now and then for what the others add or leave behind. Default: false. */
  readonly isShared?: boolean;
  /** Longest wait for a job that is due later. Default: {@link LONGEST_WAIT_MS}; longer where the clock cannot be set. */
  readonly longestWaitMs?: number;
}

export interface JobMetrics {
  readonly running: number;
  /** Lanes with jobs that run or are due; lanes whose jobs are all due later may be among them. */
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
  readonly #suspectSlot = new SuspectSlot(() => {
    for (const { lanes } of this.#runners.values()) lanes.wakeSuspects();
  });
  readonly #turns: Turns;
  readonly #givenUp: GivenUpCount;
  #isStarted = false;
  /** No more is claimed. */
  #isStopped = false;
  /** Nothing runs any more. */
  #isEnded = false;
  /** Cancels the timer of the next look. */
  #cancel: () => void = () => {};
  #looking = false;
  #lookAgain = false;
  /** Cancels the timer of the next look at leases; undefined: there is none. */
  #cancelTend: (() => void) | undefined;
  /** Another process had jobs when leases were last looked at. */
  #isOthersLeft = false;
  #tending: Promise<void> = Promise.resolve();
  readonly #isSteady: () => boolean;

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#tables = new JobTables(options.store);
    this.#turns = new Turns(options.clock);
    this.#isSteady = jumpWatch(options.clock);
    this.#isSteady();
    this.#givenUp = new GivenUpCount(this.#tables);
    this.#tables.watchDue((job, isAdded) => {
      const runner = this.#runners.get(job.kind);
      if (isAdded) runner?.added(job);
      else runner?.lanes.remove(job);
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
    const deps: RunnerDeps = {
      ...this.#options,
      tables: this.#tables,
      suspectSlot: this.#suspectSlot,
      turns: this.#turns,
      onRoom: () => this.#look(),
    };
    const runner = new Runner(deps, kind as JobKind, handler as JobHandler<unknown>);
    this.#runners.set(kind.name, runner);
  }

  /** Takes back the jobs that this cell ran when it died, and begins. It reads none that wait: the first looks do, as they come. */
  async start(): Promise<void> {
    const { store, holder } = this.#options;
    const running = this.#tables.running(() => true);
    this.#isOthersLeft = running.some((row) => row.holder !== holder);
    const left = running.filter((row) => row.holder === holder);
    if (left.length > 0) await store.act(() => this.#release(left), { isOwed: true });
    this.#isStarted = true;
    this.#tendLater();
    this.#look();
    void this.#givenUp
      .finish(() => this.#isStopped)
      .catch((error: unknown) => {
        this.#options.onFailure(error, "given-up jobs could not be counted");
      });
  }

  /** Claims no more and waits for what runs; that which cannot end in time runs again after the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await Promise.all(Array.from(this.#runners.values(), (runner) => runner.stop()));
    // Only now: until its end, a run keeps its lease.
    this.#isEnded = true;
    this.#cancelTend?.();
    await this.#tending;
  }

  /** Given-up jobs, newest first. Read lazily. */
  givenUp(before?: GivenUpKey): Iterable<JobRow> {
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
   * Only in an act: looks at jobs of all orgs, and forgets those of one that do not run, whose payloads may hold names and
   * addresses. Those of a kind with `isKeptOnErasure` stay.
   * @param most jobs to look at
   * @param after what the call before returned
   * @returns where to go on; undefined: those were all
   */
  erase(orgId: string, most: number, after?: readonly [string, string]): [string, string] | undefined {
    let left = most;
    for (const row of this.#tables.after(after)) {
      const isKept = this.#runners.get(row.kind)?.kind.isKeptOnErasure === true;
      if (row.orgId === orgId && row.state !== "running" && !isKept) this.#tables.remove(row);
      if (--left === 0) return [row.kind, row.key];
    }
    return undefined;
  }

  /** Whether a job of the org runs, of any kind but one. It looks at all jobs that run. */
  runsFor(orgId: string, butOf: JobKind<never> | JobKind): boolean {
    return this.#tables.running(() => true).some((row) => row.orgId === orgId && row.kind !== butOf.name);
  }

  /** Jobs of an org of one kind, in any state. It looks at all jobs of the kind. */
  *of<P>(kind: JobKind<P>, orgId: string): Generator<JobRow> {
    for (const row of this.#tables.ofKind(kind.name)) if (row.orgId === orgId) yield row;
  }

  metrics(): JobMetrics {
    const runners = [...this.#runners.values()];
    return {
      running: runners.reduce((sum, runner) => sum + runner.running, 0),
      lanes: runners.reduce((sum, runner) => sum + runner.lanes.size, 0),
      givenUp: this.#givenUp.value,
      byKind: new Map(runners.map(({ kind, counts }) => [kind.name, counts])),
    };
  }

  /** In an act. */
  #release(left: readonly JobRow[]): void {
    const { clock, random } = this.#options;
    for (const { kind, key, fence, leaseEndsAtMs } of left) {
      const row = this.#tables.row(kind, key);
      if (row?.state !== "running" || row.fence !== fence) continue;
      // Renewed by an act that was not committed when it was read.
      if (row.leaseEndsAtMs !== leaseEndsAtMs) continue;
      const known = this.#runners.get(kind)?.kind;
      // Without a try left, its next turn gives it up.
      const wait = () =>
        known === undefined || row.tries >= known.tries ? 0 : waitMs(known, row.tries, random());
      this.#tables.put(afterInterruption(row, clock.now(), wait));
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
      this.#tendLater();
      this.#lookAt(nextMs);
    });
  }

  /** Without jobs that wait there is no timer: what is added brings its own look. */
  #lookAt(nextMs: number): void {
    const { clock, timers, isShared = false, longestWaitMs = LONGEST_WAIT_MS } = this.#options;
    const mostMs = isShared ? SHARED_LOOK_MS : longestWaitMs;
    if (nextMs === Number.POSITIVE_INFINITY && !isShared) return;
    const waitMs = Math.max(0, Math.min(mostMs, nextMs - clock.now()));
    this.#cancel = timers.after(waitMs, () => {
      if (isShared)
        for (const runner of this.#runners.values()) runner.lookAgain(clock.now() - CLOCKS_APART_MS);
      this.#look();
    });
  }

  /** @returns when the next job is due; never rejects */
  async #rounds(): Promise<number> {
    let nextMs = Number.POSITIVE_INFINITY;
    while (this.#lookAgain && !this.#isStopped) {
      this.#lookAgain = false;
      try {
        const runners = [...this.#runners.values()];
        const advanced = runners.map((runner) => this.#turns.run(() => runner.advance()));
        // All of them, whichever fails: no runner begins another round while it is in one.
        await Promise.allSettled(advanced);
        nextMs = Math.min(...(await Promise.all(advanced)));
      } catch (error) {
        this.#options.onFailure(error, "jobs could not be looked at");
        nextMs = this.#options.clock.now() + RETRY_MS;
      }
    }
    return nextMs;
  }

  /** On a timer of its own: that of the looks starts anew with each job that comes. None while nobody holds a lease. */
  #tendLater(): void {
    if (this.#isEnded || this.#cancelTend !== undefined) return;
    const runners = [...this.#runners.values()];
    const isHeld = this.#isOthersLeft || runners.some(({ running }) => running > 0);
    if (!isHeld && this.#options.isShared !== true) return;
    const leases = runners.map(({ kind }) => kind.leaseMs / TENDS_PER_LEASE);
    this.#cancelTend = this.#options.timers.after(Math.min(TEND_MS, ...leases), () => {
      this.#tending = this.#tend().then(() => {
        this.#cancelTend = undefined;
        this.#tendLater();
      });
    });
  }

  /** Renews this process's leases, and takes back jobs that nobody runs whose leases have ended. Never rejects. */
  async #tend(): Promise<void> {
    const { store, clock, holder, onFailure } = this.#options;
    const nowMs = clock.now();
    const isSteady = this.#isSteady();
    try {
      for (const runner of this.#runners.values()) await runner.renew();
      // Behind a jump of the wall clock all leases look ended: those who live have until the next time to renew theirs.
      if (this.#isStopped || !isSteady) return;
      const running = this.#tables.running(() => true);
      this.#isOthersLeft = running.some((row) => row.holder !== holder);
      const isHeldHere = (row: JobRow) =>
        row.holder === holder && this.#runners.get(row.kind)?.holds(row) === true;
      const left = running.filter((row) => row.leaseEndsAtMs <= nowMs && !isHeldHere(row));
      if (left.length > 0) await store.act(() => this.#release(left));
    } catch (error) {
      onFailure(error, "leases of jobs could not be renewed");
    }
  }
}
