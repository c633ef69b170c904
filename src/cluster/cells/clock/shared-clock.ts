/**
 * The clock of all cells: Redis's wall time, which each beat tells, carried on by this machine's monotonic clock. So what is due, ends or is
 * dated is so at every cell at the same moment, whatever the clocks of their machines say. Each script carries what the cell expects of
 * Redis's clock; where that is refused, `scripts/clock.lua` says which of them was set.
 */
import type { Clock } from "../../../base/clock.ts";

/** Both times are cut to whole milliseconds. */
const CUT_MS = 1;
/** What clocks may differ before one of them was set; as in `scripts/clock.lua`. */
const SPREAD_MS = 2000;
/** The most that a kernel slews a clock by: 500 parts in a million. */
const SLEW = 2000;
/** A script may come late by as much, and Redis's clock is ahead of what the cell expected when it was sent. */
const MOST_LATE_MS = 10_000;
/** Clocks of two machines that are both kept right; as in `scripts/clock.lua`. */
export const MACHINES_MS = 60_000;

/** Least and most that a time may be, milliseconds. */
export type Expected = readonly [leastMs: number, mostMs: number];

/** Where nothing is compared with Redis's clock: a dataset that is being made. */
export const ANY_TIME: Expected = [0, Number.MAX_SAFE_INTEGER];

/** What Redis says of its clock. */
export interface ClockReading {
  /** Milliseconds since 1970. */
  readonly redisMs: number;
  /** By how much all clocks were set ahead since the dataset began, milliseconds. */
  readonly shiftMs: number;
  /** How often all clocks were set since then. */
  readonly changes: number;
}

/** What a process expects that has not heard of Redis: the clock of its machine, as far as two machines may differ. */
export const expectedByMachine = (machine: Pick<Clock, "now">): Expected => [
  machine.now() - MACHINES_MS,
  machine.now() + MACHINES_MS,
];

export class SharedClock implements Clock {
  /** What the machine's clocks say: its wall clock goes on while the machine sleeps. */
  readonly machine: Clock;
  /** How far Redis's clock is ahead of the monotonic one. */
  #aheadMs: number;
  /** How far the machine's wall clock was ahead of Redis's when that was last heard. */
  #machineAheadMs = 0;
  /** The machine's wall clock is ahead of its monotonic one by so much, and was set to that not later than then. */
  #machineCourse: { readonly aheadMs: number; readonly sinceMs: number };
  #heardMs: number | undefined;
  #lateMs = 0;
  #shiftMs = 0;
  /** How often all clocks were set: what was granted before the last time is to be asked for again. */
  changes = 0;
  /** When that number was first heard. */
  #changesHeardMs = Number.NEGATIVE_INFINITY;
  readonly #onContradicted: (redisMs: number) => void;

  /** @param onContradicted called where all clocks were taken to be set, and the machine's went on as it was */
  constructor(machine: Clock, onContradicted: (redisMs: number) => void = () => {}) {
    this.machine = machine;
    this.#onContradicted = onContradicted;
    this.#aheadMs = machine.now() - machine.monotonic();
    this.#machineCourse = { aheadMs: this.#aheadMs, sinceMs: machine.monotonic() };
  }

  /** Whole milliseconds since 1970, as a system's clock has them; as far as Redis could be asked. It steps only where all clocks were set. */
  readonly now = (): number => Math.floor(this.machine.monotonic() + this.#aheadMs);

  readonly monotonic = (): number => this.machine.monotonic();

  /** Whole milliseconds of a time that no setting of clocks moves, the same at all cells: see `scripts/clock.lua`. */
  readonly steady = (): number => this.now() - this.#shiftMs;

  get isKnown(): boolean {
    return this.#heardMs !== undefined;
  }

  /** Whether the machine's clock was more than a minute off Redis's when Redis last told its time. */
  get #isMachineOff(): boolean {
    return Math.abs(this.#machineAheadMs) > MACHINES_MS;
  }

  /** Steady time that a script which is sent now may find. @throws Error before Redis was heard */
  expected(): Expected {
    if (this.#heardMs === undefined) throw new Error("Redis's clock is not known yet");
    const spreadMs = SPREAD_MS + (this.machine.monotonic() - this.#heardMs) / SLEW;
    const steady = this.steady();
    return [Math.floor(steady - spreadMs), Math.ceil(steady + spreadMs + this.#lateMs)];
  }

  /** The same of Redis's clock. @throws Error before Redis was heard */
  expectedWall(): Expected {
    const [least, most] = this.expected();
    return [least + this.#shiftMs, most + this.#shiftMs];
  }

  /** What `scripts/clock.lua` takes to judge: what is expected, and what the machine's clock says of it. */
  evidence(): readonly (string | number)[] {
    const machineMs = Math.floor(this.machine.now());
    if (!this.isKnown) return ["", "", "", "", machineMs, ""];
    const slept = Math.floor(this.machine.now() - this.#machineAheadMs);
    return [...this.expected(), Math.floor(this.steady()), slept, machineMs, this.#isMachineOff ? 1 : ""];
  }

  /** How long the latest exchange, or a try of one, took: the next may be as late. */
  took(ms: number): void {
    this.#lateMs = Math.min(ms, MOST_LATE_MS);
  }

  /**
   * A reply that just came says Redis's time. It was so at some moment since the request was sent: the clock is changed only as far
   * as it cannot be right.
   * @param sentMs `monotonic()` before the request was sent
   */
  heard(redisMs: number, sentMs: number): void {
    const monotonicMs = this.machine.monotonic();
    const leastMs = redisMs - monotonicMs - CUT_MS;
    const mostMs = redisMs - sentMs + CUT_MS;
    this.#aheadMs = Math.min(Math.max(this.#aheadMs, leastMs), mostMs);
    if (sentMs >= this.#courseSinceMs(monotonicMs)) this.#machineAheadMs = this.machine.now() - this.now();
    this.#heardMs = monotonicMs;
  }

  /** Redis may have said its time before the machine's clock was set: only a question behind that tells how they differ. */
  #courseSinceMs(monotonicMs: number): number {
    const aheadMs = this.machine.now() - monotonicMs;
    const isSet = Math.abs(aheadMs - this.#machineCourse.aheadMs) > SPREAD_MS;
    this.#machineCourse = { aheadMs, sinceMs: isSet ? monotonicMs : this.#machineCourse.sinceMs };
    return this.#machineCourse.sinceMs;
  }

  /** The same, with what Redis says of the clocks so far. */
  read({ redisMs, shiftMs, changes }: ClockReading, sentMs: number): void {
    // A reply that was kept from before they were set. What was asked since then is of a dataset that has lost it, by a failover.
    if (changes < this.changes && sentMs <= this.#changesHeardMs) return;
    const [wasKnown, isNew] = [this.isKnown, changes > this.changes];
    const offMs = this.machine.now() - this.#machineAheadMs - redisMs;
    this.heard(redisMs, sentMs);
    this.#shiftMs = shiftMs;
    if (changes !== this.changes) this.#changesHeardMs = this.machine.monotonic();
    this.changes = changes;
    const isContradicted = this.#isMachineOff && Math.abs(offMs) > MACHINES_MS;
    if (wasKnown && isNew && isContradicted) this.#onContradicted(redisMs);
  }
}
