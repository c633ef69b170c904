/** What uPlot is told: axes, lines, colours of the tokens. The part around it is `chart.tsx`. */
import type UPlot from "uplot";
import type { ChartTimes } from "../../text/days.ts";
import { LINE_COLOURS } from "./line.ts";

export const CHART_HEIGHT = 200;
/** Below this width there is little room for the axis. */
const NARROW = 480;
const PADDING = 10;

interface PlottedLine {
  readonly name: string;
  readonly isBefore: boolean;
  /** Name of a token. */
  readonly colour: string;
}

export interface Plotted {
  readonly times: ChartTimes;
  /** IANA name. */
  readonly zone: string;
  /** Those behind the others come first. */
  readonly lines: readonly PlottedLine[];
  /** Text of a value at the axis, as the chart has it now. */
  readonly text: () => (value: number) => string;
  /** The place of the item under the pointer; undefined: none. */
  readonly onPlace: (place: number | undefined) => void;
}

/** Colours of tokens as the canvas needs them: `light-dark()` is resolved by the browser alone. */
function coloursIn(into: HTMLElement): (name: string) => string {
  const probe = document.createElement("span");
  into.append(probe);
  const found = new Map<string, string>();
  for (const name of [...LINE_COLOURS, "before", "text-quiet", "line"]) {
    probe.style.color = `var(--${name})`;
    found.set(name, getComputedStyle(probe).color);
  }
  probe.remove();
  return (name) => found.get(name) ?? "";
}

/** A value that has none beside it is no line: it is drawn as a point. */
function alone(plot: UPlot, place: number): number[] {
  const values = plot.data[place] ?? [];
  const points: number[] = [];
  for (let at = 0; at < values.length; at++) {
    if (values[at] != null && values[at - 1] == null && values[at + 1] == null) points.push(at);
  }
  return points;
}

/** As wide as the longest text: none is clipped. */
function sizeOf(plot: UPlot, values: string[] | null): number {
  const { ctx } = plot;
  ctx.save();
  ctx.font = plot.axes[1]?.font?.[0] ?? ctx.font;
  const widest = Math.max(0, ...(values ?? []).map((value) => ctx.measureText(value).width));
  ctx.restore();
  return Math.ceil(widest / devicePixelRatio) + PADDING + 4;
}

/** Texts at the axis: of values that read alike, the first alone has its text. */
function told(values: readonly number[], text: (value: number) => string): string[] {
  const texts = values.map(text);
  return texts.map((each, place) => (each === texts[place - 1] ? "" : each));
}

export function plotOptions(
  Plot: typeof UPlot,
  into: HTMLElement,
  { times, zone, lines, text, onPlace }: Plotted,
): UPlot.Options {
  const colour = coloursIn(into);
  const { fontFamily } = getComputedStyle(into);
  const axis: UPlot.Axis = {
    stroke: colour("text-quiet"),
    grid: { stroke: colour("line"), width: 1 },
    ticks: { show: false },
    font: `12px ${fontFamily}`,
    gap: PADDING,
  };
  const isNarrow = into.clientWidth < NARROW;
  return {
    width: into.clientWidth,
    height: CHART_HEIGHT,
    padding: [PADDING, PADDING * 2, 0, PADDING / 2],
    tzDate: (seconds) => Plot.tzDate(new Date(seconds * 1000), zone),
    cursor: { y: false, drag: { x: false, y: false, setScale: false } },
    legend: { show: false },
    scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.08 : 1] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 30,
        gap: 8,
        space: isNarrow ? 56 : 72,
        values: (_plot, splits) => splits.map((seconds) => times.tick(seconds * 1000)),
      },
      {
        ...axis,
        space: isNarrow ? 44 : 36,
        size: sizeOf,
        values: (_plot, values) => told(values, text()),
      },
    ],
    series: [
      {},
      ...lines.map(
        ({ name, isBefore, colour: token }): UPlot.Series => ({
          label: name,
          stroke: colour(token),
          width: isBefore ? 1.5 : 2,
          ...(isBefore && { dash: [4, 4] }),
          points: { show: true, size: 5, filter: (plot, series) => alone(plot, series) },
        }),
      ),
    ],
    hooks: { setCursor: [(plot) => onPlace(plot.cursor.idx ?? undefined)] },
  };
}
