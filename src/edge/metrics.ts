/**
 * Prometheus metrics. Nothing is observed on the hot path: the parts keep plain counters, and a scrape reads them.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** Read at each scrape. Counters only grow. */
export interface MetricSources {
  readonly gauges: Readonly<Record<string, { readonly help: string; read(): number }>>;
  readonly counters: Readonly<
    Record<
      string,
      { readonly help: string; readonly label?: string; read(): number | Readonly<Record<string, number>> }
    >
  >;
}

export function openMetrics(sources: MetricSources): () => Promise<{ contentType: string; body: string }> {
  const registry = new Registry();
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
  return async () => ({ contentType: registry.contentType, body: await registry.metrics() });
}
