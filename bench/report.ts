/**
 * Summarises the samples of all rounds into one row per case and target, and prints them as tables. A sample with more
 * than one answer in a hundred wrong or missing has no figures.
 */
import type { Case } from "./cases.ts";
import { median, noise, spread } from "./figures.ts";
import type { Percentiles } from "./load-job.ts";
import type { FirstSecond } from "./pauses.ts";
import type { RateFigure } from "./rates.ts";
import type { Sample } from "./rounds.ts";

/** Medians over the rounds. Undefined: not measurable, or the pipe did not run. */
export interface Row {
  readonly caseName: string;
  readonly target: string;
  readonly callsPerSecond: number | undefined;
  readonly cpuUs: number | undefined;
  readonly childrenCpuUs: number | undefined;
  /** CPU per call of the process relative to the pipe's: the median of the rounds' own ratios. */
  readonly ratio: number | undefined;
  /** The same, including the process's children. */
  readonly ratioWithChildren: number | undefined;
  /** The highest ratio of a round over the lowest: how much the rounds differ. */
  readonly spread: number | undefined;
  /** How far `ratio` may be off by chance, relative to it. */
  readonly noise: number;
  readonly addedP50Ms: number | undefined;
  readonly addedP99Ms: number | undefined;
  readonly residentMb: number | undefined;
  /** Maximum of all rounds. */
  readonly peakMb: number | undefined;
  readonly calls: number;
  readonly intact: number;
  readonly failed: number;
  readonly fault: string;
}

const YARDSTICK = "pipe";
const BASELINE = "direct";

/** Rows in the order in which cases and targets first appear. */
export function summarise(samples: readonly Sample[]): Row[] {
  const groups = Map.groupBy(samples, (sample) => `${sample.caseName} ${sample.target}`);
  return [...groups.values()].map((group) => {
    const [first] = group as [Sample, ...Sample[]];
    const valid = group.filter(delivered);
    const beside = (target: string, sample: Sample) =>
      samples.find(
        (other) =>
          other.target === target &&
          other.caseName === sample.caseName &&
          other.round === sample.round &&
          delivered(other),
      );
    const over = (read: (sample: Sample) => number | undefined) => (sample: Sample) =>
      ratio(read(sample), beside(YARDSTICK, sample)?.cpuUs);
    const own = over((sample) => sample.cpuUs);
    const withChildren = over(
      (sample) => (sample.cpuUs ?? Number.NaN) + (sample.childrenCpuUs ?? Number.NaN),
    );
    const added = (read: (sample: Sample) => number) =>
      first.target === BASELINE
        ? undefined
        : median(
            valid.map((sample) => {
              const baseline = beside(BASELINE, sample);
              return baseline === undefined ? undefined : read(sample) - read(baseline);
            }),
          );
    const peaks = valid.map((sample) => sample.peakMb).filter((peak) => peak !== undefined);
    return {
      caseName: first.caseName,
      target: first.target,
      callsPerSecond: median(valid.map((sample) => sample.callsPerSecond)),
      cpuUs: median(valid.map((sample) => sample.cpuUs)),
      childrenCpuUs: median(valid.map((sample) => sample.childrenCpuUs)),
      ratio: median(valid.map(own)),
      ratioWithChildren: median(valid.map(withChildren)),
      spread: spread(valid.map(own)),
      noise: noise(valid.map(own)),
      addedP50Ms: added((sample) => sample.latencyMs.p50),
      addedP99Ms: added((sample) => sample.latencyMs.p99),
      residentMb: median(valid.map((sample) => sample.residentMb)),
      peakMb: peaks.length === 0 ? undefined : Math.max(...peaks),
      calls: sum(group, (sample) => sample.calls),
      intact: sum(group, (sample) => sample.intact),
      failed: sum(group, (sample) => sample.failed),
      fault: (group.find((sample) => sample.fault !== "")?.fault ?? "").replace(/\s+/g, " "),
    };
  });
}

const delivered = (sample: Sample): boolean => sample.intact >= 0.99 * (sample.calls + sample.failed);

const sum = (samples: readonly Sample[], read: (sample: Sample) => number): number =>
  samples.reduce((total, sample) => total + read(sample), 0);

const ratio = (value: number | undefined, base: number | undefined): number | undefined =>
  value === undefined || base === undefined ? undefined : value / base;

const number = (value: number | undefined, digits: number): string =>
  value === undefined
    ? "-"
    : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

const signed = (value: number | undefined): string =>
  value === undefined ? "-" : `${value < 0 ? "−" : "+"}${number(Math.abs(value), 2)}`;

/** Answers delivered exactly, of all calls made. */
function fidelity(row: Row): string {
  const made = row.calls + row.failed;
  if (made === 0) return "no answer";
  return row.intact === made ? "exact" : `${number(row.intact, 0)} of ${number(made, 0)}`;
}

const COLUMNS: readonly (readonly [string, (row: Row) => string])[] = [
  ["target", (row) => row.target],
  ["calls/s", (row) => number(row.callsPerSecond, 0)],
  ["CPU µs/call", (row) => number(row.cpuUs, 1)],
  ["children µs/call", (row) => number(row.childrenCpuUs, 1)],
  ["× pipe", (row) => number(row.ratio, 2)],
  ["spread", (row) => number(row.spread, 2)],
  ["× with children", (row) => number(row.ratioWithChildren, 2)],
  ["added p50 ms", (row) => signed(row.addedP50Ms)],
  ["added p99 ms", (row) => signed(row.addedP99Ms)],
  ["RSS MB", (row) => number(row.residentMb, 0)],
  ["peak MB", (row) => number(row.peakMb, 0)],
  ["fidelity", fidelity],
];

