/** What `/metrics` says of model calls. */
import { BUCKETS_S, type Histogram } from "../../../base/metrics/histogram.ts";
import { type MetricSources, measured, type RoomMetrics } from "../../../base/metrics/sources.ts";
import type { DetachedCalls } from "../detached/detached-calls.ts";
import type { Exchange } from "../exchange.ts";
import type { KeyProbeCounts } from "../key-probes/key-probes.ts";
import type { ExchangeCounts } from "./call-counts.ts";
import type { Latencies, LatencySeries } from "./latencies.ts";

interface Measured {
  readonly exchange: Pick<Exchange, "counts">;
  readonly latencies: Latencies;
  readonly detached: Pick<DetachedCalls, "counts">;
  readonly keyProbes: () => Readonly<KeyProbeCounts>;
}

export function callMetrics({ exchange, latencies, detached, keyProbes }: Measured): RoomMetrics {
  const counted = (help: string, count: (now: ExchangeCounts) => number) =>
    measured(help, () => count(exchange.counts()));
  return {
    gauges: {
      weir_calls_live: counted("Model calls under way.", (now) => now.live),
      weir_calls_draining: counted("Calls read to their end for clients that left.", (now) => now.draining),
      weir_calls_detached: measured(
        "Model calls under way that go on whatever their client does.",
        () => detached.counts().running,
      ),
      weir_detached_logs: measured(
        "Streams of detached calls that are kept, of running calls and of those that ended some minutes ago.",
        () => detached.counts().kept,
      ),
      weir_detached_bytes: measured(
        "What the streams of detached calls take, in the store and in memory.",
        () => detached.counts().bytes,
      ),
      weir_calls_waiting: counted(
        "Model calls that wait for credit or budgets that other calls hold.",
        (now) => now.waiting,
      ),
      weir_media_bytes: counted(
        "Pictures and documents that were fetched from addresses, in memory for calls under way, as base64.",
        (now) => now.fetches.bytes,
      ),
      weir_shadows_live: counted("Copies of calls under way at shadow endpoints.", (now) => now.shadows.live),
    },
    counters: {
      weir_calls_total: {
        help: "Model calls by how they ended.",
        label: "outcome",
        read: () => exchange.counts().ended,
      },
      weir_reserve_exceeded_total: counted(
        "Calls whose upstream reported more than was held: charged in full.",
        (now) => now.reserveExceeded,
      ),
      weir_unpriced_reports_total: counted(
        "Tiers and tools that upstreams reported and their endpoints have no price for.",
        (now) => now.unpricedReports,
      ),
      weir_unlisted_members_total: {
        help: "Members of bodies that the table in docs/money.md does not list; they were passed on.",
        label: "member",
        read: () => exchange.counts().unlistedMembers,
      },
      weir_upstream_refusals_total: {
        help: "Attempts that a provider refused, by the row of the table of refusals that its answer matched.",
        label: "row",
        read: () => exchange.counts().refusals,
      },
      weir_unmatched_refusals_total: {
        help: "Attempts that a provider refused by an answer that no row of the table of refusals matches.",
        label: "provider",
        read: () => exchange.counts().unmatchedRefusals,
      },
      weir_media_fetches_total: {
        help: "Addresses of pictures and documents by how fetching them ended; of a call that failed, the first that did.",
        label: "outcome",
        read: () => exchange.counts().fetches.addresses,
      },
      weir_shadows_sent_total: counted("Copies sent to shadow endpoints.", (now) => now.shadows.sent),
      weir_shadows_dropped_total: counted(
        "Copies that a policy asked for and that were not sent.",
        (now) => now.shadows.dropped,
      ),
      weir_key_probes_total: {
        help: "Questions of the gateway's own to providers, one token each, about keys that calls made look refused.",
        label: "verdict",
        read: keyProbes,
      },
    },
    histograms: latencyHistograms(latencies),
  };
}

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
