/**
 * Prometheus metrics. The hot path only updates plain counters; a scrape reads them.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** Counts for one set of labels. */
interface HistogramSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** One per bound, not cumulative, and one for values above all bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** Read at each scrape. Counters only grow. */
export interface MetricSources {
  readonly gauges: Readonly<Record<string, { readonly help: string; read(): number }>>;
  readonly counters: Readonly<
    Record<
      string,
      { readonly help: string; readonly label?: string; read(): number | Readonly<Record<string, number>> }
    >
  >;
  readonly histograms: Readonly<
    Record<
      string,
      { readonly help: string; readonly bounds: readonly number[]; read(): Iterable<HistogramSeries> }
    >
  >;
}

/** @param labels of all series: which of several gateways they are of */
export function openMetrics(
  sources: MetricSources,
  labels: Readonly<Record<string, string>> = {},
): () => Promise<{ contentType: string; body: string }> {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  collectDefaultMetrics({ register: registry });
  for (const [name, { help, read }] of Object.entries(sources.gauges)) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  }
  for (const [name, { help, label, read }] of Object.entries(sources.counters)) {
    new Counter({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      collect() {
        this.reset();
        const value = read();
        if (typeof value === "number") this.inc(value);
        else for (const [key, count] of Object.entries(value)) this.inc({ [label ?? "kind"]: key }, count);
      },
    });
  }
  const histograms = Object.entries(sources.histograms);
  return async () => ({
    contentType: registry.contentType,
    body: `${await registry.metrics()}\n${histograms.map(([name, source]) => histogramText(name, source, labels)).join("\n")}`,
  });
}

/**
 * A histogram in Prometheus' text format. The library's own histogram cannot be set from counts: it must observe each
 * call, and each observation hashes its labels.
 */
function histogramText(
  name: string,
  { help, bounds, read }: MetricSources["histograms"][string],
  ofAll: Readonly<Record<string, string>>,
): string {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`];
  for (const { labels, counts, sum } of read()) {
    const pairs = Object.entries({ ...labels, ...ofAll }).map(
      ([label, value]) => `${label}=${JSON.stringify(value)}`,
    );
    const line = (suffix: string, more: readonly string[], value: number) =>
      lines.push(`${name}_${suffix}{${[...pairs, ...more].join(",")}} ${value}`);
    let total = 0;
    for (const [i, count] of counts.entries()) {
      total += count;
      line("bucket", [`le="${bounds[i] ?? "+Inf"}"`], total);
    }
    line("sum", [], sum);
    line("count", [], total);
  }
  return `${lines.join("\n")}\n`;
}
