/** What `/metrics` reads, out of the rooms that are open. */

import { BUCKETS_S, type Histogram } from "../../base/histogram.ts";
import type { Descriptors } from "../../base/process/descriptors.ts";
import type { Catalog } from "../../catalog/models/catalog.ts";
import type { MetricSources } from "../../edge/metrics.ts";
import type { Exchange } from "../../inference/exchange/exchange.ts";
import type { Latencies, LatencySeries } from "../../inference/exchange/figures/latencies.ts";
import type { Health } from "../../routing/health/health.ts";
import { cellCounters, cellGauges, cellHistograms, leaseGauges } from "./cell-metrics.ts";
import type { KeyProbeCounts } from "./key-probes.ts";
import type { Rooms } from "./rooms.ts";

/** Facts about the process around the gateway. */
export interface ProcessFacts {
  droppedLogLines(): number;
}

export function metricSources(
  rooms: Rooms,
  exchange: Exchange,
  descriptors: Descriptors,
  facts: ProcessFacts & { readonly keyProbes: () => Readonly<KeyProbeCounts> },
): MetricSources {
  const { store, purse, budgets, limits, analytics, health, catalog, bodyBudget, latencies } = rooms;
  const calls = () => exchange.counts();
  return {
    histograms: { ...latencyHistograms(latencies), ...cellHistograms(rooms.cell) },
    gauges: {
      ...descriptorGauges(descriptors),
      ...jobGauges(rooms),
      ...invoiceGauges(rooms),
      ...webhookGauges(rooms),
      ...bookGauges(rooms),
      ...cellGauges(rooms.cell),
      ...leaseGauges(rooms),
      ...callGauges(exchange),
      weir_bodies_bytes: read("Memory that the bodies of requests under way take.", () => bodyBudget.bytes),
      ...queueGauges(rooms),
      weir_holds_open: read("Credit holds open.", () => purse.open().holds),
      weir_held_micro_usd: read("Credit held for calls under way.", () => purse.open().heldMicroUsd),
      weir_budget_holds_open: read("Budget holds open.", () => budgets.openHolds()),
      weir_slots_taken: read(
        "Slots of concurrency taken: one by each model call of a key, two by each export that runs.",
        () => limits.inFlight(),
      ),
      weir_upstream_keys_cooling: most("Provider keys that cool down at one endpoint at least.", () =>
        health.keysCooling(),
      ),
      weir_endpoints_saturated: most("Endpoints where no key of the gateway's is usable now.", () =>
        endpointsOut(catalog, health),
      ),
      weir_store_healthy: least("1 while the store commits.", () => (store.healthy() ? 1 : 0)),
      weir_analytics_live: least("1 while ClickHouse answers.", () => (analytics.live() ? 1 : 0)),
    },
    counters: {
      ...jobCounters(rooms),
      ...webhookCounters(rooms),
      ...spanCounters(rooms),
      ...cellCounters(rooms.cell),
      weir_calls_total: {
        help: "Model calls by how they ended.",
        label: "outcome",
        read: () => calls().ended,
      },
      weir_log_lines_dropped_total: read(
        "Lines of log and start screen that could not be written.",
        facts.droppedLogLines,
      ),

      ...extraCounters(exchange),
      ...shadowCounters(rooms, exchange),
      ...keyProbeCounters(facts.keyProbes),
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

const keyProbeCounters = (read: () => Readonly<KeyProbeCounts>): MetricSources["counters"] => ({
  weir_key_probes_total: {
    help: "Questions of the gateway's own to providers, one token each, about keys that calls made look refused.",
    label: "verdict",
    read,
  },
});

const read = (help: string, value: () => number) => ({ help, read: value });
/** Gauges of which all cells see the same, or the one that stands worst counts. */
const most = (help: string, value: () => number) => ({ help, over: "max" as const, read: value });
const least = (help: string, value: () => number) => ({ help, over: "min" as const, read: value });

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

const callGauges = (exchange: Exchange) => ({
  weir_calls_live: read("Model calls under way.", () => exchange.counts().live),
  weir_calls_draining: read(
    "Calls read to their end for clients that left.",
    () => exchange.counts().draining,
  ),
  weir_calls_waiting: read(
    "Model calls that wait for credit or budgets that other calls hold.",
    () => exchange.counts().waiting,
  ),
  weir_shadows_live: read(
    "Copies of calls under way at shadow endpoints.",
    () => exchange.counts().shadows.live,
  ),
});

/** What providers bill beyond what was held or has a price. */
const extraCounters = (exchange: Exchange): MetricSources["counters"] => ({
  weir_reserve_exceeded_total: read(
    "Calls whose upstream reported more than was held: charged in full.",
    () => exchange.counts().reserveExceeded,
  ),
  weir_unpriced_reports_total: read(
    "Tiers and tools that upstreams reported and their endpoints have no price for.",
    () => exchange.counts().unpricedReports,
  ),
  weir_unlisted_members_total: {
    help: "Members of bodies that the table in docs/money.md does not list; they were passed on.",
    label: "member",
    read: () => exchange.counts().unlistedMembers,
  },
});

/** What waits on disk for ClickHouse. */
const queueGauges = ({ outbox, analytics }: Rooms) => ({
  weir_outbox_rows: read("Records not yet in ClickHouse.", () => outbox.pending()),
  weir_shadow_rows: read("Shadow runs not yet in ClickHouse.", () => analytics.shadowRuns.metrics().pending),
  weir_ledger_rows: read("Ledger entries not yet in ClickHouse; 0 at a gateway alone.", () =>
    analytics.ledger.pending(),
  ),
});

const shadowCounters = ({ analytics }: Rooms, exchange: Exchange) => ({
  weir_shadows_sent_total: read("Copies sent to shadow endpoints.", () => exchange.counts().shadows.sent),
  weir_shadows_dropped_total: read(
    "Copies that a policy asked for and that were not sent.",
    () => exchange.counts().shadows.dropped,
  ),
  weir_shadow_rows_dropped_total: read(
    "Shadow runs that gave way while ClickHouse was away.",
    () => analytics.shadowRuns.metrics().dropped,
  ),
});

const jobGauges = ({ jobs }: Rooms) => ({
  weir_jobs_running: read("Jobs that run.", () => jobs.metrics().running),
  weir_jobs_lanes: most("Lanes with jobs that wait or run.", () => jobs.metrics().lanes),
  weir_jobs_stuck: most("Jobs that failed too often: an operator decides.", () => jobs.metrics().givenUp),
});

const invoiceGauges = ({ invoices }: Rooms) => ({
  weir_invoices_pending: most(
    "Documents that wait for the portal of e-invoices, a thousand at most.",
    () => invoices.unregistered().pending,
  ),
  weir_invoices_failed: most(
    "Documents that the portal of e-invoices refused, a thousand at most.",
    () => invoices.unregistered().failed,
  ),
  weir_invoices_overdue: most(
    "Documents that are not registered after three days, a thousand at most.",
    () => invoices.unregistered().overdue,
  ),
});

function jobCounters({ jobs }: Rooms): MetricSources["counters"] {
  const of = (help: string, count: "done" | "failed" | "gaveUp") => ({
    help,
    label: "kind",
    read: () =>
      Object.fromEntries(Array.from(jobs.metrics().byKind, ([kind, counts]) => [kind, counts[count]])),
  });
  return {
    weir_jobs_done_total: of("Runs of jobs that did not fail, by kind.", "done"),
    weir_jobs_failed_total: of("Runs of jobs that failed and are tried again, by kind.", "failed"),
    weir_jobs_given_up_total: of("Jobs that failed too often, by kind.", "gaveUp"),
  };
}

const bookGauges = ({ books }: Rooms) => ({
  weir_reconciliation_faults: most(
    "What did not match on the newest day that was reconciled, and was not healed.",
    () => books.figures().faults,
  ),
  weir_reconciliation_time_seconds: most(
    "When a day was last reconciled, Unix seconds; 0 before the first time.",
    () => books.figures().ranAtS,
  ),
});

const webhookGauges = ({ outbound, webhooks: { standings } }: Rooms) => ({
  weir_webhooks_running: read("Deliveries to webhooks under way.", () => standings.running),
  weir_webhooks_troubled: most("Webhooks that are slow or fail at present.", () => standings.troubled()),
  weir_webhooks_connections: read("Connections to webhooks, idle ones included.", () => outbound.connections),
});

const webhookCounters = ({ webhooks: { counts } }: Rooms) => ({
  weir_webhooks_deliveries_total: {
    help: "Deliveries to webhooks by how they ended.",
    label: "outcome",
    read: () => counts.ended,
  },
  weir_webhooks_tries_total: {
    help: "Tries of deliveries; `spared`: the webhook was left alone because it keeps failing.",
    label: "outcome",
    read: () => counts.tries,
  },
});

const descriptorGauges = (descriptors: Descriptors) => ({
  weir_descriptors_used: most("Files and sockets open, as far as they are counted.", () =>
    descriptors.used(),
  ),
  weir_descriptors_limit: least(
    "Files and sockets that the process may have open; 0 where that is not known.",
    () => descriptors.limit ?? 0,
  ),
});

/** Without OpenTelemetry. */
const NO_SPANS = { queue_full: 0, export_failed: 0 };

const spanCounters = ({ telemetry }: Rooms): MetricSources["counters"] => ({
  weir_spans_dropped_total: {
    help: "Spans that reached no OpenTelemetry collector, by reason.",
    label: "reason",
    read: () => telemetry?.dropped() ?? NO_SPANS,
  },
});

/** Number of endpoints where none of the gateway's keys is usable now. */
function endpointsOut(catalog: Catalog, health: Health): number {
  let out = 0;
  for (const { endpoints } of catalog.current().models.values()) {
    for (const endpoint of endpoints) if ((health.of(endpoint)?.outForMs ?? 0) > 0) out += 1;
  }
  return out;
}
