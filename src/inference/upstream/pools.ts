/**
 * One pool of connections per origin and proxy. A pool is never closed while the process serves, so no call can lose its connection to
 * an eviction (T63).
 */
import type { Clock } from "../../base/clock.ts";
import type { Provider } from "../../base/endpoint.ts";
import type { ProxyAddress } from "../../base/network/proxy-address.ts";
import { ConnectionPool } from "./http/pool.ts";
import { type ProxySettings, proxyFor } from "./proxy/settings.ts";

export interface Pools {
  /** @param proxy the provider's own; undefined: what the environment has for the origin. */
  of(origin: string, proxy: Provider["proxy"]): ConnectionPool;
  /** The proxies by which a provider may be called. */
  proxiesOf(proxy: Provider["proxy"]): readonly ProxyAddress[];
  /** Number of connections open or being opened: to this origin, by whichever proxy, or to all. */
  connections(origin?: string): number;
  /** Closes idle connections and waits for calls in flight. */
  close(): Promise<void>;
}

export function openPools(connectTimeoutMs: number, proxies: ProxySettings, clock: Clock): Pools {
  const pools = new Map<string, ConnectionPool>();
  return {
    connections(origin) {
      let sum = 0;
      for (const pool of pools.values())
        if (origin === undefined || pool.origin === origin) sum += pool.connections;
      return sum;
    },
    proxiesOf(own) {
      if (own !== undefined) return own === "direct" ? [] : [own];
      return [proxies.http, proxies.https].filter((proxy) => proxy !== undefined);
    },
    of(origin, own) {
      const proxy = own === "direct" ? undefined : (own ?? proxyFor(new URL(origin), proxies));
      const id = `${origin} ${proxy?.id ?? ""}`;
      let pool = pools.get(id);
      if (pool === undefined) {
        pool = new ConnectionPool(origin, connectTimeoutMs, clock, proxy);
        pools.set(id, pool);
      }
      return pool;
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}
