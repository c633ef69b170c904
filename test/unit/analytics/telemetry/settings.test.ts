import { expect, test } from "vitest";
import { telemetrySettingsOf } from "../../../../src/analytics/telemetry/settings.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };

test("without a collector, or with the SDK disabled, nothing is on and no variable is checked", () => {
  expect(telemetrySettingsOf({ OTEL_TRACES_SAMPLER: "jaeger_remote" })).toBeUndefined();
  expect(
    telemetrySettingsOf({ ...ENDPOINT, OTEL_SDK_DISABLED: "TRUE", OTEL_TRACES_SAMPLER: "?" }),
  ).toBeUndefined();
});

test("with a collector the defaults are those of the specification", () => {
  expect(telemetrySettingsOf(ENDPOINT)).toEqual({
    endpoint: "http://collector:4318",
    protocol: "http/protobuf",
    timeoutMs: 10_000,
    traces: true,
    metrics: true,
    sampler: "parentbased_always_on",
    ratio: 1,
    resource: {},
    capturesContent: false,
    maxQueue: 2048,
    maxBatch: 512,
    spanDelayMs: 5000,
    exportTimeoutMs: 30_000,
    metricIntervalMs: 60_000,
  });
});

test("a service name counts more than that among the resource's attributes, whose values are percent-encoded", () => {
  const named = { OTEL_RESOURCE_ATTRIBUTES: "service.name=a, team=blue%2C%20red", OTEL_SERVICE_NAME: "b" };
  const { resource } = telemetrySettingsOf({ ...ENDPOINT, ...named }) ?? {};
  expect(resource).toEqual({ "service.name": "b", team: "blue, red" });
});

test.each([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://user:secret@collector"],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
  ["OTEL_TRACES_EXPORTER", "console"],
  ["OTEL_TRACES_SAMPLER", "xray"],
  ["OTEL_TRACES_SAMPLER_ARG", "1.5"],
  ["OTEL_TRACES_SAMPLER_ARG", "-0.1"],
  ["OTEL_TRACES_SAMPLER_ARG", "1..0"],
  ["OTEL_RESOURCE_ATTRIBUTES", "secret"],
  ["OTEL_RESOURCE_ATTRIBUTES", "a=%zz"],
  ["OTEL_BSP_MAX_QUEUE_SIZE", "0"],
  ["OTEL_BSP_SCHEDULE_DELAY", "99999999999"],
  ["OTEL_METRIC_EXPORT_INTERVAL", "1e3"],
  ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "EVENT_ONLY"],
])("%s=%s is refused by its name, without its value", (name, value) => {
  const read = () => telemetrySettingsOf({ ...ENDPOINT, [name]: value });
  expect(read).toThrow(name);
  expect(read).not.toThrow("secret");
});
