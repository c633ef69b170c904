import { afterAll, beforeAll, expect, test } from "vitest";
import { openOtlp } from "../../../../src/analytics/telemetry/otlp.ts";
import { telemetrySettingsOf } from "../../../../src/analytics/telemetry/settings.ts";
import type { CallRecord } from "../../../../src/record/record.ts";
import { record } from "../../../support/analytics/records.ts";
import { type Collector, startCollector } from "../../../support/telemetry/collector.fixtures.ts";

/** What it takes matters to no test here; an exporter that reaches none tries again for as long as it may. */
let collector: Collector;
beforeAll(async () => {
  collector = await startCollector();
});
afterAll(() => collector.close());

async function asked(change: Partial<CallRecord>, traceparent = ""): Promise<number> {
  const settings = telemetrySettingsOf({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
    OTEL_METRICS_EXPORTER: "none",
  });
  if (settings === undefined) throw new Error("settings");
  let count = 0;
  const telemetry = openOtlp(settings, {
    version: "1",
    cell: "local",
    warn() {},
    contentOf: async () => {
      count++;
      return { request: undefined, candidates: [] };
    },
  });
  telemetry.settled(record(change), telemetry.begin?.(traceparent, ""));
  await telemetry.stop(1000);
  return count;
}

test("content is looked at only of sampled calls whose payload is available", async () => {
  expect(await asked({ payloadState: "available" })).toBe(1);
  for (const payloadState of ["off", "zdr", "expired", "erased"] as const)
    expect(await asked({ payloadState })).toBe(0);
  const unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
  expect(await asked({ payloadState: "available" }, unsampled)).toBe(0);
});
