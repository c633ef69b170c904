/**
 * The official exporters, watched: what reaches no collector is counted, and said once. Everything waits in bounded queues, so an
 * absent collector costs no call anything.
 */
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { OTLPMetricExporter as JsonMetrics } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter as ProtobufMetrics } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter as JsonTraces } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufTraces } from "@opentelemetry/exporter-trace-otlp-proto";
import type { PushMetricExporter } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from "@opentelemetry/sdk-trace";
import type { DropReason } from "./contract.ts";
import type { TelemetrySettings } from "./settings.ts";

export type Failed = (error: Error | undefined) => void;

export function metricExporter(
  { endpoint, protocol, timeoutMs }: TelemetrySettings,
  failed: Failed,
): PushMetricExporter {
  const options = { url: `${endpoint}/v1/metrics`, timeoutMillis: timeoutMs };
  const exporter = protocol === "http/json" ? new JsonMetrics(options) : new ProtobufMetrics(options);
  const send = exporter.export.bind(exporter);
  exporter.export = (metrics, done) =>
    send(metrics, (result) => {
      if (isFailed(result)) failed(result.error);
      done(result);
    });
  return exporter;
}

/** Spans on their way to the collector, in batches. */
export class SpanQueue {
  readonly #processor: BatchSpanProcessor;
  readonly #maxQueue: number;
  readonly #dropped: Record<DropReason, number> = { queue_full: 0, export_failed: 0 };
  /** Spans that the processor has not handed to the exporter yet. */
  #waiting = 0;

  constructor(settings: TelemetrySettings, failed: Failed) {
    this.#maxQueue = settings.maxQueue;
    this.#processor = new BatchSpanProcessor({
      exporter: this.#watched(settings, failed),
      maxQueueSize: settings.maxQueue,
      maxExportBatchSize: settings.maxBatch,
      scheduledDelayMillis: settings.spanDelayMs,
      exportTimeoutMillis: settings.exportTimeoutMs,
    });
  }

  get dropped(): Readonly<Record<DropReason, number>> {
    return this.#dropped;
  }

  /** The spans of one call: all or none, for a trace with holes misleads. */
  add(spans: readonly ReadableSpan[]): void {
    if (this.#waiting + spans.length > this.#maxQueue) {
      this.#dropped.queue_full += spans.length;
      return;
    }
    this.#waiting += spans.length;
    for (const span of spans) this.#processor.onEnd(span);
  }

  stop(): Promise<void> {
    return this.#processor.shutdown();
  }

  #watched({ endpoint, protocol, timeoutMs }: TelemetrySettings, failed: Failed): SpanExporter {
    const options = { url: `${endpoint}/v1/traces`, timeoutMillis: timeoutMs };
    const exporter = protocol === "http/json" ? new JsonTraces(options) : new ProtobufTraces(options);
    return {
      export: (spans, done) => {
        this.#waiting -= spans.length;
        exporter.export(spans, (result) => {
          if (isFailed(result)) {
            this.#dropped.export_failed += spans.length;
            failed(result.error);
          }
          done(result);
        });
      },
      forceFlush: () => exporter.forceFlush(),
      shutdown: () => exporter.shutdown(),
    };
  }
}

const isFailed = ({ code }: ExportResult): boolean => code !== ExportResultCode.SUCCESS;
