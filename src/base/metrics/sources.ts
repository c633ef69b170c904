/** What a room tells `/metrics` of itself, as functions that are read at each scrape. */
import type { Over } from "./family.ts";

/** Counts for one set of labels. */
interface HistogramSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** One per bound, not cumulative, and one for values above all bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** Read at each scrape. Counters only grow. */
export interface MetricSources {
  readonly gauges: Readonly<
    Record<
      string,
      {
        readonly help: string;
        /** How those of several cells make one; absent: their sum. */
        readonly over?: Over;
        read(): number;
      }
    >
  >;
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

/** Those of one room. */
export type RoomMetrics = Partial<MetricSources>;

/** A gauge or counter; over several cells, a gauge's sum counts. */
export const measured = (help: string, read: () => number) => ({ help, read });
/** A gauge of which all cells see the same, or the greatest counts. */
export const greatest = (help: string, read: () => number) => ({ help, over: "max" as const, read });
/** As `greatest`, of which the least counts. */
export const least = (help: string, read: () => number) => ({ help, over: "min" as const, read });

/** Those of all rooms, in their order. */
export const allMetrics = (rooms: readonly RoomMetrics[]): MetricSources => ({
  gauges: Object.assign({}, ...rooms.map(({ gauges }) => gauges)),
  counters: Object.assign({}, ...rooms.map(({ counters }) => counters)),
  histograms: Object.assign({}, ...rooms.map(({ histograms }) => histograms)),
});
