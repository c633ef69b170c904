/**
 * Prometheus metrics. The hot path only updates plain counters; a scrape reads them.
 */
import { collectDefaultMetrics, type MetricObjectWithValues, type MetricValue, Registry } from "prom-client";
import {
  labelled,
  type MetricFamily,
  type MetricsText,
  metricsText,
  type Over,
} from "../base/metrics/family.ts";
import type { MetricSources } from "../base/metrics/sources.ts";

export interface Metrics {
  /** Without the labels of all series. */
  families(): Promise<readonly MetricFamily[]>;
  text(): Promise<MetricsText>;
}

/**
 * @param labels of all series: which of several gateways they are of
 * @param withProcess with those of the process, which the library watches until its end
 */
export function openMetrics(
  sources: MetricSources,
  labels: Readonly<Record<string, string>> = {},
  withProcess = true,
): Metrics {
  const registry = new Registry();
  if (withProcess) collectDefaultMetrics({ register: registry });
  const families = async () => [
    ...(await registry.getMetricsAsJSON()).map(ofProcess),
    ...Object.entries(sources.gauges).map(gaugeFamily),
    ...Object.entries(sources.counters).map(counterFamily),
    ...Object.entries(sources.histograms).map(histogramFamily),
  ];
  return { families, text: async () => metricsText(labelled(await families(), labels)) };
}

/** The library's words for how one value is made of those of several processes, and ours. Its `first` is for values that are equal. */
const OVER: Readonly<Record<string, Over>> = {
  sum: "sum",
  min: "min",
  max: "max",
  average: "average",
  omit: "none",
  first: "max",
};

/** One of the library's: of the process and of Node. */
function ofProcess(found: MetricObjectWithValues<MetricValue<string>>): MetricFamily {
  const { name, help, values } = found;
  // The library's types have a number for the type; what it gives is the word.
  const type = String(found.type) as MetricFamily["type"];
  return {
    name,
    help,
    type,
    over: OVER[found.aggregator] ?? "none",
    samples: values.map(({ metricName = name, labels, value }: NamedValue) => ({
      name: metricName,
      labels: Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, String(text)])),
      value,
    })),
  };
}

/** Samples of a histogram have names of their own. */
type NamedValue = MetricValue<string> & { readonly metricName?: string };

/** A source of one kind, with its name. */
type Source<K extends keyof MetricSources> = [name: string, source: MetricSources[K][string]];

const gaugeFamily = ([name, { help, over = "sum", read }]: Source<"gauges">): MetricFamily => ({
  name,
  help,
  type: "gauge",
  over,
  samples: [{ name, labels: {}, value: read() }],
});

function counterFamily([name, { help, label = "kind", read }]: Source<"counters">): MetricFamily {
  const value = read();
  const counts: [Record<string, string>, number][] =
    typeof value === "number"
      ? [[{}, value]]
      : Object.entries(value).map(([key, count]) => [{ [label]: key }, count]);
  return {
    name,
    help,
    type: "counter",
    over: "sum",
    samples: counts.map(([labels, count]) => ({ name, labels, value: count })),
  };
}

/** The library's own histogram cannot be set from counts: it must observe each call, and each observation hashes its labels. */
function histogramFamily([name, { help, bounds, read }]: Source<"histograms">): MetricFamily {
  const samples = Array.from(read()).flatMap(({ labels, counts, sum }) => {
    let total = 0;
    const buckets = counts.map((count, i) => {
      total += count;
      const le = String(bounds[i] ?? "+Inf");
      return { name: `${name}_bucket`, labels: { ...labels, le }, value: total };
    });
    return [
      ...buckets,
      { name: `${name}_sum`, labels, value: sum },
      { name: `${name}_count`, labels, value: total },
    ];
  });
  return { name, help, type: "histogram", over: "sum", samples };
}
