/**
 * What the tests of jobs stand on: a real store in a folder of its own, time and timers that a test moves, and cells, which
 * are processes over that store as far as jobs can tell: one can pause or die while the others go on.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { z } from "zod";
import { type Clock, seededRandom, type Timers } from "../../../src/base/clock.ts";
import { errorText, type JobKind, type JobOrder, type JobRow, jobKind } from "../../../src/store/jobs/job.ts";
import { Jobs } from "../../../src/store/jobs/jobs.ts";
import { openStore, type Store, type Table } from "../../../src/store/store.ts";
import { storeWithActs } from "../store/acts.ts";
import { until } from "../wait.ts";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const START = Date.parse("2026-03-01T10:00:00Z");

/** Wall clock and timers. Timers keep to the monotonic time, as those of the system do: a wall clock that is set fires none. */
export class ManualTime implements Clock, Timers {
  #nowMs = START;
  #monotonicMs = 5_000;
  readonly #timers = new Set<{ readonly atMs: number; readonly act: () => void }>();

  now = () => this.#nowMs;
  monotonic = () => this.#monotonicMs;

  after(delayMs: number, act: () => void): () => void {
    const timer = { atMs: this.#monotonicMs + delayMs, act };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Both clocks in one leap; each timer whose time has come fires once, as after a pause of the process. */
  advance(ms: number): void {
    this.#nowMs += ms;
    this.#monotonicMs += ms;
    this.fire();
  }

  /** A stretch of work that takes so long: both clocks go on, and no timer can fire meanwhile. */
  spend(ms: number): void {
    this.#nowMs += ms;
    this.#monotonicMs += ms;
  }

  /** Sets the wall clock alone. */
  set(ms: number): void {
    this.#nowMs = ms;
  }

  fire(): void {
    const due = [...this.#timers].filter(({ atMs }) => atMs <= this.#monotonicMs);
    for (const timer of due.sort((a, b) => a.atMs - b.atMs)) {
      if (this.#timers.delete(timer)) timer.act();
    }
  }
}

/** The store as one process sees it: what reaches it and what it asks for waits while it is paused, and is lost once it died. */
class Process {
  #state: "runs" | "paused" | "dead" = "runs";
  #waiting: (() => void)[] = [];
  /** Acts that are not owed are refused: a full disk. */
  refuses = false;
  readonly store: Store;
  readonly timers: Timers;

  constructor(store: Store, timers: Timers) {
    this.store = {
      ...storeWithActs(store),
      table: <V>(name: string) => this.#watched(store.table<V>(name)),
      act: <T>(act: () => T, options?: { isOwed?: boolean }): Promise<T> =>
        new Promise((resolve, reject) => {
          const told = (tell: () => void) => () => this.#enter(tell);
          this.#enter(() => {
            if (this.refuses && options?.isOwed !== true) return void reject(new Error("the disk is full"));
            store.act(act, options).then(
              (value) => told(() => resolve(value))(),
              (error: unknown) => told(() => reject(error))(),
            );
          });
        }),
    };
    this.timers = { after: (ms, act) => timers.after(ms, () => this.#enter(act)) };
  }

  pause(): void {
    this.#state = "paused";
  }

  resume(): void {
    this.#state = "runs";
    for (const act of this.#waiting.splice(0)) act();
  }

  die(): void {
    this.#state = "dead";
    this.#waiting = [];
  }

  #enter(act: () => void): void {
    if (this.#state === "runs") act();
    else if (this.#state === "paused") this.#waiting.push(act);
  }

  #watched<V>(table: Table<V>): Table<V> {
    return { ...table, watch: (changed) => table.watch((key, row) => this.#enter(() => changed(key, row))) };
  }
}

export interface Cell {
  readonly jobs: Jobs;
  readonly process: Process;
  /** What was told of failures: what failed, and why. */
  readonly failures: string[];
}

export class Rig {
  readonly time = new ManualTime();
  readonly folder = mkdtempSync(join(tmpdir(), "weir-jobs-"));
  store: Store;
  readonly #actsTwice: boolean;
  #cells: Cell[] = [];

  constructor(actsTwice: boolean) {
    this.#actsTwice = actsTwice;
    this.store = this.#open();
  }

  #open(): Store {
    return openStore(this.folder, { actsTwice: this.#actsTwice });
  }

  /**
   * The jobs of a process; not started.
   * @param isShared it is not the only one: see `JobsOptions`
   * @param faulty what its store does otherwise
   */
  cell(holder = "cell_a", isShared = false, faulty = (store: Store) => store): Cell {
    const process = new Process(faulty(this.store), this.time);
    const failures: string[] = [];
    const jobs = new Jobs({
      store: process.store,
      clock: this.time,
      timers: process.timers,
      random: seededRandom(7),
      holder,
      isShared,
      onFailure: (error, what) => failures.push(`${what}: ${errorText(error)}`),
    });
    const cell = { jobs, process, failures };
    this.#cells.push(cell);
    return cell;
  }

  /** Kills all cells, and opens the store again as the next start does. */
  async restart(): Promise<void> {
    for (const { process } of this.#cells.splice(0)) process.die();
    await this.store.close();
    this.store = this.#open();
  }

  /** Rows that tell what happened: see `count`. */
  get effects(): Table<number> {
    return this.store.table<number>("effects");
  }

  /** In an act. */
  count(name: string): void {
    this.effects.put(name, (this.effects.get(name) ?? 0) + 1);
  }

  counted(name: string): number {
    return this.effects.get(name) ?? 0;
  }

  row(kind: Pick<JobKind, "name">, key: string): JobRow | undefined {
    return this.store.table<JobRow>("jobs.rows").get([kind.name, key]);
  }

  /** Rows of jobs and of their indexes. */
  rows(): number {
    const tables = ["jobs.rows", "jobs.due", "jobs.times", "jobs.running", "jobs.given_up"];
    return tables.reduce((sum, name) => sum + [...this.store.table(name).range()].length, 0);
  }

  enqueue<P>(cell: Cell, kind: JobKind<P>, ...orders: JobOrder<P>[]): Promise<void> {
    return this.store.act(() => {
      for (const order of orders) cell.jobs.enqueue(kind, order);
    });
  }

  /** Turns of the event loop until it holds; timers of no more delay fire. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const look = () => {
      this.time.fire();
      return holds();
    };
    await until(what, look);
  }

  /** Until everything that can happen at this time has: each step of a job takes one or two turns of the event loop. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 40; turn++) {
      await nextTurn();
      this.time.fire();
    }
  }

  /** In steps no longer than the time between two looks, each settled. */
  async pass(ms: number, stepMs = 1000): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
      this.time.advance(Math.min(leftMs, stepMs));
      await this.settle();
    }
  }

  async dispose(): Promise<void> {
    for (const { process } of this.#cells) process.die();
    await this.store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** @param actsTwice each act runs twice and the first run is dropped: acts must only read and put */
export const openRig = ({ actsTwice = true } = {}): Rig => new Rig(actsTwice);

const payload = z.object({ n: z.number() });
export type Payload = z.infer<typeof payload>;

/** A kind with bounds that no test meets unless it sets them. */
export function kindOf(changes: Partial<JobKind<Payload>> = {}): JobKind<Payload> {
  return jobKind({
    name: "test.run",
    payload,
    tries: 3,
    backoff: { firstMs: 10 * SECOND, mostMs: HOUR },
    atOnce: 16,
    atOncePerLane: 4,
    leaseMs: MINUTE,
    ...changes,
  });
}

/** A promise that a test settles. */
export function held<T = undefined>() {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  return { promise, resolve, reject };
}
