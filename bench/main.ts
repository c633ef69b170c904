/**
 * `npm run bench`: starts the simulator, the load process and every target, runs the rounds, prints the tables.
 * Loopback only, bounded in time, and all processes end with it.
 */
import { writeFileSync } from "node:fs";
import { cpus, homedir, release } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ANALYTICS_USAGE, benchAnalytics } from "./analytics.ts";
import { type Baseline, compare, readBaseline, saveBaseline } from "./baseline.ts";
import { BUDGET_USAGE, benchBudget } from "./budget/main.ts";
import { benchCells, CELLS_USAGE } from "./cells/main.ts";
import { benchPaper, PAPER_USAGE } from "./cells/paper-report.ts";
import { benchDetached, DETACHED_USAGE } from "./detached.ts";
import { Driver } from "./driver.ts";
import { benchQuickly, QUICK_USAGE } from "./instructions/quick.ts";
import { benchInstructions, INSTRUCTIONS_USAGE } from "./instructions.ts";
import { LoadClient } from "./load-client.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { type FirstSecond, firstSeconds } from "./pauses.ts";
import { measurePlanning, planningTable } from "./planning.ts";
import { type Processes, withProcesses } from "./processes.ts";
import { measureRates, type RateFigure } from "./rates.ts";
import { csv, goals, pauseLines, type Row, ratesTable, summarise, tables } from "./report.ts";
import { Rounds } from "./rounds.ts";
import { startSimulator } from "./simulator.ts";
import { type RunningTarget, type TargetContext, Unavailable } from "./targets/target.ts";

const repoDir = resolve(import.meta.dirname, "..");
/** Peers are large and kept between runs; outside the repository, so that no tool of the project scans them. */
const cacheDir = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "weir-bench");
/** Calls per round: some seconds in all. */
const PLANNED_CALLS = 50_000;
const say = (line: string): void => console.error(line);

interface Outcome {
  readonly rows: readonly Row[];
  readonly rounds: Rounds;
  readonly pauses: readonly FirstSecond[];
  readonly rates: readonly RateFigure[];
  /** Targets that are unavailable or ended under load, and why. */
  readonly missing: ReadonlyMap<string, string>;
}

async function runAll(options: Options, processes: Processes, scratchDir: string): Promise<Outcome> {
  const { url: upstreamUrl } = await startSimulator(processes, repoDir);
  const context = {
    processes,
    upstreamUrl,
    scratchDir,
    cacheDir,
    repoDir,
    say,
  };
  const { running, missing } = await startTargets(options, context);
  const load = await LoadClient.start(processes, repoDir);
  const driver = await Driver.start(load, options.cases, upstreamUrl);
  const rounds = new Rounds(driver, options, running, say);
  const rated = options.cases.filter((benchCase) => benchCase.rates);
  const gone = (target: string, reason: string): void => {
    rounds.died.set(target, reason);
  };
  const alive = (): Map<string, RunningTarget> =>
    new Map([...running].filter(([name]) => !rounds.died.has(name)));

  const pauses: FirstSecond[] = [];
  for (const benchCase of rated) {
    say(`first second after a start: ${benchCase.name}`);
    pauses.push(...(await firstSeconds(driver, benchCase, alive(), "start", gone)));
  }
  await rounds.run();
  const rows = summarise(rounds.samples);
  const rates: RateFigure[] = [];
  for (const benchCase of rated) {
    say(`${options.idleSeconds} s of idle, then ${benchCase.name}`);
    await sleep(options.idleSeconds * 1_000);
    pauses.push(...(await firstSeconds(driver, benchCase, alive(), "pause", gone)));
    say(`fixed rates: ${benchCase.name}`);
    const capacity = capacities(rows, benchCase.name);
    rates.push(...(await measureRates(driver, benchCase, alive(), capacity, options.rate, gone)));
  }
  return { rows, rounds, pauses, rates, missing: new Map([...missing, ...rounds.died]) };
}

/** Calls a second of each target in the closed loop. */
function capacities(rows: readonly Row[], caseName: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const row of rows)
    if (row.caseName === caseName && row.callsPerSecond !== undefined)
      found.set(row.target, row.callsPerSecond);
  return found;
}

async function startTargets(options: Options, context: TargetContext) {
  const running = new Map<string, RunningTarget>();
  const missing = new Map<string, string>();
  for (const target of options.targets) {
    try {
      say(`starting ${target.name}`);
      running.set(target.name, await target.start(context));
    } catch (error) {
      // An unavailable peer is reported in a line; for the product or the reference pipe it is an error.
      if (!(error instanceof Unavailable) && !target.peer) throw error;
      missing.set(target.name, (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " "));
    }
  }
  return { running, missing };
}

