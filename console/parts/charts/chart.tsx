/**
 * Lines over time, and behind them those of the period before. uPlot draws them, and is loaded with the first chart. What the pointer is
 * over stands above the lines; the same values are a table for the keyboard and for those who do not see the lines.
 */
import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type UPlot from "uplot";
import { theme } from "../../app/theme.ts";
import { type ChartTimes, chartTimes } from "../../text/days.ts";
import { format } from "../../text/org-format.ts";
import { Table } from "../table.tsx";
import { CHART_HEIGHT, plotOptions } from "./chart-plot.ts";
import { behindFirst, colourOf, type Line } from "./line.ts";

interface ChartProps {
  /** What is shown, over which range, in which zone: also for those who do not see it. */
  readonly label: string;
  /** ISO 8601: where each value begins. */
  readonly times: readonly string[];
  /** Days of UTC; otherwise hours, in the org's zone. */
  readonly isDaily?: boolean;
  /** The first is drawn over the others. */
  readonly lines: readonly Line[];
  /** Text of a value at the axis, in short. */
  readonly text: (value: number) => string;
  /** Text of a value above the lines and in the table; by default as at the axis. */
  readonly exact?: (value: number) => string;
}

const NOTHING = "–";

export function Chart({ label, times, isDaily = false, lines, text, exact = text }: ChartProps) {
  const place = useSignal<number | undefined>(undefined);
  const zone = isDaily ? "UTC" : format.value.place.zone;
  const words = chartTimes(zone, isDaily);
  const at = times.map((time) => Date.parse(time));
  return (
    <figure class="chart-frame">
      <Legend place={place} at={at} words={words} lines={lines} text={exact} />
      <Plot
        key={JSON.stringify([label, zone, lines.map(({ name, isBefore }) => [name, isBefore])])}
        label={label}
        at={at}
        words={words}
        zone={zone}
        lines={lines}
        text={text}
        onPlace={(next) => {
          place.value = next;
        }}
      />
      <AsTable label={label} at={at} words={words} lines={lines} text={exact} />
    </figure>
  );
}

interface LegendProps {
  readonly place: ReadonlySignal<number | undefined>;
  readonly at: readonly number[];
  readonly words: ChartTimes;
  readonly lines: readonly Line[];
  readonly text: (value: number) => string;
}

/** The lines' names, with their values where the pointer is. */
function Legend({ place, at, words, lines, text }: LegendProps) {
  const shown = place.value;
  const time = shown === undefined ? undefined : at[shown];
  return (
    <div class="chart-legend small" aria-hidden="true">
      {lines.map(({ name, values }, index) => {
        const value = shown === undefined ? undefined : values[shown];
        return (
          <span key={name}>
            <i class="chart-mark" data-line={colourOf(lines, index)} /> {name}
            {shown !== undefined && <b> {value == null ? NOTHING : text(value)}</b>}
          </span>
        );
      })}
      <span class="quiet">{time === undefined ? "" : words.item(time)}</span>
    </div>
  );
}

interface PlotProps extends Omit<LegendProps, "place"> {
  readonly label: string;
  readonly zone: string;
  readonly onPlace: (place: number | undefined) => void;
}

/** One canvas: new values are given to the plot that is there, and it is made anew only where the colours change. */
function Plot({ label, at, words, zone, lines, text, onPlace }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const latest = useRef({ data: dataOf(at, lines), text });
  latest.current = { data: dataOf(at, lines), text };
  const colours = useColours();
  useEffect(() => {
    const into = frame.current;
    if (into === null) return undefined;
    let isGone = false;
    const resize = () => plot.current?.setSize({ width: into.clientWidth, height: CHART_HEIGHT });
    const watch = new ResizeObserver(resize);
    import("uplot").then(({ default: Made }) => {
      if (isGone) return;
      const options = plotOptions(Made, into, {
        times: words,
        zone,
        lines: behindFirst(
          lines.map(({ name, isBefore = false }, place) => ({
            name,
            isBefore,
            colour: colourOf(lines, place),
          })),
        ),
        text: () => latest.current.text,
        onPlace,
      });
      plot.current = new Made(options, latest.current.data, into);
      watch.observe(into);
    });
    return () => {
      isGone = true;
      watch.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [colours]);
  const key = JSON.stringify([at, lines.map(({ values }) => values)]);
  useEffect(() => plot.current?.setData(latest.current.data), [key]);
  return (
    <div class="chart" ref={frame} role="img" aria-label={`${label}. The values are in the table below.`} />
  );
}

const dataOf = (at: readonly number[], lines: readonly Line[]): UPlot.AlignedData => [
  at.map((ms) => ms / 1000),
  ...behindFirst(lines).map(({ values }) => [...values]),
];

/** A text that changes when the colours do: with the theme, and with the system's. */
function useColours(): string {
  const [isDark, setDark] = useState(() => systemDark().matches);
  useEffect(() => {
    const system = systemDark();
    const follow = () => setDark(system.matches);
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  return `${theme.value} ${isDark}`;
}

const systemDark = () => matchMedia("(prefers-color-scheme: dark)");

/** Made when it is opened: it may have a thousand rows. */
function AsTable({ label, at, words, lines, text }: Omit<LegendProps, "place"> & { readonly label: string }) {
  const [isOpen, setOpen] = useState(false);
  const columns = [
    { head: "Time", cell: (row: number) => words.item(at[row] ?? 0) },
    ...lines.map(({ name, values }) => ({
      head: name,
      isNumber: true,
      cell: (row: number) => {
        const value = values[row];
        return value == null ? NOTHING : text(value);
      },
    })),
  ];
  return (
    <details class="chart-table small" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && <Table label={label} columns={columns} rows={at.map((_, row) => row)} keyOf={String} />}
    </details>
  );
}
