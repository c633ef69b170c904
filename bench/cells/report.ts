/** The tables of `npm run bench -- --cells`. */
import { median, spread } from "../figures.ts";
import { type Spent, total } from "./cost.ts";
import { REFERENCE } from "./groups.ts";
import type { CellsSample } from "./rounds.ts";

/** Goal for one cell's CPU a call, over that of a gateway without Redis. */
const GOAL_RATIO = 1.15;
const GOAL_P99_MS = 1;

export interface CellsRow {
  readonly caseName: string;
  readonly group: string;
  readonly callsPerSecond: number | undefined;
  /** Medians a call. */
  readonly spent: Spent;
  readonly othersUs: number | undefined;
  /** CPU of the gateways over the reference's: the median of the rounds' own ratios. */
  readonly ratio: number | undefined;
  /** The same of each pair. */
  readonly pairRatios: readonly (number | undefined)[];
  readonly spread: number | undefined;
  /** The same, of gateways, Redis and engine. */
  readonly totalRatio: number | undefined;
  /** Calls a second if all cores were the group's. */
  readonly onOwnCores: number | undefined;
  readonly added: readonly (number | undefined)[];
  readonly gatewaysMb: number | undefined;
  readonly redisMb: number | undefined;
  readonly fidelity: string;
}

/** @param cores of the machine */
export function summariseCells(samples: readonly CellsSample[], cores: number): CellsRow[] {
  const groups = Map.groupBy(samples, ({ caseName, group }) => `${caseName} ${group}`);
  return [...groups.values()].map((all) => rowOf(all as [CellsSample, ...CellsSample[]], samples, cores));
}

function rowOf(
  all: [CellsSample, ...CellsSample[]],
  samples: readonly CellsSample[],
  cores: number,
): CellsRow {
  const [{ caseName, group, cells }] = all;
  // An error is cheap to serve: a round with many has no figures.
  const valid = all.filter(delivered);
  const over = (
    read: (sample: CellsSample) => number | undefined,
    join: (a: number, b: number) => number,
    of = valid,
  ) =>
    of.map((sample) => {
      const isBeside = ({ pair, round }: CellsSample) => pair === sample.pair && round === sample.round;
      const other = samples.find(
        (one) => one.group === REFERENCE && one.caseName === caseName && isBeside(one) && delivered(one),
      );
      const [mine, theirs] = [read(sample), other && read(other)];
      return mine === undefined || theirs === undefined ? undefined : join(mine, theirs);
    });
  const ratios = over(({ spent }) => spent.gatewayUs, divided);
  const added = (read: (sample: CellsSample) => number | undefined) => median(over(read, (a, b) => a - b));
  const of = (read: (sample: CellsSample) => number) => median(valid.map(read));
  const intact = all.reduce((sum, sample) => sum + sample.intact, 0);
  const made = all.reduce((sum, sample) => sum + sample.calls + sample.failed, 0);
  return {
    caseName,
    group,
    callsPerSecond: of((sample) => sample.callsPerSecond),
    spent: mediansOf(valid),
    othersUs: of((sample) => sample.othersUs),
    ratio: median(ratios),
    spread: spread(ratios),
    pairRatios: [...Map.groupBy(valid, ({ pair }) => pair).values()].map((ofPair) =>
      median(over(({ spent }) => spent.gatewayUs, divided, ofPair)),
    ),
    totalRatio: median(over(({ spent }) => total(spent), divided)),
    onOwnCores: of(({ spent }) => 1e6 * Math.min(cells / spent.mainUs, cores / total(spent))),
    added: [
      added(({ aloneMs }) => aloneMs.p50),
      added(({ aloneMs }) => aloneMs.p99),
      added(({ ratedMs }) => ratedMs?.p50),
      added(({ ratedMs }) => ratedMs?.p99),
    ],
    gatewaysMb: of((sample) => sample.residentMb.gateways),
    redisMb: of((sample) => sample.residentMb.redis),
    fidelity:
      intact === made ? "exact" : `${intact} of ${made}: ${all.find((one) => one.fault !== "")?.fault}`,
  };
}

