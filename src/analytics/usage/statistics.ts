/**
 * Figures for other rooms: refusals of an org, statistics of endpoints, use of models. Those over all orgs count live calls.
 * Test calls are free for anyone, so they count only for models that only the simulator serves.
 */
import type { ClickHouse } from "../clickhouse/client.ts";

interface Refusals {
  readonly rejected: { readonly rpm: number; readonly tpm: number; readonly concurrency: number };
  readonly upstreamCapacity: number;
}

export interface EndpointStatistics {
  /**
   * 0 to 1: attempts that did not fail by the endpoint's fault, of those that ended. If the provider refuses a request as
   * the client's fault, or an org's own bad key, the endpoint is up. A cancelled attempt (the client left, or another
   * attempt of a hedge was faster) counts as neither.
   */
  readonly uptime30d: number;
  readonly ttftP50Ms: number;
  readonly ttftP95Ms: number;
  readonly attempts30d: number;
}

export interface Statistics {
  /** An org's refused calls of the last 24 hours. */
  counts24h(orgId: string): Promise<Refusals>;
  /** Endpoints with an attempt in the last 30 days, over all orgs. */
  endpointStats(simulated?: readonly string[]): Promise<Map<string, EndpointStatistics>>;
  /** Median time to first token of the last 30 days, over all endpoints of a model and all orgs; milliseconds. */
  modelTtftP50(simulated?: readonly string[]): Promise<Map<string, number>>;
  /** Models with a request in the last 7 days that reached an endpoint, over all orgs. */
  modelRequests7d(simulated?: readonly string[]): Promise<Map<string, number>>;
}

/** Condition over the roll-ups. Parameter `simulated`: ids of the models that only the simulator serves. */
export const PUBLIC_TRAFFIC = "(environment = 'live' OR model IN {simulated:Array(String)})";

export function statistics(clickhouse: ClickHouse): Statistics {
  return {
    async counts24h(orgId) {
      const [row] = await clickhouse.rows<Record<"rpm" | "tpm" | "concurrency" | "capacity", number>>(
        `SELECT countIf(error_code = 'rpm') AS rpm, countIf(error_code = 'tpm') AS tpm,
           countIf(error_code = 'concurrency') AS concurrency, countIf(error_code = 'upstream_capacity') AS capacity
         FROM requests WHERE org_id = {org:String} AND ts >= now() - INTERVAL 24 HOUR`,
        { org: orgId },
      );
      const { rpm = 0, tpm = 0, concurrency = 0, capacity = 0 } = row ?? {};
      return { rejected: { rpm, tpm, concurrency }, upstreamCapacity: capacity };
    },

    async endpointStats(simulated = []) {
      const rows = await clickhouse.rows<{
        endpoint_id: string;
        n: number;
        ended: number;
        failed: number;
        q: (number | null)[];
      }>(
        `SELECT endpoint_id, sum(attempts) AS n, n - sum(cancelled) AS ended, sum(down) AS failed,
           quantilesTDigestIfMerge(0.5, 0.95)(ttft) AS q
         FROM attempts_hourly
         WHERE hour >= toStartOfHour(now('UTC')) - INTERVAL 30 DAY AND ${PUBLIC_TRAFFIC} GROUP BY endpoint_id`,
        { simulated },
      );
      return new Map(
        rows.map(({ endpoint_id, n, ended, failed, q }) => [
          endpoint_id,
          {
            uptime30d: ended === 0 ? 1 : Math.round((1 - failed / ended) * 1e6) / 1e6,
            ttftP50Ms: Math.round(q[0] ?? 0),
            ttftP95Ms: Math.round(q[1] ?? 0),
            attempts30d: n,
          },
        ]),
      );
    },

    async modelTtftP50(simulated = []) {
      const rows = await clickhouse.rows<{ model: string; q: (number | null)[] }>(
        `SELECT model, quantilesTDigestIfMerge(0.5, 0.95)(ttft) AS q FROM attempts_hourly
         WHERE hour >= toStartOfHour(now('UTC')) - INTERVAL 30 DAY AND ${PUBLIC_TRAFFIC} GROUP BY model`,
        { simulated },
      );
      return new Map(rows.map(({ model, q }) => [model, Math.round(q[0] ?? 0)]));
    },

    async modelRequests7d(simulated = []) {
      // Calls refused before any attempt have no provider: they do not make a model popular.
      const rows = await clickhouse.rows<{ model: string; n: number }>(
        `SELECT model, sum(requests) AS n FROM usage_hourly
         WHERE hour >= toStartOfHour(now('UTC')) - INTERVAL 7 DAY AND provider != '' AND ${PUBLIC_TRAFFIC} GROUP BY model`,
        { simulated },
      );
      return new Map(rows.map(({ model, n }) => [model, n]));
    },
  };
}
