/** What `/metrics` says of model calls. */
import { BUCKETS_S, type Histogram } from "../../../base/metrics/histogram.ts";
import { type MetricSources, measured, type RoomMetrics } from "../../../base/metrics/sources.ts";
import type { Exchange } from "../exchange.ts";
import type { KeyProbeCounts } from "../key-probes/key-probes.ts";
import type { Latencies, LatencySeries } from "./latencies.ts";

interface Measured {
  readonly exchange: Pick<Exchange, "counts">;
  readonly latencies: Latencies;
  readonly keyProbes: () => Readonly<KeyProbeCounts>;
}

export const callMetrics = ({ exchange, latencies, keyProbes }: Measured): RoomMetrics => ({
  gauges: {
    weir_calls_live: measured("Model calls under way.", () => exchange.counts().live),
    weir_calls_draining: measured(
      "Calls read to their end for clients that left.",
      () => exchange.counts().draining,
    ),
    weir_calls_waiting: measured(
      "Model calls that wait for credit or budgets that other calls hold.",
      () => exchange.counts().waiting,
    ),
    weir_shadows_live: measured(
      "Copies of calls under way at shadow endpoints.",
      () => exchange.counts().shadows.live,
    ),
  },
  counters: {
    weir_calls_total: {
      help: "Model calls by how they ended.",
      label: "outcome",
      read: () => exchange.counts().ended,
    },
    ...extraCounters(exchange),
    weir_shadows_sent_total: measured(
      "Copies sent to shadow endpoints.",
      () => exchange.counts().shadows.sent,
    ),
    weir_shadows_dropped_total: measured(
      "Copies that a policy asked for and that were not sent.",
      () => exchange.counts().shadows.dropped,
    ),
    weir_key_probes_total: {
      help: "Questions of the gateway's own to providers, one token each, about keys that calls made look refused.",
      label: "verdict",
      read: keyProbes,
    },
  },
  histograms: latencyHistograms(latencies),
});

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

/** What providers bill beyond what was held or has a price. */
const extraCounters = (exchange: Measured["exchange"]): MetricSources["counters"] => ({
  weir_reserve_exceeded_total: measured(
    "Calls whose upstream reported more than was held: charged in full.",
    () => exchange.counts().reserveExceeded,
  ),
  weir_unpriced_reports_total: measured(
    "Tiers and tools that upstreams reported and their endpoints have no price for.",
    () => exchange.counts().unpricedReports,
  ),
  weir_unlisted_members_total: {
    help: "Members of bodies that the table in docs/money.md does not list; they were passed on.",
    label: "member",
    read: () => exchange.counts().unlistedMembers,
  },
});