const delivered = (sample: CellsSample): boolean => sample.intact >= 0.99 * (sample.calls + sample.failed);

const divided = (a: number, b: number): number => a / b;

function mediansOf(samples: readonly CellsSample[]): Spent {
  const of = (name: keyof Spent) => median(samples.map(({ spent }) => spent[name])) ?? Number.NaN;
  return {
    gatewayUs: of("gatewayUs"),
    mainUs: of("mainUs"),
    redisUs: of("redisUs"),
    engineUs: of("engineUs"),
    exchanges: of("exchanges"),
    redisBytes: of("redisBytes"),
  };
}

const number = (value: number | undefined, digits: number): string =>
  value === undefined || Number.isNaN(value)
    ? "-"
    : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

const signed = (value: number | undefined): string =>
  value === undefined ? "-" : `${value < 0 ? "−" : "+"}${number(Math.abs(value), 2)}`;

const COLUMNS: readonly (readonly [string, (row: CellsRow) => string])[] = [
  ["gateways", (row) => row.group],
  ["calls/s", (row) => number(row.callsPerSecond, 0)],
  ["on own cores", (row) => number(row.onOwnCores, 0)],
  ["CPU µs/call", (row) => number(row.spent.gatewayUs, 1)],
  ["main thread", (row) => number(row.spent.mainUs, 1)],
  ["Redis", (row) => number(row.spent.redisUs, 1)],
  ["engine", (row) => number(row.spent.engineUs, 1)],
  ["generator, simulator", (row) => number(row.othersUs, 1)],
  ["× alone", (row) => number(row.ratio, 2)],
  ["spread", (row) => number(row.spread, 2)],
  ["× with Redis, engine", (row) => number(row.totalRatio, 2)],
  ["added p50/p99 ms", ({ added }) => `${signed(added[0])} / ${signed(added[1])}`],
  ["at a fixed rate", ({ added }) => `${signed(added[2])} / ${signed(added[3])}`],
  ["exchanges/call", (row) => number(row.spent.exchanges, 3)],
  ["bytes to Redis/call", (row) => number(row.spent.redisBytes, 0)],
  ["RSS MB", (row) => number(row.gatewaysMb, 0)],
  ["Redis MB", (row) => number(row.redisMb, 0)],
  ["fidelity", (row) => row.fidelity],
];

/** Markdown: one table for each case. */
export function cellsTables(rows: readonly CellsRow[]): string {
  return [...Map.groupBy(rows, ({ caseName }) => caseName)]
    .map(([caseName, ofCase]) =>
      [
        `### ${caseName}\n`,
        line(COLUMNS.map(([title]) => title)),
        line(COLUMNS.map((_, at) => (at === 0 ? "---" : "---:"))),
        ...ofCase.map((row) => line(COLUMNS.map(([, read]) => read(row)))),
      ].join("\n"),
    )
    .join("\n\n");
}

const line = (fields: readonly string[]): string => `| ${fields.join(" | ")} |`;

/** One line for each goal. */
export function cellsGoals(rows: readonly CellsRow[]): string[] {
  return rows
    .filter(({ group }) => group === "1 cell")
    .flatMap(({ caseName, ratio, pairRatios, added }) => [
      goal(`${caseName}, CPU a call of one cell over alone`, ratio, GOAL_RATIO),
      pairRatios.length > 1
        ? `${caseName}, of each pair: ${pairRatios.map((of) => number(of, 2)).join(", ")}`
        : "",
      goal(`${caseName}, added p99 at a fixed rate, ms`, added[3], GOAL_P99_MS),
    ])
    .filter((text) => text !== "");
}

function goal(what: string, value: number | undefined, most: number): string {
  if (value === undefined) return "";
  return `${what}: ${number(value, 2)}, goal at most ${number(most, 2)}: ${value <= most ? "met" : "missed"}`;
}
