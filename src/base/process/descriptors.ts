/**
 * Counts the descriptors (sockets and files) of this process against its limit, to tell whether one more call or
 * connection fits. A reserve is kept for the store, the engine's connection and the threads, because a store without a
 * descriptor cannot commit.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** For segments of the journal, connections to ClickHouse, threads, a reload of the catalog, requests for access tokens. */
const RESERVE = 64;
/** Between calls and the reserve: for connections whose calls are answered 503, and for upstreams that are being connected. */
const MARGIN = 16;
const MARGIN_SHARE = 0.02;
/** The start is refused if the limit allows fewer concurrent calls than this. */
const FEWEST_CALLS = 8;
/** Assumed number of open descriptors at the start, where the system does not report it. */
const USUAL_AT_START = 100;

/** Counters of open connections, read for each call. */
export interface Holders {
  /** Connections of clients. */
  clients(): number;
  /** Connections to providers, including those that are being opened. */
  upstream(): number;
  /** Connections that the embedded simulator, which lives in this process, has accepted. */
  simulator(): number;
}

export class Descriptors {
  /** Undefined where the system sets or reports none. */
  readonly limit: number | undefined;
  readonly #atStart: number;
  readonly #forCalls: number;
  readonly #forClients: number;
  readonly #holders: Holders;

  /**
   * @param limit of the process; read from the system unless a test gives it
   * @param atStart descriptors that are open now; read from the system unless a test gives it
   */
  constructor(holders: Holders, limit = descriptorLimit(), atStart = openDescriptors()) {
    this.#holders = holders;
    this.limit = limit;
    this.#atStart = atStart - holders.clients() - holders.upstream() - holders.simulator();
    this.#forClients = (limit ?? Number.POSITIVE_INFINITY) - RESERVE;
    this.#forCalls = this.#forClients - Math.max(MARGIN, Math.round((limit ?? 0) * MARGIN_SHARE));
  }

  /** One line for the operator if the limit is too low for a start; undefined otherwise. */
  fault(): string | undefined {
    const needed = this.#atStart + (this.limit ?? 0) - this.#forCalls + 2 * FEWEST_CALLS;
    return this.limit === undefined || needed <= this.limit
      ? undefined
      : `this process may open ${this.limit} files and sockets, and needs ${needed} at least: raise "ulimit -n" (20000 is enough for some 9,000 calls at once)`;
  }

  /** Descriptors in use: those open at the start plus open connections. */
  used(): number {
    const { clients, upstream, simulator } = this.#holders;
    return this.#atStart + clients() + upstream() + simulator();
  }

  /**
   * Whether one more call may open what it needs.
   * @param live calls in flight, including this one: those without a connection yet will need one.
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
 * The soft limit in force; Node raises it to the hard limit when it starts. Read from `/proc/self/limits` (proc(5)) on Linux,
 * elsewhere from a shell, which inherits the limit.
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
