/**
 * One undici pool per origin, HTTP/1.1: the only file that opens connections to providers. A pool is never closed while
 * the process serves, so no call can lose its connection to an eviction (T63).
 */
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import type * as Undici from "undici";

/** Two files of the library. Its index would load 60 more, such as fetch, caches and mocks: 60 ms of every start. */
const load = createRequire(import.meta.url);
const Pool: typeof Undici.Pool = load("undici/lib/dispatcher/pool.js");
const buildConnector: typeof Undici.buildConnector = load("undici/lib/core/connect.js");

export interface Pools {
  of(origin: string): Undici.Pool;
  /** Number of connections open or being opened: to this origin, or to all. */
  connections(origin?: string): number;
  /** Closes idle connections and waits for calls in flight. */
  close(): Promise<void>;
}

/** A paused call must stay small (T10): Node stops reading a socket at this many bytes; one more read is under way. */
const SOCKET_BUFFER_BYTES = 16 * 1024;

/**
 * Plain sockets read into this buffer and copy out what arrived: Node would allocate 64 KB per socket. (TLS delivers
 * its records, which are small.)
 */
const landing = Buffer.allocUnsafeSlow(SOCKET_BUFFER_BYTES);

const landed = {
  buffer: landing,
  callback(this: Socket, bytes: number): boolean {
    const copy = Buffer.allocUnsafe(bytes);
    landing.copy(copy, 0, 0, bytes);
    return this.push(copy);
  },
};

export function openPools(connectTimeoutMs: number): Pools {
  const pools = new Map<string, Undici.Pool>();
  const counts = new Map<string, number>();
  let all = 0;
  const count = (origin: string, change: 1 | -1) => {
    all += change;
    counts.set(origin, (counts.get(origin) ?? 0) + change);
  };
  return {
    connections: (origin) => (origin === undefined ? all : (counts.get(origin) ?? 0)),
    of(origin) {
      let pool = pools.get(origin);
      if (pool === undefined) {
        pool = new Pool(origin, {
          connections: null,
          pipelining: 1,
          allowH2: false,
          // Callers implement answer timeouts: they know whether a first byte has arrived.
          headersTimeout: 0,
          bodyTimeout: 0,
          keepAliveTimeout: 30_000,
          connect: counted(connectorTo(origin, connectTimeoutMs), (change) => count(origin, change)),
        });
        pools.set(origin, pool);
      }
      return pool;
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}

const connectorTo = (origin: string, timeout: number): Undici.buildConnector.connector =>
  buildConnector({
    timeout,
    allowH2: false,
    highWaterMark: SOCKET_BUFFER_BYTES,
    ...(origin.startsWith("http:") && { onread: landed }),
  } as Undici.buildConnector.BuildOptions);

/** Counts each connection from its first moment, when its descriptor is taken, to its last. */
const counted =
  (
    connect: Undici.buildConnector.connector,
    count: (change: 1 | -1) => void,
  ): Undici.buildConnector.connector =>
  (options, callback) => {
    count(1);
    connect(options, (...outcome) => {
      // On a failed connection the types promise null, but the value is missing.
      const socket = outcome[1] as Socket | null | undefined;
      if (socket) socket.once("close", () => count(-1));
      else count(-1);
      callback(...outcome);
    });
  };
