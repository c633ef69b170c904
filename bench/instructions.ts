/**
 * `npm run bench -- instructions`: machine instructions that a call takes, counted by valgrind's callgrind. Time varies with the machine,
 * with other work on it and with the order in which V8 happens to optimise; instructions do not, and V8 optimises in one order
 * (`--predictable`): so two checkouts can be told apart by a hundredth.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { CASES, type Case } from "./cases.ts";
import { Driver } from "./driver.ts";
import { type Counted, control, counted, underCallgrind, valgrindVersion } from "./instructions/callgrind.ts";
import { LoadClient } from "./load-client.ts";
import { withProcesses } from "./processes.ts";
import { startSimulator } from "./simulator.ts";
import type { RunningTarget, TargetContext } from "./targets/target.ts";
import { PRODUCT_HOST, startProduct } from "./targets/weir.ts";

export const INSTRUCTIONS_USAGE = `npm run bench -- instructions [options]   instructions of a call, beside another checkout (WEIR_BEFORE), 20 minutes

  --case A        one of those with calls in a closed loop (default json-1k)
  --warm-up N     calls before any is counted (default 60000: by then V8 has optimised all that it will)
  --calls N       calls of a window (default 8000)
  --windows N     (default 6)`;

/** Few, so that the calls of a process under valgrind do not wait for each other. */
const CONNECTIONS = 4;
const DEADLINE_S = 3_600;
/**
 * V8 optimises in one order, and has so much room that no large garbage collection falls into a window: with the heap of `npm start`
 * one falls into about every second, and windows differ by a fifth. What becomes old is counted where it is made and moved.
 */
const NODE_FLAGS = ["--predictable", "--initial-old-space-size=6000", "--max-old-space-size=8000"];
const READY_MS = 600_000;
/** The first calls after counting was switched on: valgrind translates all code anew. */
const FIRST_CALLS = 300;
const REST_MS = 20_000;
/** Records are inserted every 2 s, by code that runs twenty times slower here. */
const LATER_MS = 5_000;

interface Options {
  readonly benchCase: Case;
  readonly warmUp: number;
  readonly calls: number;
  readonly windows: number;
}

type Context = Pick<TargetContext, "repoDir" | "cacheDir" | "say">;

/**
 * Counts, and compares with the checkout of `WEIR_BEFORE` where that is set.
 * @returns a table: a line for each window, and one for the mean of all windows
 * @throws Error that names an invalid argument, or says that valgrind is missing
 */
export async function benchInstructions(args: readonly string[], context: Context): Promise<string> {
  const options = readInstructionsOptions(args);
  await valgrindVersion();
  const checkouts = new Map([["weir", context.repoDir]]);
  const { WEIR_BEFORE } = process.env;
  if (WEIR_BEFORE !== undefined) checkouts.set("before", WEIR_BEFORE);
  return await withProcesses(async (processes, scratchDir) => {
    const { url: upstreamUrl } = await startSimulator(processes, context.repoDir);
    const target = { ...context, processes, scratchDir, upstreamUrl };
    // Both checkouts run at the same time: valgrind runs each on one core, and its count does not depend on other processes.
    const windows = await Promise.all(
      [...checkouts].map(async ([name, repoDir]) => {
        const product = await startCounted({ ...target, repoDir }, name, options.benchCase, context.repoDir);
        return [name, await countWindows(product, options, context.say)] as const;
      }),
    );
    return table(windows, options);
  });
}

export function readInstructionsOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      case: { type: "string", default: "json-1k" },
      "warm-up": { type: "string", default: "60000" },
      calls: { type: "string", default: "8000" },
      windows: { type: "string", default: "6" },
    },
  });
  const known = CASES.filter(({ paceMs }) => paceMs === 0);
  const benchCase = known.find(({ name }) => name === values.case);
  if (benchCase === undefined)
    throw new Error(`--case: "${values.case}" is none of ${known.map(({ name }) => name).join(", ")}`);
  const [warmUp, calls, windows] = (["warm-up", "calls", "windows"] as const).map((name) => {
    const value = Number(values[name]);
    if (!(Number.isInteger(value) && value > 0))
      throw new Error(`--${name}: "${values[name]}" is not a whole number above 0`);
    return value;
  }) as [number, number, number];
  return { benchCase, warmUp, calls, windows };
}

