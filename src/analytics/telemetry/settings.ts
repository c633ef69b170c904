/**
 * The variables of OpenTelemetry that the gateway reads, under the names of its specification ("Environment Variable
 * Specification"). Headers, certificates and compression are read by the exporters themselves.
 */
import { z } from "zod";

export const SAMPLER_NAMES = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
export type SamplerName = (typeof SAMPLER_NAMES)[number];

export interface TelemetrySettings {
  /** Base URL of the collector, without a slash at the end. */
  readonly endpoint: string;
  readonly protocol: "http/protobuf" | "http/json";
  /** The time limit of one export, with its repetitions. */
  readonly timeoutMs: number;
  readonly traces: boolean;
  readonly metrics: boolean;
  readonly sampler: SamplerName;
  /** Share of traces that are sampled, where the sampler takes one. */
  readonly ratio: number;
  /** Attributes of the process, beside those that the gateway knows. */
  readonly resource: Readonly<Record<string, string>>;
  /** Spans carry prompts and answers, where the org's data policy allows that they are stored. */
  readonly capturesContent: boolean;
  /** Spans that wait for the exporter; further ones are dropped. */
  readonly maxQueue: number;
  readonly maxBatch: number;
  readonly spanDelayMs: number;
  readonly exportTimeoutMs: number;
  readonly metricIntervalMs: number;
}

const text = z.string().optional();

/** Names of the variables; values are checked only where a collector is set, for a machine may have them for other programs. */
export const telemetryVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: text,
  OTEL_EXPORTER_OTLP_PROTOCOL: text,
  OTEL_EXPORTER_OTLP_TIMEOUT: text,
  OTEL_SDK_DISABLED: text,
  OTEL_TRACES_EXPORTER: text,
  OTEL_METRICS_EXPORTER: text,
  OTEL_TRACES_SAMPLER: text,
  OTEL_TRACES_SAMPLER_ARG: text,
  OTEL_SERVICE_NAME: text,
  OTEL_RESOURCE_ATTRIBUTES: text,
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: text,
  OTEL_BSP_MAX_QUEUE_SIZE: text,
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: text,
  OTEL_BSP_SCHEDULE_DELAY: text,
  OTEL_BSP_EXPORT_TIMEOUT: text,
  OTEL_METRIC_EXPORT_INTERVAL: text,
};

type TelemetryVariables = Readonly<Partial<Record<keyof typeof telemetryVariables, string | undefined>>>;

/**
 * Undefined where no collector is set, or OTEL_SDK_DISABLED is `true`.
 * @throws Error that names the variable with what is wrong, without repeating the value of one that may hold a password
 */
export function telemetrySettingsOf(env: TelemetryVariables): TelemetrySettings | undefined {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined || env.OTEL_SDK_DISABLED?.toLowerCase() === "true") return undefined;
  const { protocol } = URL.parse(endpoint) ?? {};
  if (protocol !== "http:" && protocol !== "https:")
    throw new Error("OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL with http or https");
  const maxQueue = count(env, "OTEL_BSP_MAX_QUEUE_SIZE", 2048);
  return {
    endpoint: endpoint.replace(/\/+$/, ""),
    protocol: oneOf(env, "OTEL_EXPORTER_OTLP_PROTOCOL", ["http/protobuf", "http/json"]),
    timeoutMs: count(env, "OTEL_EXPORTER_OTLP_TIMEOUT", 10_000),
    traces: oneOf(env, "OTEL_TRACES_EXPORTER", ["otlp", "none"]) === "otlp",
    metrics: oneOf(env, "OTEL_METRICS_EXPORTER", ["otlp", "none"]) === "otlp",
    sampler: oneOf(env, "OTEL_TRACES_SAMPLER", ["parentbased_always_on", ...SAMPLER_NAMES]),
    ratio: ratioOf(env.OTEL_TRACES_SAMPLER_ARG),
    resource: resourceOf(env),
    capturesContent: capturesContent(env),
    maxQueue,
    maxBatch: Math.min(maxQueue, count(env, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)),
    spanDelayMs: count(env, "OTEL_BSP_SCHEDULE_DELAY", 5000),
    exportTimeoutMs: count(env, "OTEL_BSP_EXPORT_TIMEOUT", 30_000),
    metricIntervalMs: count(env, "OTEL_METRIC_EXPORT_INTERVAL", 60_000),
  };
}

/** The first is the default. */
function oneOf<T extends string>(
  env: TelemetryVariables,
  name: keyof TelemetryVariables,
  values: readonly [T, ...T[]],
): T {
  const value = env[name];
  if (value === undefined) return values[0];
  const found = values.find((known) => known === value);
  if (found === undefined) throw new Error(`${name}: must be one of ${[...new Set(values)].join(", ")}`);
  return found;
}

/** Timers take at most this many milliseconds. */
const MAX_COUNT = 2 ** 31 - 1;

function count(env: TelemetryVariables, name: keyof TelemetryVariables, otherwise: number): number {
  const value = env[name];
  if (value === undefined) return otherwise;
  const number = Number(value);
  if (!/^\d{1,10}$/.test(value) || number < 1 || number > MAX_COUNT)
    throw new Error(`${name}: must be a whole number from 1 to ${MAX_COUNT}`);
  return number;
}

function ratioOf(value: string | undefined): number {
  if (value === undefined) return 1;
  const ratio = Number(value);
  if (!/^[\d.]{1,20}$/.test(value) || !(ratio >= 0 && ratio <= 1))
    throw new Error("OTEL_TRACES_SAMPLER_ARG: must be a share from 0 to 1");
  return ratio;
}

/** `key=value` pairs with commas between, values percent-encoded (specification, "Resource SDK"). */
function resourceOf(env: TelemetryVariables): Record<string, string> {
  const pairs = (env.OTEL_RESOURCE_ATTRIBUTES ?? "").split(",").filter((pair) => pair.trim() !== "");
  const attributes = Object.fromEntries(
    pairs.map((pair) => {
      const [, key = "", value = ""] = /^\s*([^=\s]{1,255})\s*=\s*(.{0,255}?)\s*$/.exec(pair) ?? [];
      const decoded = decodedOf(value);
      if (key === "" || decoded === undefined)
        throw new Error("OTEL_RESOURCE_ATTRIBUTES: must be key=value pairs with commas between");
      return [key, decoded];
    }),
  );
  const name = env.OTEL_SERVICE_NAME;
  return name === undefined ? attributes : { ...attributes, "service.name": name };
}

function decodedOf(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** Other instrumentations also know `EVENT_ONLY`: the gateway sends no events, so that one cannot be granted. */
function capturesContent(env: TelemetryVariables): boolean {
  const name = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
  const value = (env[name] ?? "false").toLowerCase();
  if (["true", "span_only", "span_and_event"].includes(value)) return true;
  if (["false", "no_content"].includes(value)) return false;
  throw new Error(`${name}: must be true, SPAN_ONLY, SPAN_AND_EVENT, false or NO_CONTENT`);
}