const machine = (): string =>
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model}, ${process.platform} ${release()}, Node ${process.version}`;

/** 0, or 1 when Weir or a reference did not deliver every answer exactly, or when Weir is worse than the baseline. */
function print(options: Options, outcome: Outcome, baseline: Baseline | undefined): number {
  const { rows, missing } = outcome;
  const comparisons = baseline === undefined ? [] : compare(baseline, rows);
  console.log(`\n${machine()}, median of ${options.rounds} rounds\n`);
  console.log(tables(options.cases, rows, options.markdown));
  if (outcome.rates.length > 0) console.log(`\n${ratesTable(outcome.rates, options.markdown)}`);
  const notes = [
    ...pauseLines(outcome.pauses, rows, options.idleSeconds),
    ...goals(options.cases, rows),
    ...comparisons.map(({ line }) => line),
    ...[...missing].map(([name, reason]) => `${name} is missing: ${reason}`),
    ...[...rows, ...outcome.rates]
      .filter(({ fault }) => fault !== "")
      .map(({ caseName, target, fault }) => `${target} ${caseName}: ${fault}`),
  ];
  if (notes.length > 0)
    console.log(`\n${notes.map((note) => (options.markdown ? `- ${note}` : note)).join("\n")}`);
  const peers = new Set(options.targets.filter((target) => target.peer).map((target) => target.name));
  const died = [...outcome.rounds.died.keys()].some((name) => !peers.has(name));
  const broken = [...rows, ...outcome.rates].some(
    (row) => !peers.has(row.target) && (row.calls === 0 || row.intact < row.calls + row.failed),
  );
  return died || broken || comparisons.some(({ worse }) => worse) ? 1 : 0;
}

function writeJson(file: string, options: Options, outcome: Outcome, processes: Processes): void {
  const { rows, rounds, pauses, rates, missing } = outcome;
  const document = {
    date: new Date().toISOString(),
    machine: { cpus: cpus().length, model: cpus()[0]?.model, kernel: release(), node: process.version },
    rounds: options.rounds,
    seconds: options.seconds,
    rows,
    samples: rounds.samples,
    pauses,
    rates,
    missing: Object.fromEntries(missing),
    pids: processes.pids,
  };
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
}

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (args[0] === "analytics") {
    await benchAnalytics(args.slice(1));
    return 0;
  }
  if (args[0] === "cells-paper") {
    console.log(`${machine()}\n\n${await benchPaper(args.slice(1), say)}`);
    return 0;
  }
  if (args[0] === "instructions" && args.includes("--help")) {
    console.log(`${QUICK_USAGE}\n\n${INSTRUCTIONS_USAGE}`);
    return 0;
  }
  if (args[0] === "instructions" && args.includes("--quick")) {
    const { text, exitCode } = await benchQuickly(args.slice(1), { repoDir, say });
    console.log(`${machine()}\n\n${text}`);
    return exitCode;
  }
  if (args[0] === "instructions") {
    console.log(`${machine()}\n\n${await benchInstructions(args.slice(1), { repoDir, cacheDir, say })}`);
    return 0;
  }
  if (args[0] === "budget" && args.includes("--help")) {
    console.log(BUDGET_USAGE);
    return 0;
  }
  if (args[0] === "budget") {
    console.log(`${machine()}\n\n${await benchBudget(args.slice(1), { repoDir, cacheDir, say })}`);
    return 0;
  }
  if (args[0] === "detached" && args.includes("--help")) {
    console.log(DETACHED_USAGE);
    return 0;
  }
  if (args[0] === "detached") {
    const { text, exitCode } = await benchDetached(args.slice(1), { repoDir, cacheDir, say });
    console.log(`${machine()}\n\n${text}`);
    return exitCode;
  }
  if (args[0] === "--cells") return await benchCells(args.slice(1), { repoDir, cacheDir, say, machine });
  const options = readOptions(args);
  if (options === "help") {
    console.log(
      `${USAGE}\n\n${CELLS_USAGE}\n\n${PAPER_USAGE}\n\n${QUICK_USAGE}\n\n${BUDGET_USAGE}\n\n${INSTRUCTIONS_USAGE}\n\n${DETACHED_USAGE}\n\n${ANALYTICS_USAGE}`,
    );
    return 0;
  }
  if (options === "planning") {
    console.log(`${machine()}\n${planningTable(measurePlanning(PLANNED_CALLS))}`);
    return 0;
  }
  const baseline = options.baseline === "check" ? readBaseline() : undefined;
  return await withProcesses(async (processes, scratchDir) => {
    const outcome = await runAll(options, processes, scratchDir);
    await processes.stopAll();
    if (options.jsonFile !== undefined) writeJson(options.jsonFile, options, outcome, processes);
    if (options.csvFile !== undefined) writeFileSync(options.csvFile, csv(outcome.rounds.samples));
    if (options.baseline === "save") saveBaseline(machine(), outcome.rows);
    return print(options, outcome, baseline);
  });
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
