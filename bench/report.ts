/**
 * Summarises the samples of all rounds into one row per case and target, and prints them as tables. A sample with more
 * than one answer in a hundred wrong or missing has no figures.
 */
import type { Case } from "./cases.ts";
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
        : medianOf(group, (sample) => {
            const baseline = beside(BASELINE, sample);
            return baseline === undefined ? undefined : read(sample) - read(baseline);
          });
    const peaks = group
      .filter(delivered)
      .map((sample) => sample.peakMb)
      .filter((peak) => peak !== undefined);
    return {
      caseName: first.caseName,
      target: first.target,
      callsPerSecond: medianOf(group, (sample) => sample.callsPerSecond),
      cpuUs: medianOf(group, (sample) => sample.cpuUs),
      childrenCpuUs: medianOf(group, (sample) => sample.childrenCpuUs),
      ratio: medianOf(group, own),
      ratioWithChildren: medianOf(group, withChildren),
      spread: spreadOf(group, own),
      addedP50Ms: added((sample) => sample.latencyMs.p50),
      addedP99Ms: added((sample) => sample.latencyMs.p99),
      residentMb: medianOf(group, (sample) => sample.residentMb),
      peakMb: peaks.length === 0 ? undefined : Math.max(...peaks),
      calls: sum(group, (sample) => sample.calls),
      intact: sum(group, (sample) => sample.intact),
      failed: sum(group, (sample) => sample.failed),
      fault: (group.find((sample) => sample.fault !== "")?.fault ?? "").replace(/\s+/g, " "),
    };
  });
}

const delivered = (sample: Sample): boolean => sample.intact >= 0.99 * (sample.calls + sample.failed);

/** The finite values of valid samples, ascending. */
const valuesOf = (samples: readonly Sample[], read: (sample: Sample) => number | undefined): number[] =>
  samples
    .filter(delivered)
    .map(read)
    .filter((value): value is number => value !== undefined && Number.isFinite(value))
    .sort((a, b) => a - b);

/** Undefined when there are no values. */
function medianOf(
  samples: readonly Sample[],
  read: (sample: Sample) => number | undefined,
): number | undefined {
  const values = valuesOf(samples, read);
  const upper = values[values.length >> 1];
  const lower = values[(values.length - 1) >> 1];
  return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2;
}

/** Undefined for fewer than two values. */
function spreadOf(
  samples: readonly Sample[],
  read: (sample: Sample) => number | undefined,
): number | undefined {
  const values = valuesOf(samples, read);
  return values.length < 2 ? undefined : ratio(values.at(-1), values[0]);
}

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

function table(rows: readonly Row[], markdown: boolean): string {
  const cells = [COLUMNS.map(([title]) => title), ...rows.map((row) => COLUMNS.map(([, read]) => read(row)))];
  if (markdown) {
    const rule = COLUMNS.map((_, column) => (column === 0 ? "---" : "---:"));
    return [cells[0] ?? [], rule, ...cells.slice(1)].map((line) => `| ${line.join(" | ")} |`).join("\n");
  }
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((line) => (line[column] ?? "").length)));
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
