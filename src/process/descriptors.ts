/**
 * How many descriptors (sockets and files) this process may have open, and how many of them are still to be given to
 * calls. The store, the engine's connection and the threads need some at any moment: a reserve is kept for them, because a
 * store without a descriptor cannot commit.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Segments of the journal, connections to ClickHouse, threads, files that are read again, tokens of providers. */
const RESERVE = 64;
/** Between the last call that is admitted and the reserve: answers to those that are refused, calls about to connect. */
const MARGIN = 16;
const MARGIN_SHARE = 0.02;
/** Calls at once, below which no gateway is worth starting. */
const FEWEST_CALLS = 8;
/** Of a process that has just started, where the system does not tell. */
const USUAL_AT_START = 100;

/** What takes descriptors; plain counters of the rooms, read for each call. */
export interface Holders {
  /** Connections of clients. */
  clients(): number;
  /** Connections to providers, such as are being opened among them. */
  upstream(): number;
  /** Other ends of those connections that lie in this process: the embedded simulator's. */
  simulator(): number;
}

export class Descriptors {
  /** Undefined where the system sets none, or does not tell. */
  readonly limit: number | undefined;
  readonly #atStart: number;
  readonly #forCalls: number;
  readonly #forClients: number;
  readonly #holders: Holders;

  /** @param limit and @param atStart of the system, unless a test says otherwise. */
  constructor(holders: Holders, limit = descriptorLimit(), atStart = openDescriptors()) {
    this.#holders = holders;
    this.limit = limit;
    this.#atStart = atStart - holders.clients() - holders.upstream() - holders.simulator();
    this.#forClients = (limit ?? Number.POSITIVE_INFINITY) - RESERVE;
    this.#forCalls = this.#forClients - Math.max(MARGIN, Math.round((limit ?? 0) * MARGIN_SHARE));
  }

  /** What stands in the way of a start, or undefined. */
  fault(): string | undefined {
    const needed = this.#atStart + (this.limit ?? 0) - this.#forCalls + 2 * FEWEST_CALLS;
    return this.limit === undefined || needed <= this.limit
      ? undefined
      : `this process may open ${this.limit} files and sockets, and needs ${needed} at least: raise "ulimit -n" (20000 is enough for some 9,000 calls at once)`;
  }

  /** Descriptors in use, as far as is counted. */
  used(): number {
    const { clients, upstream, simulator } = this.#holders;
    return this.#atStart + clients() + upstream() + simulator();
  }

  /**
   * Whether one more call may open what it needs.
   * @param live calls under way, this one included: those that have no connection yet will want one.
   */
  hasRoomForCall(live: number): boolean {
    const { clients, upstream, simulator } = this.#holders;
    return this.#atStart + clients() + Math.max(upstream(), live) + simulator() <= this.#forCalls;
  }

  /** Whether a client's new connection may stay open. */
  hasRoomForClient(): boolean {
    return this.used() <= this.#forClients;
  }
}

/**
 * The bound in force. Node raises its own to the hard limit when it starts. Linux: proc(5), `/proc/self/limits`; elsewhere
 * a shell that we start has the same.
 */
export function descriptorLimit(): number | undefined {
  const soft = /^Max open files\s+(\S+)/m.exec(linuxLimits() ?? "")?.[1] ?? shellLimit();
  const limit = Number(soft);
  return Number.isInteger(limit) && limit > 0 ? limit : undefined;
}

function linuxLimits(): string | undefined {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return undefined;
  }
}

const shellLimit = (): string =>
  spawnSync("sh", ["-c", "ulimit -n"], { encoding: "utf8", timeout: 2000 }).stdout?.trim() ?? "";

function openDescriptors(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return USUAL_AT_START;
  }
}
