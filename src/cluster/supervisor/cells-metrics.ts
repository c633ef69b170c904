/** The metrics of all cells, read over their channels. A cell that does not answer in time is left out, and said to be. */
import { type MetricFamily, type MetricsText, metricsText } from "../../base/metrics/family.ts";
import { CellFigures } from "./cell-figures.ts";
import type { CellProcess } from "./cell-process.ts";

/** A cell as it is read. */
export type MeasuredCell = Pick<CellProcess, "number" | "restarts" | "figures">;

/** Scrapes wait ten seconds unless they are told otherwise. */
const WITHIN_MS = 2000;

export class CellsMetrics {
  readonly #cells: () => readonly MeasuredCell[];
  readonly #nameOf: (cell: number) => string;
  readonly #withinMs: number;
  readonly #figures = new CellFigures();
  #reading: Promise<readonly number[]> | undefined;

  /** @param nameOf name of a cell that has not told its own yet @param withinMs how long a scrape waits for a cell */
  constructor(cells: () => readonly MeasuredCell[], nameOf: (cell: number) => string, withinMs = WITHIN_MS) {
    this.#cells = cells;
    this.#nameOf = nameOf;
    this.#withinMs = withinMs;
  }

  /** All series of each cell, with its name as label `cell`. */
  async each(): Promise<MetricsText> {
    const told = await this.#read();
    return metricsText([...this.#own(told), ...this.#figures.each(told)]);
  }

  /** One series over all cells for each of a gateway's, without the label. */
  async sum(): Promise<MetricsText> {
    const told = await this.#read();
    return metricsText([...this.#own(told).map(total), ...this.#figures.sum(told)]);
  }

  /** The process of a cell has ended. */
  ended(cell: number): void {
    this.#figures.ended(cell);
  }

  /** Asks all cells at once; scrapes that come meanwhile wait for the same answers. @returns numbers of the cells that told */
  #read(): Promise<readonly number[]> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<readonly number[]> {
    const told = await Promise.all(
      this.#cells().map(async (cell) => {
        try {
          this.#figures.told(cell.number, await cell.figures(this.#withinMs));
          return cell.number;
        } catch {
          return undefined;
        }
      }),
    );
    return told.filter((cell) => cell !== undefined);
  }

  /** What the supervisor itself knows of its cells. */
  #own(told: readonly number[]): readonly MetricFamily[] {
    type Told = Pick<MetricFamily, "name" | "type" | "help">;
    const of = (family: Told, read: (cell: MeasuredCell) => number): MetricFamily => {
      const samples = this.#cells().map((cell) => {
        const labels = { cell: this.#figures.nameOf(cell.number) ?? this.#nameOf(cell.number) };
        return { name: family.name, labels, value: read(cell) };
      });
      return { ...family, over: "sum", samples };
    };
    const up = "1 where the cell has told its metrics to this scrape.";
    const restarts = "Starts of the cell's process because it had died.";
    return [
      of({ name: "weir_cell_up", type: "gauge", help: up }, ({ number }) => (told.includes(number) ? 1 : 0)),
      of({ name: "weir_cell_restarts_total", type: "counter", help: restarts }, (cell) => cell.restarts),
    ];
  }
}

/** One sample for those of all cells. */
const total = (family: MetricFamily): MetricFamily => ({
  ...family,
  samples: [
    { name: family.name, labels: {}, value: family.samples.reduce((sum, { value }) => sum + value, 0) },
  ],
});
