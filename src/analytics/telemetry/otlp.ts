/** Sets up the SDK: resource, sampler, queue of spans, meter. Loaded by `open.ts` only where a collector is set. */
import { type Attributes, DiagLogLevel, diag } from "@opentelemetry/api";
import { setGlobalErrorHandler } from "@opentelemetry/core";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { inTime } from "../../base/clock.ts";
import type { CallRecord } from "../../record/record.ts";
import { contentAttributes } from "./call-content.ts";
import { callMetrics } from "./call-metrics.ts";
import { type SpanSource, spansOf } from "./call-spans.ts";
import { CallSpans, samplerOf, traceBeginner } from "./call-traces.ts";
import type { Telemetry, TelemetryDeps } from "./contract.ts";
import { type Failed, metricExporter, SpanQueue } from "./exporters.ts";
import type { TelemetrySettings } from "./settings.ts";

const NO_CONTENT: Attributes = Object.freeze({});
/** Calls whose content is being redacted. Beyond it spans go without. */
const MAX_REDACTING = 64;

export function openOtlp(settings: TelemetrySettings, deps: TelemetryDeps): Telemetry {
  // The SDK's own lines are not for the operator: what matters of them is said by `warnOnce`.
  diag.setLogger(SILENT, { logLevel: DiagLogLevel.NONE, suppressOverrideMessage: true });
  setGlobalErrorHandler(() => {});
  const failed = warnOnce(settings, deps);
  const resource = defaultResource().merge(
    resourceFromAttributes({
      "service.name": "weir",
      "service.version": deps.version,
      "service.instance.id": deps.cell,
      ...settings.resource,
    }),
  );
  const source: SpanSource = { resource, scope: { name: "weir", version: deps.version } };
  const queue = settings.traces ? new SpanQueue(settings, failed) : undefined;
  const meters = settings.metrics ? meterProvider(settings, resource, failed) : undefined;
  const count = meters && callMetrics(meters.getMeter("weir", deps.version));
  const redacting = new Set<Promise<void>>();

  function addSpans(record: CallRecord, trace: CallSpans): void {
    const add = (content: Attributes) => queue?.add(spansOf(source, record, trace, content));
    // The payload is available only where the org's data policy lets it be stored, and zero retention does not forbid it.
    const shows = settings.capturesContent && record.payloadState === "available";
    if (!shows || redacting.size >= MAX_REDACTING) {
      add(NO_CONTENT);
      return;
    }
    const added = deps
      .contentOf(record)
      .then(contentAttributes)
      .catch(() => NO_CONTENT)
      .then(add)
      .catch(failed)
      .finally(() => redacting.delete(added));
    redacting.add(added);
  }

  return {
    begin: queue && traceBeginner(samplerOf(settings.sampler, settings.ratio)),
    settled(record, trace) {
      try {
        count?.(record);
        if (trace instanceof CallSpans && trace.isSampled) addSpans(record, trace);
      } catch (error) {
        failed(error as Error);
      }
    },
    dropped: () => queue?.dropped ?? { queue_full: 0, export_failed: 0 },
    async stop(withinMs) {
      const flushed = Promise.all(redacting)
        .then(() => Promise.all([queue?.stop(), meters?.shutdown()]))
        .catch(failed);
      await inTime(flushed, withinMs, () => undefined);
    },
  };
}

function meterProvider(
  settings: TelemetrySettings,
  resource: SpanSource["resource"],
  failed: Failed,
): MeterProvider {
  const exporter = metricExporter(settings, failed);
  const exportIntervalMillis = settings.metricIntervalMs;
  const exportTimeoutMillis = Math.min(settings.exportTimeoutMs, exportIntervalMillis);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis, exportTimeoutMillis });
  return new MeterProvider({ resource, readers: [reader] });
}

/** A collector may be away for days: one line is enough, and counters tell the rest. */
function warnOnce({ endpoint }: TelemetrySettings, { warn }: TelemetryDeps): Failed {
  let warned = false;
  return (error) => {
    if (warned) return;
    warned = true;
    const reason = error?.message.slice(0, 200) ?? "";
    warn(
      { collector: new URL(endpoint).host, reason },
      "the OpenTelemetry collector took no data: it is tried again, and calls go on; further failures are only counted",
    );
  };
}

const quiet = () => {};
const SILENT = { error: quiet, warn: quiet, info: quiet, debug: quiet, verbose: quiet };
