/**
 * The waiting jobs of one kind, in memory as far as needed: the soonest of each lane, and which lane is due next. A lane that
 * is at its limit is not looked at, however many of its jobs are due; lanes that are due take turns.
 */
import TinyQueue from "tinyqueue";
import { SUSPECTS, type SuspectSlot } from "./interruption.ts";
import type { DueJob } from "./job-tables.ts";

export interface LanesMemory {
  /** Jobs of a lane; the others are read when these have run. */
  readonly perLane: number;
  /** Jobs of all lanes. Above it a lane keeps `atLeast`, and is read more often. */
  readonly inAll: number;
  readonly atLeast: number;
  /** Outdated alarms beside one for each lane; dropping them takes a look at all lanes. */
  readonly outdated: number;
}

const MEMORY: LanesMemory = { perLane: 256, inAll: 50_000, atLeast: 4, outdated: 1024 };

/** A lane that could not be read is read again after this. */
const UNREAD_MS = 1000;

interface Lane {
  readonly name: string;
  /** Soonest first. */
  readonly jobs: DueJob[];
  /**
   * True: these are all that were told or read in the order of due times; what waits behind that is met in its time. False: the
   * store may hold more jobs of the lane, all due later than these, and there is at least one here.
   */
  hasAll: boolean;
  running: number;
  /** When its newest alarm rings; NaN once that has rung. */
  alarmMs: number;
}

interface Alarm {
  readonly atMs: number;
  readonly lane: string;
}

export interface LanesOptions {
  readonly atOncePerLane: number;
  /** Reads the soonest jobs of a lane from the store. */
  readonly read: (lane: string, limit: number) => Iterable<DueJob>;
  /** Called where that fails: the lane is read again a second after the last look. */
  readonly onUnread: (error: unknown) => void;
  /** Shared by all kinds: a job of the lane of suspects runs only in it. */
  readonly suspectSlot: SuspectSlot;
  /** Bounds of what is kept. */
  readonly memory?: LanesMemory;
}

export class Lanes {
  readonly #options: LanesOptions;
  readonly #memory: LanesMemory;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with a job that is due, in the order of their turns. */
  readonly #listed = new Set<Lane>();
  /** When lanes become due. An entry may be outdated; it is checked when its time comes. */
  #alarms = alarmQueue([]);
  /** Jobs in memory. */
  #kept = 0;
  /** At the last look. */
  #nowMs = 0;

  constructor(options: LanesOptions) {
    this.#options = options;
    this.#memory = options.memory ?? MEMORY;
  }

  /** Lanes with waiting or running jobs. */
  get size(): number {
    return this.#lanes.size;
  }

  has(name: string): boolean {
    return this.#lanes.has(name);
  }

  /** A lane whose jobs nobody has told of, read from the store. */
  open(name: string): void {
    if (this.#lanes.has(name)) return;
    const lane = this.#lane(name);
    lane.hasAll = false;
    this.#refill(lane);
  }

  /** A job that was read in the order of due times. It may be known already. */
  meet(job: DueJob): void {
    const jobs = this.#lanes.get(job.lane)?.jobs ?? [];
    for (let at = jobs.length - 1; at >= 0; at--) {
      const other = jobs[at] as DueJob;
      if (other.dueMs < job.dueMs) break;
      if (other.dueMs === job.dueMs && other.key === job.key) return;
    }
    this.add(job);
  }

  add(job: DueJob): void {
    const lane = this.#lane(job.lane);
    const last = lane.jobs.at(-1);
    // Beyond what is kept: it is read when its turn comes.
    if (!lane.hasAll && (last === undefined || job.dueMs > last.dueMs)) return;
    const at = lane.jobs.findLastIndex((other) => other.dueMs <= job.dueMs) + 1;
    lane.jobs.splice(at, 0, job);
    this.#kept++;
    const most = this.#keptPerLane;
    if (lane.jobs.length > most) {
      this.#kept -= lane.jobs.length - most / 2;
      lane.jobs.length = most / 2;
      lane.hasAll = false;
    }
    this.#schedule(lane);
  }

  /** A job that no longer waits. */
  remove(job: DueJob): void {
    const lane = this.#lanes.get(job.lane);
    if (lane === undefined) return;
    const at = lane.jobs.findIndex(({ key, dueMs }) => key === job.key && dueMs === job.dueMs);
    if (at >= 0) {
      lane.jobs.splice(at, 1);
      this.#kept--;
    }
    this.#refill(lane);
  }

  /** Takes jobs that are due and counts them as running in their lanes. */
  take(most: number, nowMs: number): DueJob[] {
    this.#nowMs = nowMs;
    this.#ring(nowMs);
    const taken: DueJob[] = [];
    for (const lane of this.#listed) {
      if (taken.length >= most) break;
      this.#listed.delete(lane);
      const job = this.#takeFrom(lane, nowMs);
      if (job === undefined) continue;
      taken.push(job);
      // Behind all others: the loop comes back to it only after them.
      this.#listed.add(lane);
    }
    return taken;
  }

  /** A job of the lane, counted as running, has ended. */
  ended(name: string): void {
    const lane = this.#lanes.get(name);
    if (lane === undefined) return;
    lane.running--;
    this.#schedule(lane);
    if (name === SUSPECTS) this.#options.suspectSlot.free();
  }

  /** The slot of suspects is free. */
  wakeSuspects(): void {
    const lane = this.#lanes.get(SUSPECTS);
    if (lane !== undefined) this.#schedule(lane);
  }

  /** When to call `take` again; undefined while nothing waits for time. Lanes at their limit wait for `ended` instead. */
  nextMs(): number | undefined {
    return this.#listed.size > 0 ? 0 : this.#alarms.peek()?.atMs;
  }

  get #keptPerLane(): number {
    const { perLane, inAll, atLeast } = this.#memory;
    return this.#kept < inAll ? perLane : atLeast;
  }

