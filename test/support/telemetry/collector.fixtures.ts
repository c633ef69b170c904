/** An OpenTelemetry collector on a real socket: keeps what is sent by OTLP over HTTP, as JSON or Protobuf. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { GatewayOptions } from "../gateway.ts";

type Value = string | number | boolean | Value[];

export interface Span {
  readonly name: string;
  /** 2: server, 3: client. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: the root. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly startMs: number;
  readonly endMs: number;
  /** 0: unset, 2: error. */
  readonly status: number;
  readonly attributes: Readonly<Record<string, Value>>;
}

export interface Point {
  readonly metric: string;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly count: number;
  readonly sum: number;
  readonly bounds: readonly number[];
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly Span[];
  /** Attributes of the process, of the latest export. */
  readonly resource: Readonly<Record<string, Value>>;
  /** Points of the latest export; counts are since the start. */
  readonly points: readonly Point[];
  /** Path, content type and body of every request. */
  readonly requests: readonly { readonly path: string; readonly type: string; readonly body: Buffer }[];
  /** Spans of the trace, the call's first. */
  trace(traceId: string): Span[];
  close(): Promise<void>;
}

/** Variables that point a gateway there; what waits is sent every 50 ms. */
export const toCollector = (url: string, env: GatewayOptions["env"] = {}): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_BSP_SCHEDULE_DELAY: "50",
  OTEL_METRIC_EXPORT_INTERVAL: "100",
  ...env,
});

/** @param answer status of each answer; never answers where it is 0 */
export async function startCollector(answer: () => number = () => 200): Promise<Collector> {
  const spans: Span[] = [];
  const requests: { path: string; type: string; body: Buffer }[] = [];
  let resource: Span["attributes"] = {};
  let points: Point[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const status = answer();
      const body = Buffer.concat(chunks);
      const type = req.headers["content-type"] ?? "";
      requests.push({ path: req.url ?? "", type, body });
      if (status === 200 && type === "application/json") {
        const { resourceSpans = [], resourceMetrics = [] } = JSON.parse(body.toString()) as Export;
        for (const group of [...resourceSpans, ...resourceMetrics])
          resource = attributesOf(group.resource.attributes);
        for (const { scopeSpans } of resourceSpans)
          for (const s of scopeSpans) spans.push(...s.spans.map(spanOf));
        for (const { scopeMetrics } of resourceMetrics)
          points = scopeMetrics.flatMap(({ metrics }) => metrics.flatMap(pointsOf));
      }
      if (status !== 0) res.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    get resource() {
      return resource;
    },
    get points() {
      return points;
    },
    trace: (traceId) => spans.filter((span) => span.traceId === traceId).sort((a, b) => a.kind - b.kind),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

// -- OTLP in JSON (opentelemetry-proto, "JSON Protobuf Encoding") --

interface AnyValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
}
type Pairs = readonly { readonly key: string; readonly value: AnyValue }[];

interface SentSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
  readonly attributes: Pairs;
}

interface SentMetric {
  readonly name: string;
  readonly histogram?: {
    readonly dataPoints: readonly {
      readonly attributes: Pairs;
      readonly count: number | string;
      readonly sum: number;
      readonly explicitBounds: readonly number[];
    }[];
  };
}

interface Export {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: Pairs };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly resource: { readonly attributes: Pairs };
    readonly scopeMetrics: readonly { readonly metrics: readonly SentMetric[] }[];
  }[];
}

const plainOf = ({ stringValue, intValue, doubleValue, boolValue, arrayValue }: AnyValue): Value =>
  stringValue ??
  (intValue === undefined ? undefined : Number(intValue)) ??
  doubleValue ??
  boolValue ??
  arrayValue?.values.map(plainOf) ??
  "";

const attributesOf = (pairs: Pairs) =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, plainOf(value)]));

const msOf = (nanos: string): number => Number(BigInt(nanos) / 1000n) / 1000;

const spanOf = (sent: SentSpan): Span => ({
  name: sent.name,
  kind: sent.kind,
  traceId: sent.traceId,
  spanId: sent.spanId,
  parentSpanId: sent.parentSpanId ?? "",
  traceState: sent.traceState ?? "",
  startMs: msOf(sent.startTimeUnixNano),
  endMs: msOf(sent.endTimeUnixNano),
  status: sent.status?.code ?? 0,
  attributes: attributesOf(sent.attributes),
});

const pointsOf = ({ name, histogram }: SentMetric): Point[] =>
  (histogram?.dataPoints ?? []).map(({ attributes, count, sum, explicitBounds }) => ({
    metric: name,
    attributes: attributesOf(attributes),
    count: Number(count),
    sum,
    bounds: explicitBounds,
  }));