/** A product that runs under callgrind. */
interface CountedProduct extends Counted {
  /** Makes so many calls. @throws Error where one failed: it would be cheap */
  call(amount: number): Promise<void>;
}

/** @param benchDir the checkout whose load process is used */
async function startCounted(
  context: TargetContext,
  name: string,
  benchCase: Case,
  benchDir: string,
): Promise<CountedProduct> {
  const { processes, scratchDir, upstreamUrl, say } = context;
  say(`starting ${name}`);
  const { baseUrl, headers, started } = await startProduct(context, name, {
    under: underCallgrind(scratchDir),
    flags: NODE_FLAGS,
    readyMs: READY_MS,
  });
  const target: RunningTarget = { baseUrl, headers, model: "weir/sim-small", pid: started.pid };
  const load = await LoadClient.start(processes, benchDir);
  const driver = await Driver.start(load, [benchCase], upstreamUrl);
  return {
    name,
    pid: started.pid,
    outDir: scratchDir,
    host: PRODUCT_HOST,
    async call(amount) {
      const job = driver.job(benchCase, target, { seconds: DEADLINE_S, amount });
      const timeoutMs = DEADLINE_S * 1_000;
      const { intact } = await driver.run({ ...job, connections: CONNECTIONS, timeoutMs });
      if (intact !== amount)
        throw new Error(`${name}: of ${amount} calls ${intact} were answered as they should be`);
    },
  };
}

/** Warms the product up, then counts. @returns instructions of a call in each window, less those that the product takes at rest */
async function countWindows(
  product: CountedProduct,
  options: Options,
  say: Context["say"],
): Promise<number[]> {
  const { warmUp, calls, windows } = options;
  await product.call(warmUp);
  await control(product, "--instr=on");
  await product.call(FIRST_CALLS);
  await sleep(LATER_MS);
  const atRest = (await count(product, () => sleep(REST_MS))) / REST_MS;
  const figures: number[] = [];
  for (let number = 1; number <= windows; number++) {
    const startMs = performance.now();
    const all = await count(product, async () => {
      await product.call(calls);
      await sleep(LATER_MS);
    });
    const instructions = (all - atRest * (performance.now() - startMs)) / calls;
    say(`${product.name}, window ${number}: ${Math.round(instructions)} instructions a call`);
    figures.push(instructions);
  }
  return figures;
}

/** Instructions of all threads of the product while `act` runs. */
async function count(product: Counted, act: () => Promise<unknown>): Promise<number> {
  await control(product, "--zero");
  await act();
  return await counted(product);
}

function table(figures: readonly (readonly [string, readonly number[]])[], options: Options): string {
  const { benchCase, warmUp, calls } = options;
  const [ours = [], others] = figures.map(([, windows]) => windows);
  const line = (title: string, cells: readonly string[]) =>
    [title.padEnd(8), ...cells.map((cell) => cell.padStart(10))].join("");
  const row = (title: string, own: number, other: number | undefined) => {
    const compared = other === undefined ? [] : [String(Math.round(other)), (own / other).toFixed(3)];
    return line(title, [String(Math.round(own)), ...compared]);
  };
  const names = figures.map(([name]) => name);
  return [
    `instructions a call, ${benchCase.name}, ${calls} calls a window after ${warmUp}`,
    line("window", others === undefined ? names : [...names, "ratio"]),
    ...ours.map((own, i) => row(String(i + 1), own, others?.[i])),
    row("mean", mean(ours), others && mean(others)),
  ].join("\n");
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
