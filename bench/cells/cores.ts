/**
 * Cells over the cores of one machine, on paper: what calls take of each part, measured on few cores, says what they take on many. The
 * formula is in docs/performance.md.
 */
import { seededRandom } from "../../src/base/clock.ts";
import { loadOf, type Measured, type Traffic } from "./paper.ts";

/** Microseconds of processor a call, from `--cells` with the cells as they are on many cores: two of them. */
export interface CallCost {
  /** A cell's main thread, which one core must do. */
  readonly mainUs: number;
  /** Its other threads: V8's compiler and collector, the store, records. */
  readonly helpersUs: number;
  readonly engineUs: number;
  /** Milliseconds of processor a second that a cell takes while nothing is asked of it. */
  readonly restMs: number;
}

export interface Machine {
  readonly cores: number;
  readonly cells: number;
  /** Clients that are busy: the system spreads them over cells by chance. */
  readonly connections: number;
}

export type Limit = "hottest cell" | "Redis" | "cores";

export interface Capacity {
  readonly callsPerSecond: number;
  readonly limit: Limit;
  /** The hottest cell's connections, as a multiple of a fair share. */
  readonly hottest: number;
  /** Part of one core at that rate. */
  readonly redis: number;
}

/** Part of a core above which replies of Redis begin to queue. */
const REDIS_BUSY = 0.7;

/**
 * The most calls a second at which the main thread of the cell with the most connections is not full, Redis answers without a queue, and
 * all cores together suffice.
 * @param traffic orgs, keys and acts, as in `loadOf`
 */
export function capacityOf(
  measured: Measured,
  cost: CallCost,
  { cores, cells, connections }: Machine,
  traffic: Omit<Traffic, "cells" | "callsPerSecond">,
): Capacity {
  const hottest = hottestShare(cells, connections);
  const redisAt = (callsPerSecond: number) => loadOf(measured, { ...traffic, cells, callsPerSecond }).redis;
  const perCallUs = cost.mainUs + cost.helpersUs + cost.engineUs;
  const limits: readonly (readonly [Limit, (callsPerSecond: number) => number])[] = [
    ["hottest cell", (rate) => (rate * (hottest / cells) * cost.mainUs) / 1e6],
    ["Redis", (rate) => redisAt(rate) / REDIS_BUSY],
    ["cores", (rate) => ((rate * perCallUs) / 1e6 + redisAt(rate) + (cells * cost.restMs) / 1e3) / cores],
  ];
  const found = limits.map(([limit, used]) => ({ limit, callsPerSecond: mostWithin(used) }));
  const least = found.reduce((a, b) => (b.callsPerSecond < a.callsPerSecond ? b : a));
  return { ...least, hottest, redis: redisAt(least.callsPerSecond) };
}

/** The number of cells with which so many cores answer the most calls. */
export function bestCells(
  measured: Measured,
  cost: CallCost,
  machine: Omit<Machine, "cells">,
  traffic: Omit<Traffic, "cells" | "callsPerSecond">,
): Capacity & Pick<Machine, "cells"> {
  const all = Array.from({ length: machine.cores + 1 }, (_, less) => {
    const cells = less + 1;
    return { cells, ...capacityOf(measured, cost, { ...machine, cells }, traffic) };
  });
  return all.reduce((a, b) => (b.callsPerSecond > a.callsPerSecond ? b : a));
}

/** The highest rate at which `used` is 1 at most. It grows with the rate. */
function mostWithin(used: (callsPerSecond: number) => number): number {
  let [low, high] = [0, 1e7];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (used(middle) <= 1) low = middle;
    else high = middle;
  }
  return low;
}

const ROUNDS = 100;

/** What the cell with the most connections has on average, where each goes to any cell alike, as a multiple of a fair share. */
export function hottestShare(cells: number, connections: number): number {
  const random = seededRandom(1);
  let sum = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const counts: number[] = Array(cells).fill(0);
    for (let at = 0; at < connections; at++) {
      const cell = Math.floor(random() * cells);
      counts[cell] = (counts[cell] ?? 0) + 1;
    }
    sum += Math.max(...counts);
  }
  return (sum / ROUNDS) * (cells / connections);
}