  #lane(name: string): Lane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = { name, jobs: [], hasAll: true, running: 0, alarmMs: Number.NaN };
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  /** Lists the lanes whose time has come. */
  #ring(nowMs: number): void {
    for (let alarm = this.#alarms.peek(); alarm !== undefined; alarm = this.#alarms.peek()) {
      if (alarm.atMs > nowMs) return;
      this.#alarms.pop();
      const lane = this.#lanes.get(alarm.lane);
      if (lane === undefined) continue;
      if (lane.alarmMs === alarm.atMs) lane.alarmMs = Number.NaN;
      this.#listed.add(lane);
    }
  }

  /** The lane's next job. If none may run now, an alarm or the end of a running one (of any kind, for suspects) will list the lane again. */
  #takeFrom(lane: Lane, nowMs: number): DueJob | undefined {
    if (lane.running >= this.#options.atOncePerLane) return undefined;
    if (lane.jobs.length === 0) this.#refill(lane);
    const [job] = lane.jobs;
    if (job === undefined || job.dueMs > nowMs) {
      this.#schedule(lane);
      return undefined;
    }
    if (lane.name === SUSPECTS && !this.#options.suspectSlot.take()) return undefined;
    lane.jobs.shift();
    this.#kept--;
    lane.running++;
    this.#refill(lane);
    return job;
  }

  /** Never throws: who took a job of the lane, or ends one, goes on where the rest of it cannot be read. */
  #refill(lane: Lane): void {
    if (lane.jobs.length === 0 && !lane.hasAll) {
      const most = this.#keptPerLane;
      try {
        const jobs = [...this.#options.read(lane.name, most)];
        lane.jobs.push(...jobs);
        this.#kept += jobs.length;
        lane.hasAll = jobs.length < most;
      } catch (error) {
        this.#options.onUnread(error);
      }
    }
    this.#schedule(lane);
  }

  #schedule(lane: Lane): void {
    const [job] = lane.jobs;
    if (job === undefined) {
      if (!lane.hasAll) this.#ringAt(lane, this.#nowMs + UNREAD_MS);
      if (lane.running > 0 || !lane.hasAll) return;
      // Its turn with it: a later lane of this name is another one.
      this.#lanes.delete(lane.name);
      this.#listed.delete(lane);
      return;
    }
    this.#ringAt(lane, job.dueMs);
  }

  #ringAt(lane: Lane, atMs: number): void {
    if (this.#listed.has(lane) || lane.alarmMs === atMs) return;
    lane.alarmMs = atMs;
    this.#alarms.push({ atMs, lane: lane.name });
    if (this.#alarms.length > 2 * this.#lanes.size + this.#memory.outdated) this.#dropOutdated();
  }

  /** Outdated alarms of far times would pile up: each job that overtakes one that waits long leaves another. */
  #dropOutdated(): void {
    const alarms: Alarm[] = [];
    for (const { alarmMs, name } of this.#lanes.values()) {
      if (!Number.isNaN(alarmMs)) alarms.push({ atMs: alarmMs, lane: name });
    }
    this.#alarms = alarmQueue(alarms);
  }
}

const alarmQueue = (alarms: Alarm[]) => new TinyQueue<Alarm>(alarms, (a, b) => a.atMs - b.atMs);
