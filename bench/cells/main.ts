/** `npm run bench -- --cells`: what it costs a gateway to share its installation with others through Redis. */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CASES } from "../cases.ts";
import { Driver } from "../driver.ts";
import { LoadClient } from "../load-client.ts";
import { withProcesses } from "../processes.ts";
import { startSimulator } from "../simulator.ts";
import { type TargetContext, Unavailable } from "../targets/target.ts";
import type { Spent } from "./cost.ts";
import { type Group, startAlone, startCells, startOneCell } from "./groups.ts";
import { cellsGoals, cellsTables, summariseCells } from "./report.ts";
import { type CellsOptions, CellsRounds, type CellsSample } from "./rounds.ts";

export const CELLS_USAGE = `npm run bench -- --cells [options]
  one gateway without Redis, one cell with it, two cells: CPU a call, calls a second, latency, memory

  --pairs N       times that all gateways are started anew; which is started and warmed first takes turns (default 1)
  --rounds N      of each pair (default 5)
  --seconds S     load in a round, for each case and group (default 4)
  --warm-up S     load before the first round (default 10)
  --cases A,B     (default json-1k,burst-64,keys-1k)
  --cells N       of the group of several; 1: without that group (default 2)
  --quick         one short round: shows that everything works
  --json FILE     writes every figure of every round`;

export interface CellsContext {
  readonly repoDir: string;
  readonly cacheDir: string;
  say(line: string): void;
  /** One line: day, processors, releases. */
  machine(): string;
}

interface Given extends CellsOptions {
  readonly pairs: number;
  readonly cells: number;
  readonly jsonFile: string | undefined;
}

/** Figures of all pairs. */
interface Measured {
  readonly samples: CellsSample[];
  /** By name of a group: what it costs while nothing is asked of it, of the latest pair. */
  readonly atRest: Map<string, Spent>;
  /** Why some were not measured. */
  readonly missing: Set<string>;
}

/** @returns exit code: 1 where an answer was lost. @throws Error that names what is wrong */
export async function benchCells(args: readonly string[], context: CellsContext): Promise<number> {
  const options = readCellsOptions(args);
  const measured: Measured = { samples: [], atRest: new Map(), missing: new Set() };
  await withProcesses(async (processes, scratchDir) => {
    for (let pair = 1; pair <= options.pairs; pair++) {
      if (options.pairs > 1) context.say(`pair ${pair} of ${options.pairs}`);
      const pairDir = join(scratchDir, `pair-${pair}`);
      mkdirSync(pairDir);
      await measurePair(pair, options, { ...context, processes, scratchDir: pairDir }, measured);
    }
  });
  return print(options, measured, context);
}

async function measurePair(
  pair: number,
  options: Given,
  context: CellsContext & Pick<TargetContext, "processes" | "scratchDir">,
  measured: Measured,
): Promise<void> {
  const { processes } = context;
  const groups: Group[] = [];
  try {
    const simulator = await startSimulator(processes, context.repoDir);
    const target = { ...context, upstreamUrl: simulator.url };
    await startGroups(groups, target, options.cells, pair % 2 === 0, measured.missing);
    const load = await LoadClient.start(processes, context.repoDir);
    const driver = await Driver.start(load, options.cases, simulator.url);
    const others = [simulator.pid, load.pid];
    const rounds = new CellsRounds(driver, options, pair, groups, others, context.say);
    await rounds.run();
    measured.samples.push(...rounds.samples);
    for (const [{ name }, spent] of rounds.atRest) measured.atRest.set(name, spent);
  } finally {
    for (const group of groups) group.close();
    await processes.stopAll();
  }
}

/** @param isReversed the last group is started, and so warmed, first @param missing is told why some could not be started */
async function startGroups(
  groups: Group[],
  context: TargetContext,
  cells: number,
  isReversed: boolean,
  missing: Set<string>,
): Promise<void> {
  const several = cells > 1 ? [(one: TargetContext) => startCells(one, cells)] : [];
  const starts = [startAlone, startOneCell, ...several];
  for (const start of isReversed ? starts.reverse() : starts) {
    try {
      groups.push(await start(context));
      context.say(`started: ${groups.at(-1)?.name}`);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      missing.add(`cells were not measured: ${error.message}`);
    }
  }
}

function print(options: Given, { samples, atRest, missing }: Measured, { machine }: CellsContext): number {
  const rows = summariseCells(samples, cpus().length);
  const rest = [...atRest].map(
    ([name, { gatewayUs, redisUs }]) =>
      `${name}, at rest: ${gatewayUs.toFixed(1)} ms of CPU a second, Redis ${redisUs.toFixed(1)}`,
  );
  if (options.jsonFile !== undefined)
    writeFileSync(options.jsonFile, `${JSON.stringify({ machine: machine(), rows, samples }, null, 2)}\n`);
  const ofPairs = options.pairs > 1 ? `${options.pairs} pairs of ` : "";
  console.log(`\n${machine()}, median of ${ofPairs}${options.rounds} rounds of ${options.seconds} s\n`);
  console.log(cellsTables(rows));
  console.log(`\n${[...cellsGoals(rows), ...rest, ...missing].map((note) => `- ${note}`).join("\n")}`);
  return rows.every(({ fidelity }) => fidelity === "exact") ? 0 : 1;
}

function readCellsOptions(args: readonly string[]): Given {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      pairs: text,
      rounds: text,
      seconds: text,
      "warm-up": text,
      cases: text,
      cells: text,
      json: text,
      quick: { type: "boolean", default: false },
    },
  });
  const quick = values.quick === true;
  const number = (name: string, given: string | undefined, otherwise: number): number => {
    const value = given === undefined ? otherwise : Number(given);
    if (!(value > 0 && value <= 3600))
      throw new Error(`--${name}: ${given} is not a number above 0 and up to 3600`);
    return value;
  };
  const names = (values.cases ?? "json-1k,burst-64,keys-1k").split(",");
  const unknown = names.find((name) => !CASES.some((one) => one.name === name && one.paceMs === 0));
  if (unknown !== undefined) throw new Error(`--cases: ${unknown} is no case without pauses`);
  const seconds = number("seconds", values.seconds, quick ? 0.5 : 4);
  return {
    cases: CASES.filter(({ name }) => names.includes(name)),
    pairs: Math.ceil(number("pairs", values.pairs, 1)),
    rounds: Math.ceil(number("rounds", values.rounds, quick ? 1 : 5)),
    seconds,
    warmUpSeconds: number("warm-up", values["warm-up"], quick ? seconds : 10),
    settleMs: quick ? 0 : 3000,
    cells: Math.ceil(number("cells", values.cells, 2)),
    jsonFile: values.json,
  };
}
