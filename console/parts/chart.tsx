/**
 * A line over time, and behind it the line of the period before. uPlot draws it, and is loaded with the first chart. Colours are those of
 * the tokens, read when it is drawn.
 */
import { useEffect, useRef } from "preact/hooks";
import type UPlot from "uplot";
import { theme } from "../app/theme.ts";
import { format } from "../text/org-format.ts";

export interface Line {
  readonly name: string;
  /** A value for each time; null: none was measured. */
  readonly values: readonly (number | null)[];
  /** Of the period before: quiet, and behind the others. */
  readonly isBefore?: boolean;
}

interface ChartProps {
  /** What is shown, over which range, in which zone: also for those who do not see it. */
  readonly label: string;
  /** ISO 8601: where each value begins. */
  readonly times: readonly string[];
  readonly lines: readonly Line[];
  /** Text of a value, at the axis and in the legend. */
  readonly text: (value: number) => string;
}

const HEIGHT = 180;

export function Chart({ label, times, lines, text }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const zone = format.value.place.zone;
  const shown = theme.value;
  const key = JSON.stringify([times, lines.map(({ values }) => values), zone, shown]);
  useEffect(() => {
    const into = frame.current;
    if (into === null) return undefined;
    let plot: UPlot | undefined;
    let isGone = false;
    const watch = new ResizeObserver(() => plot?.setSize({ width: into.clientWidth, height: HEIGHT }));
    import("uplot").then(({ default: Plot }) => {
      if (isGone) return;
      plot = drawn(Plot, into, { times, lines, text, zone });
      watch.observe(into);
    });
    return () => {
      isGone = true;
      watch.disconnect();
      plot?.destroy();
    };
  }, [key]);
  return <div class="chart" ref={frame} role="img" aria-label={label} />;
}

interface Drawn extends Pick<ChartProps, "times" | "lines" | "text"> {
  readonly zone: string;
}

function drawn(Plot: typeof UPlot, into: HTMLElement, { times, lines, text, zone }: Drawn): UPlot {
  const style = getComputedStyle(into);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const probe = document.createElement("span");
  into.append(probe);
  /** `light-dark()` is resolved by the browser alone. */
  const resolved = (name: string) => {
    probe.style.color = colour(name);
    return getComputedStyle(probe).color;
  };
  const [accent, before, quiet, line] = ["accent", "before", "text-quiet", "line"].map(resolved) as [
    string,
    string,
    string,
    string,
  ];
  probe.remove();
  const axis: UPlot.Axis = {
    stroke: quiet,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    font: `12px ${style.fontFamily}`,
  };
  const options: UPlot.Options = {
    width: into.clientWidth,
    height: HEIGHT,
    tzDate: (seconds) => Plot.tzDate(new Date(seconds * 1000), zone),
    cursor: { y: false },
    scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [
      { ...axis, grid: { show: false } },
      { ...axis, size: 64, values: (_plot, values) => values.map((value) => text(value)) },
    ],
    series: [
      {},
      ...lines.map(
        ({ name, isBefore }): UPlot.Series => ({
          label: name,
          stroke: isBefore === true ? before : accent,
          width: isBefore === true ? 1 : 2,
          ...(isBefore === true && { dash: [4, 4] }),
          points: { show: false },
          value: (_plot, value) => (value === null || value === undefined ? "–" : text(value)),
        }),
      ),
    ],
  };
  const at = times.map((time) => Date.parse(time) / 1000);
  return new Plot(options, [at, ...lines.map(({ values }) => [...values])] as UPlot.AlignedData, into);
}
