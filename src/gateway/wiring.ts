/**
 * Fills the ports between opened rooms: dependencies of model calls, operations of the routes, sources of the metrics.
 */

import { accountOperations } from "../account/operations.ts";
import { providerKeyOperations } from "../account/provider-key-operations.ts";
import { catalogFigures } from "../analytics/catalog-figures.ts";
import { anthropicModelOperations } from "../catalog/anthropic-models.ts";
import { catalogOperations } from "../catalog/operations.ts";
import { statsOperations } from "../catalog/stats-operations.ts";
import { systemRandom, systemTimers } from "../clock.ts";
import type { Config } from "../config.ts";
import { creditOperations } from "../credits/operations.ts";
import type { MetricSources } from "../edge/metrics.ts";
import type { Operations } from "../edge/routes.ts";
import { type Exchange, type ExchangeDeps, openExchange } from "../exchange/exchange.ts";
import { scopeOf } from "../exchange/holds.ts";
import { BUCKETS_S, type Histogram, type Latencies, type LatencySeries } from "../exchange/latencies.ts";
import { responseOperations } from "../exchange/response-operations.ts";
import { limitsOperations } from "../limits/operations.ts";
import { policiesOperations } from "../policies/operations.ts";
import type { Descriptors } from "../process/descriptors.ts";
import type { ByokFee } from "../usage.ts";
import { endpointsOut } from "./health.ts";
import type { Rooms } from "./rooms.ts";

/** Facts about the process around the gateway. */
export interface ProcessFacts {
  droppedLogLines(): number;
}

export const byokFeeOf = ({ settings: { byok } }: Config): ByokFee => ({
  bps: byok.fee_bps,
  microUsdPerRequest: byok.fee_micro_per_request,
});

export function exchangeOf(
  config: Config,
  rooms: Rooms,
  host: Pick<ExchangeDeps, "onFault" | "onUpstreamFailure" | "hasRoomFor">,
): Exchange {
  const { limits, timeouts } = config.settings;
  return openExchange({
    ...rooms,
    ...host,
    random: systemRandom,
    timers: systemTimers,
    byokFee: byokFeeOf(config),
    cell: config.cell,
    defaultMaxTokens: limits.default_max_tokens,
    maxPayloadBytes: limits.max_payload_bytes,
    maxDrains: limits.max_drains,
    maxShadows: limits.max_shadows,
    platformShadows: limits.platform_shadows,
    shadowRuns: rooms.analytics.shadowRuns,
    maxBodyBytes: limits.max_body_bytes,
    bounds: {
      maxEventBytes: limits.max_event_bytes,
      maxReplyBytes: limits.max_reply_bytes,
      maxPayloadBytes: limits.max_payload_bytes,
      extendTokens: limits.default_max_tokens,
    },
    timeouts: {
      firstByteMs: timeouts.first_byte_ms,
      stallMs: timeouts.stall_ms,
      totalMs: timeouts.total_ms,
      drainMs: timeouts.drain_ms,
      commitMs: timeouts.commit_ms,
      keepAliveMs: timeouts.keep_alive_ms,
    },
  });
}

export function operationsOf(rooms: Rooms): Operations {
  const { accounts, analytics, budgets, clock, keyring, limits, plan } = rooms;
  return {
    ...responseOperations(rooms),
    ...catalogOperations({
      ...rooms,
      healthOf: (endpoint) => rooms.health.live(endpoint),
      stats: catalogFigures(analytics.statistics, clock, rooms.simulated),
    }),
    ...anthropicModelOperations(rooms),
    ...statsOperations({ ...rooms, measured: analytics.modelStats }),
    ...analytics.operations,
    ...creditOperations({ ...rooms, orgMoney: () => ({ currency: "USD", fxRate: "1.00000000" }) }),
    ...limitsOperations({
      limits,
      budgets,
      keysOf: (orgId) =>
        accounts.workingKeys(orgId, clock.now()).map((row) => {
          const context = keyring.contextOf(row);
          return { ...scopeOf(context), limits: context.limits, name: row.name, status: context.status };
        }),
      planOf: (orgId) => plan(accounts.org(orgId)?.planId ?? ""),
      counts24h: async (orgId) => {
        const { rejected, upstreamCapacity } = await analytics.statistics.counts24h(orgId);
        return { ...rejected, upstreamCapacity };
      },
    }),
    ...providerKeyOperations({ ...rooms, providers: () => rooms.catalog.current().providers }),
    ...accountOperations({
      ...rooms,
      spend: (projectId) => budgets.spendOfProject({ projectId, timeZone: accounts.timeZoneOf(projectId) }),
    }),
    ...policiesOperations({
      ...rooms,
      random: systemRandom,
      replay: (request) => rooms.replays.replay(request),
      reports: { ...analytics.reports, ...analytics.shadowRuns },
    }),
  };
}

