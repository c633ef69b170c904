/**
 * Endpoint and model figures for the catalog, answered at once from the last reading: a list of models never waits for
 * ClickHouse. A reading older than a minute is renewed behind the answer; one that fails leaves the last.
 */
import type { Clock } from "../clock.ts";
import type { EndpointStatistics, Statistics } from "./statistics.ts";

export interface CatalogFigures {
  endpoint(endpointId: string): EndpointStatistics | undefined;
  requests7d(modelId: string): number;
}

const RENEW_AFTER_MS = 60_000;

/** @param simulated the models whose test calls count: those that only the simulator serves. */
export function catalogFigures(
  statistics: Statistics,
  clock: Clock,
  simulated: () => readonly string[] = () => [],
): () => CatalogFigures {
  let endpoints = new Map<string, EndpointStatistics>();
  let requests = new Map<string, number>();
  let readMs = Number.NEGATIVE_INFINITY;

  async function renew(): Promise<void> {
    const models = simulated();
    [endpoints, requests] = await Promise.all([
      statistics.endpointStats(models),
      statistics.modelRequests7d(models),
    ]);
  }

  return () => {
    const nowMs = clock.monotonic();
    if (nowMs - readMs > RENEW_AFTER_MS) {
      readMs = nowMs;
      // Away engines are the spool's to report.
      renew().catch(() => {});
    }
    return { endpoint: (id) => endpoints.get(id), requests7d: (id) => requests.get(id) ?? 0 };
  };
}
