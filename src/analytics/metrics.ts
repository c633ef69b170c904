/** What `/metrics` says of ClickHouse, of the rows that wait on disk until ClickHouse has them, and of OpenTelemetry. */
import { least, measured, type RoomMetrics } from "../base/metrics/sources.ts";
import type { Analytics } from "./analytics.ts";
import type { Outbox } from "./outbox/outbox.ts";
import type { Telemetry } from "./telemetry/contract.ts";

interface Measured {
  readonly analytics: Pick<Analytics, "live" | "ledger" | "metrics" | "shadowRuns">;
  readonly outbox: Pick<Outbox, "pending">;
  /** Undefined without OpenTelemetry. */
  readonly telemetry: Pick<Telemetry, "dropped"> | undefined;
}

const NO_SPANS = { queue_full: 0, export_failed: 0 };

export const analyticsMetrics = ({ analytics, outbox, telemetry }: Measured): RoomMetrics => ({
  gauges: {
    weir_outbox_rows: measured("Records not yet in ClickHouse.", () => outbox.pending()),
    weir_shadow_rows: measured(
      "Shadow runs not yet in ClickHouse.",
      () => analytics.shadowRuns.metrics().pending,
    ),
    weir_ledger_rows: measured("Ledger entries not yet in ClickHouse; 0 at a gateway alone.", () =>
      analytics.ledger.pending(),
    ),
    weir_analytics_live: least("1 while ClickHouse answers.", () => (analytics.live() ? 1 : 0)),
  },
  counters: {
    weir_shadow_rows_dropped_total: measured(
      "Shadow runs that gave way while ClickHouse was away.",
      () => analytics.shadowRuns.metrics().dropped,
    ),
    weir_records_inserted_total: measured(
      "Records inserted into ClickHouse.",
      () => analytics.metrics().insertedRows,
    ),
    weir_insert_failures_total: measured("Insertions that failed.", () => analytics.metrics().insertFailures),
    weir_rows_set_apart_total: measured(
      "Records and ledger entries that were damaged while they waited: they are kept apart.",
      () => analytics.metrics().rowsSetApart + analytics.ledger.metrics().setApart,
    ),
    weir_engine_restarts_total: measured(
      "Times the embedded engine died.",
      () => analytics.metrics().engineRestarts,
    ),
    weir_spans_dropped_total: {
      help: "Spans that reached no OpenTelemetry collector, by reason.",
      label: "reason",
      read: () => telemetry?.dropped() ?? NO_SPANS,
    },
  },
});