export function metricSources(
  { store, purse, budgets, limits, outbox, analytics, health, catalog, bodyBudget, latencies }: Rooms,
  exchange: Exchange,
  descriptors: Descriptors,
  surroundings: ProcessFacts,
): MetricSources {
  const calls = () => exchange.counts();
  return {
    histograms: latencyHistograms(latencies),
    gauges: {
      ...descriptorGauges(descriptors),
      weir_calls_live: read("Model calls under way.", () => calls().live),
      weir_bodies_bytes: read("Memory that the bodies of requests under way take.", () => bodyBudget.bytes),
      weir_calls_draining: read("Calls read to their end for clients that left.", () => calls().draining),
      weir_shadows_live: read("Copies of calls under way at shadow endpoints.", () => calls().shadows.live),
      weir_shadow_rows: read(
        "Shadow runs not yet in ClickHouse.",
        () => analytics.shadowRuns.metrics().pending,
      ),
      weir_holds_open: read("Credit holds open.", () => purse.open().holds),
      weir_held_micro_usd: read("Credit held for calls under way.", () => purse.open().heldMicroUsd),
      weir_budget_holds_open: read("Budget holds open.", () => budgets.openHolds()),
      weir_slots_taken: read("Concurrency slots taken.", () => limits.inFlight()),
      weir_outbox_rows: read("Records not yet in ClickHouse.", () => outbox.pending()),
      weir_upstream_keys_cooling: read("Provider keys that cool down at one endpoint at least.", () =>
        health.keysCooling(),
      ),
      weir_endpoints_saturated: read("Endpoints where no key of the gateway's is usable now.", () =>
        endpointsOut(catalog, health),
      ),
      weir_store_healthy: read("1 while the store commits.", () => (store.healthy() ? 1 : 0)),
      weir_analytics_live: read("1 while ClickHouse answers.", () => (analytics.live() ? 1 : 0)),
    },
    counters: {
      weir_calls_total: {
        help: "Model calls by how they ended.",
        label: "outcome",
        read: () => calls().ended,
      },
      weir_log_lines_dropped_total: read(
        "Lines of log and start screen that could not be written.",
        surroundings.droppedLogLines,
      ),
      weir_reserve_exceeded_total: read(
        "Calls whose upstream reported more than was held: charged in full.",
        () => calls().reserveExceeded,
      ),
      weir_shadows_sent_total: read("Copies sent to shadow endpoints.", () => calls().shadows.sent),
      weir_shadows_dropped_total: read(
        "Copies that a policy asked for and that were not sent.",
        () => calls().shadows.dropped,
      ),
      weir_shadow_rows_dropped_total: read(
        "Shadow runs that gave way while ClickHouse was away.",
        () => analytics.shadowRuns.metrics().dropped,
      ),
      weir_records_inserted_total: read(
        "Records inserted into ClickHouse.",
        () => analytics.metrics().insertedRows,
      ),
      weir_insert_failures_total: read("Insertions that failed.", () => analytics.metrics().insertFailures),
      weir_engine_restarts_total: read(
        "Times the embedded engine died.",
        () => analytics.metrics().engineRestarts,
      ),
    },
  };
}

const read = (help: string, value: () => number) => ({ help, read: value });

/** By route, class of model and outcome. */
function latencyHistograms(latencies: Latencies): MetricSources["histograms"] {
  const of = (help: string, histogram: (series: LatencySeries) => Histogram) => ({
    help,
    bounds: BUCKETS_S,
    *read() {
      for (const series of latencies.all()) {
        const { route, modelClass, outcome } = series.labels;
        const { counts, sumS } = histogram(series);
        yield { labels: { route, model_class: modelClass, outcome }, counts, sum: sumS };
      }
    },
  });
  return {
    weir_request_duration_seconds: of("From a call's arrival to its settlement.", ({ duration }) => duration),
    weir_time_to_first_token_seconds: of(
      "From a call's arrival to its first byte with content.",
      ({ firstToken }) => firstToken,
    ),
    weir_gateway_overhead_seconds: of(
      "Duration of a call less the time that its upstreams took.",
      ({ overhead }) => overhead,
    ),
  };
}

const descriptorGauges = (descriptors: Descriptors) => ({
  weir_descriptors_used: read("Files and sockets open, as far as they are counted.", () =>
    descriptors.used(),
  ),
  weir_descriptors_limit: read(
    "Files and sockets that the process may have open; 0 where that is not known.",
    () => descriptors.limit ?? 0,
  ),
});