/** Every sample as a line of comma-separated values, for plotting; the first line has the names. */
export function csv(samples: readonly Sample[]): string {
  const columns: readonly (readonly [string, (sample: Sample) => string | number | undefined])[] = [
    ["round", (sample) => sample.round],
    ["case", (sample) => sample.caseName],
    ["target", (sample) => sample.target],
    ["calls", (sample) => sample.calls],
    ["intact", (sample) => sample.intact],
    ["failed", (sample) => sample.failed],
    ["calls_per_second", (sample) => sample.callsPerSecond],
    ["cpu_us", (sample) => sample.cpuUs],
    ["children_cpu_us", (sample) => sample.childrenCpuUs],
    ["resident_mb", (sample) => sample.residentMb],
    ["peak_mb", (sample) => sample.peakMb],
    ...percentileColumns("latency_ms", (sample) => sample.latencyMs),
    ...percentileColumns("loaded_ms", (sample) => sample.loadedMs),
  ];
  const lines = samples.map((sample) => columns.map(([, read]) => read(sample) ?? "").join());
  return `${[columns.map(([name]) => name).join(), ...lines].join("\n")}\n`;
}

const percentileColumns = (name: string, read: (sample: Sample) => Percentiles) =>
  (["p50", "p90", "p99", "p999"] as const).map(
    (at) => [`${name}_${at}`, (sample: Sample) => read(sample)[at]] as const,
  );

/** One table for each case, aligned for a terminal or as Markdown. */
export function tables(cases: readonly Case[], rows: readonly Row[], markdown: boolean): string {
  return cases
    .map((benchCase) => {
      const own = rows.filter((row) => row.caseName === benchCase.name);
      const head = `${benchCase.name}: ${benchCase.about}, ${benchCase.connections} in flight`;
      return `${markdown ? `### ${head}\n` : head}\n${table(own, markdown)}`;
    })
    .join("\n\n");
}

const table = (rows: readonly Row[], markdown: boolean): string =>
  grid(
    [COLUMNS.map(([title]) => title), ...rows.map((row) => COLUMNS.map(([, read]) => read(row)))],
    markdown,
  );

/** Latency at fixed rates, or an empty text where none was measured. */
export function ratesTable(figures: readonly RateFigure[], markdown: boolean): string {
  if (figures.length === 0) return "";
  const title = "latency at a fixed rate, from the time at which a call was due (ms)";
  const head = ["case", "target", "of capacity", "offered/s", "answered/s", "p50", "p90", "p99", "p99.9"];
  const cells = figures.map(({ caseName, target, share, offered, answered, latencyMs, addedMs }) => [
    caseName,
    target,
    `${number(share * 100, 0)} %`,
    number(offered, 0),
    number(answered, 0),
    ...[latencyMs.p50, latencyMs.p90, latencyMs.p99, latencyMs.p999].map((ms) => number(ms, 2)),
    signed(addedMs?.p50),
    signed(addedMs?.p99),
  ]);
  const rows = [[...head, "added p50", "added p99"], ...cells];
  return `${markdown ? `### ${title}\n` : title}\n${grid(rows, markdown)}`;
}

/** The first second after a start and after a pause, over the median of the rounds. */
export function pauseLines(
  figures: readonly FirstSecond[],
  rows: readonly Row[],
  idleSeconds: number,
): string[] {
  return figures.map(({ caseName, target, after, cpuUs }) => {
    const steady = rows.find((row) => row.caseName === caseName && row.target === target)?.cpuUs;
    const when = after === "start" ? "a start" : `${number(idleSeconds, 0)} s of idle`;
    const over = ratio(cpuUs, steady);
    const figure = `${number(cpuUs, 0)} µs a call, ${number(over, 2)} of its median`;
    return `${target} ${caseName}, first second after ${when}: ${figure}`;
  });
}

/** Lines of cells, the first the titles, aligned for a terminal or as Markdown. */
function grid(cells: readonly (readonly string[])[], markdown: boolean): string {
  const titles = cells[0] ?? [];
  if (markdown) {
    const rule = titles.map((_, column) => (column === 0 ? "---" : "---:"));
    return [titles, rule, ...cells.slice(1)].map((line) => `| ${line.join(" | ")} |`).join("\n");
  }
  const widths = titles.map((_, column) => Math.max(...cells.map((line) => (line[column] ?? "").length)));
  return cells
    .map((line) =>
      line
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join("  "),
    )
    .join("\n");
}

/** Weir's results against its goals: one line per goal that could be measured, and whether all are met. */
export function goals(cases: readonly Case[], rows: readonly Row[]): string[] {
  return cases.flatMap((benchCase) => {
    const row = rows.find(
      (candidate) => candidate.caseName === benchCase.name && candidate.target === "weir",
    );
    if (row === undefined) return [];
    return [
      goal(`weir ${benchCase.name}, CPU a call over the pipe's`, row.ratio, benchCase.goalRatio, "×", 2),
      goal(`weir ${benchCase.name}, resident memory`, row.residentMb, benchCase.goalResidentMb, " MB", 0),
    ].filter((line) => line !== "");
  });
}

function goal(
  what: string,
  value: number | undefined,
  bound: number | undefined,
  unit: string,
  digits: number,
): string {
  if (bound === undefined || value === undefined) return "";
  const verdict = value <= bound ? "met" : `missed by ${number(value - bound, digits)}${unit}`;
  return `${what}: ${number(value, digits)}${unit}, goal ${number(bound, digits)}${unit}: ${verdict}`;
}
