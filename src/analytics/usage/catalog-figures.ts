/**
 * Endpoint and model figures for the catalog, answered from memory: a list of models never waits for ClickHouse. Figures
 * older than a minute are still answered, and read again in the background; if that fails, the old ones stay.
 */
import type { Clock } from "../../base/clock.ts";
import type { EndpointStatistics, Statistics } from "./statistics.ts";

export interface CatalogFigures {
  endpoint(endpointId: string): EndpointStatistics | undefined;
  requests7d(modelId: string): number;
  ttftP50Ms(modelId: string): number;
}

const RENEW_AFTER_MS = 60_000;

/** @param simulated models whose test calls count: those that only the simulator serves */
export function catalogFigures(
  statistics: Statistics,
  clock: Clock,
  simulated: () => readonly string[] = () => [],
): () => CatalogFigures {
  let endpoints = new Map<string, EndpointStatistics>();
  let requests = new Map<string, number>();
  let medians = new Map<string, number>();
  let readMs = Number.NEGATIVE_INFINITY;

  async function renew(): Promise<void> {
    const models = simulated();
    [endpoints, requests, medians] = await Promise.all([
      statistics.endpointStats(models),
      statistics.modelRequests7d(models),
      statistics.modelTtftP50(models),
    ]);
  }

  return () => {
    const nowMs = clock.monotonic();
    if (nowMs - readMs > RENEW_AFTER_MS) {
      readMs = nowMs;
      // The spool logs it when ClickHouse is unreachable.
      renew().catch(() => {});
    }
    return {
      endpoint: (id) => endpoints.get(id),
      requests7d: (id) => requests.get(id) ?? 0,
      ttftP50Ms: (id) => medians.get(id) ?? 0,
    };
  };
}
