/** What a gateway measures, as data: what `/metrics` writes, and what a supervisor adds up over its cells. */

/**
 * How the values of several gateways make one. `sum`: each has a part. `max` and `min`: all see the same thing, or the worst
 * counts. `none`: they make none, as times of start.
 */
export type Over = "sum" | "min" | "max" | "average" | "none";

export interface MetricSample {
  /** The family's name; in a histogram with `_bucket`, `_sum` or `_count`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  /** Values of `counter` and `histogram` only grow while their process lives. */
  readonly type: "counter" | "gauge" | "histogram";
  readonly over: Over;
  readonly samples: readonly MetricSample[];
}

/** What one of several gateways tells of itself. */
export interface GatewayFigures {
  /** Name of the cell. */
  readonly cell: string;
  readonly families: readonly MetricFamily[];
}

/** As HTTP carries it. */
export interface MetricsText {
  readonly contentType: string;
  readonly body: string;
}

/** Prometheus' text format. */
export const metricsText = (families: Iterable<MetricFamily>): MetricsText => ({
  contentType: "text/plain; version=0.0.4; charset=utf-8",
  body: `${Array.from(families, familyText).join("\n\n")}\n`,
});

/** The same samples with these labels before their own. */
export const labelled = (
  families: readonly MetricFamily[],
  labels: Readonly<Record<string, string>>,
): readonly MetricFamily[] =>
  families.map((family) => ({
    ...family,
    samples: family.samples.map((sample) => ({ ...sample, labels: { ...labels, ...sample.labels } })),
  }));

const familyText = ({ name, help, type, samples }: MetricFamily): string =>
  [
    `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
    `# TYPE ${name} ${type}`,
    ...samples.map((sample) => `${sample.name}${labelText(sample.labels)} ${valueText(sample.value)}`),
  ].join("\n");

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escaped = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');

const valueText = (value: number): string =>
  Math.abs(value) === Number.POSITIVE_INFINITY ? (value > 0 ? "+Inf" : "-Inf") : String(value);
