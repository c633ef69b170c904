/**
 * One pool of connections per origin. A pool is never closed while the process serves, so no call can lose its connection to
 * an eviction (T63).
 */
import type { Clock } from "../../base/clock.ts";
import { ConnectionPool } from "./http/pool.ts";

export interface Pools {
  of(origin: string): ConnectionPool;
  /** Number of connections open or being opened: to this origin, or to all. */
  connections(origin?: string): number;
  /** Closes idle connections and waits for calls in flight. */
  close(): Promise<void>;
}

export function openPools(connectTimeoutMs: number, clock: Clock): Pools {
  const pools = new Map<string, ConnectionPool>();
  return {
    connections(origin) {
      if (origin !== undefined) return pools.get(origin)?.connections ?? 0;
      let all = 0;
      for (const pool of pools.values()) all += pool.connections;
      return all;
    },
    of(origin) {
      let pool = pools.get(origin);
      if (pool === undefined) {
        pool = new ConnectionPool(origin, connectTimeoutMs, clock);
        pools.set(origin, pool);
      }
      return pool;
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}
