/** What the chart of the overview can show: the figures of an item of a series as lines. Pure. */
import type { Operations } from "../../api/operations.ts";
import type { Line } from "../../parts/charts/line.ts";
import type { Format } from "../../text/format.ts";

export type Usage = Operations["getUsage"]["answer"];
type Item = Usage["series"][number];

interface Drawn {
  readonly name: string;
  readonly of: (item: Item) => number | null;
}

interface Metric {
  readonly title: string;
  /** The first has the period before behind it. */
  readonly drawn: readonly [Drawn, ...Drawn[]];
  /** Short, for the axis. */
  readonly text: (value: number, format: Format) => string;
  /** As it was counted. */
  readonly exact: (value: number, format: Format) => string;
}

const count = (value: number, format: Format) => format.count(value);
const shortCount = (value: number, format: Format) => format.shortCount(value);
const duration = (value: number, format: Format) => format.duration(value);

export const METRICS = {
  spend: {
    title: "Spend",
    drawn: [{ name: "Spend", of: (item) => item.cost_micro }],
    text: (value, format) => format.shortMoney(value),
    exact: (value, format) => format.money(Math.round(value)),
  },
  calls: {
    title: "Calls",
    drawn: [{ name: "Calls", of: (item) => item.requests }],
    text: shortCount,
    exact: count,
  },
  errors: {
    title: "Errors",
    drawn: [{ name: "Errors", of: (item) => item.errors }],
    text: shortCount,
    exact: count,
  },
  tokens: {
    title: "Tokens",
    drawn: [
      { name: "Input and output", of: tokensOf },
      { name: "Output", of: (item) => item.output_tokens },
    ],
    text: shortCount,
    exact: count,
  },
  first: {
    title: "First token",
    drawn: [
      { name: "Median", of: (item) => item.latency.ttft_p50_ms },
      { name: "95 of 100 within", of: (item) => item.latency.ttft_p95_ms },
    ],
    text: duration,
    exact: duration,
  },
  whole: {
    title: "Whole call",
    drawn: [
      { name: "Median", of: (item) => item.latency.duration_p50_ms },
      { name: "95 of 100 within", of: (item) => item.latency.duration_p95_ms },
    ],
    text: duration,
    exact: duration,
  },
} as const satisfies Record<string, Metric>;
export type MetricName = keyof typeof METRICS;

export const METRIC_TABS = Object.entries(METRICS).map(([name, { title }]) => [name, title] as const);

export const metricOf = (query: URLSearchParams): MetricName => {
  const wanted = query.get("show") ?? "";
  return Object.hasOwn(METRICS, wanted) ? (wanted as MetricName) : "spend";
};

export function tokensOf({ input_tokens: read, output_tokens: written }: Usage["totals"]): number {
  return read + written;
}

/** The lines of a metric, with the first one's of the period before. */
export function linesOf(name: MetricName, { series, compare }: Pick<Usage, "series" | "compare">): Line[] {
  const metric: Metric = METRICS[name];
  const [first] = metric.drawn;
  const lines = metric.drawn.map((drawn): Line => ({ name: drawn.name, values: series.map(drawn.of) }));
  if (compare === undefined) return lines;
  const before = series.map((_, place) => {
    const item = compare.series[place];
    return item === undefined ? null : first.of(item);
  });
  const title = metric.drawn.length === 1 ? "Period before" : `${first.name}, period before`;
  return [...lines, { name: title, values: before, isBefore: true }];
}
