/**
 * `npm run bench -- instructions`: machine instructions that a call takes, counted by valgrind's callgrind. Time varies with the machine,
 * with other work on it and with the order in which V8 happens to optimise; instructions do not, and V8 optimises in one order
 * (`--predictable`): so two checkouts can be told apart by a hundredth.
 */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { CASES, type Case } from "./cases.ts";
import { Driver } from "./driver.ts";
import { LoadClient } from "./load-client.ts";
import { withProcesses } from "./processes.ts";
import { startSimulator } from "./simulator.ts";
import type { RunningTarget, TargetContext } from "./targets/target.ts";
import { PRODUCT_HOST, startProduct } from "./targets/weir.ts";

export const INSTRUCTIONS_USAGE = `npm run bench -- instructions [options]   instructions of a call, beside another checkout (WEIR_BEFORE), 20 minutes

  --case A        one of those with calls in a closed loop (default json-1k)
  --warm-up N     calls before any is counted (default 60000: by then V8 has optimised all that it will)
  --calls N       calls of a window (default 8000)
  --windows N     an even number, since a large garbage collection falls into about every second one (default 6)`;

/** Few, so that the calls of a process under valgrind do not wait for each other. */
const CONNECTIONS = 4;
const DEADLINE_S = 3_600;
const READY_MS = 600_000;
/** The first calls after counting was switched on: valgrind translates all code anew. */
const FIRST_CALLS = 300;
const REST_MS = 20_000;
/** Records are inserted every 2 s, by code that runs twenty times slower here. */
const LATER_MS = 5_000;

const run = promisify(execFile);

interface Options {
  readonly benchCase: Case;
  readonly warmUp: number;
  readonly calls: number;
  readonly windows: number;
}

type Context = Pick<TargetContext, "repoDir" | "cacheDir" | "say">;

/** @returns a table. @throws Error that names the invalid argument, or says what is missing */
export async function benchInstructions(args: readonly string[], context: Context): Promise<string> {
  const options = readInstructionsOptions(args);
  await run("valgrind", ["--version"]).catch(() => {
    throw new Error("valgrind is not on PATH (Debian: apt-get install -y valgrind)");
  });
  const checkouts = new Map([["weir", context.repoDir]]);
  const { WEIR_BEFORE } = process.env;
  if (WEIR_BEFORE !== undefined) checkouts.set("before", WEIR_BEFORE);
  return await withProcesses(async (processes, scratchDir) => {
    const { url: upstreamUrl } = await startSimulator(processes, context.repoDir);
    const target = { ...context, processes, scratchDir, upstreamUrl };
    // At the same time: each is one thread at a time, and what is counted does not depend on the other.
    const counted = await Promise.all(
      [...checkouts].map(async ([name, repoDir]) => {
        const product = await Counted.start({ ...target, repoDir }, name, options, context.repoDir);
        return [name, await product.windows()] as const;
      }),
    );
    return table(counted, options);
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
class Counted {
  readonly #name: string;
  readonly #target: RunningTarget & { readonly pid: number };
  readonly #driver: Driver;
  readonly #options: Options;
  readonly #context: TargetContext;

  private constructor(
    name: string,
    target: RunningTarget & { readonly pid: number },
    driver: Driver,
    options: Options,
    context: TargetContext,
  ) {
    this.#name = name;
    this.#target = target;
    this.#driver = driver;
    this.#options = options;
    this.#context = context;
  }

  /** @param benchDir the checkout whose load process is used */
  static async start(
    context: TargetContext,
    name: string,
    options: Options,
    benchDir: string,
  ): Promise<Counted> {
    const { processes, scratchDir, upstreamUrl, say } = context;
    say(`starting ${name}`);
    const { baseUrl, headers, started } = await startProduct(context, name, {
      // `all-non-file`: code that V8 makes or changes is counted as what it is then. `fair-sched`: no thread waits for good.
      under: [
        ...[
          "valgrind",
          "-q",
          "--tool=callgrind",
          "--instr-atstart=no",
          "--smc-check=all-non-file",
          "--fair-sched=yes",
        ],
        `--callgrind-out-file=${join(scratchDir, "callgrind.%p")}`,
      ],
      flags: ["--predictable"],
      readyMs: READY_MS,
    });
    const target = { baseUrl, headers, model: "weir/sim-small", pid: started.pid };
    const load = await LoadClient.start(processes, benchDir);
    const driver = await Driver.start(load, [options.benchCase], upstreamUrl);
    return new Counted(name, target, driver, options, context);
  }

  /** Warms up, then counts: instructions of a call in each window, without those of the process at rest. @throws Error where a call failed: it would be cheap */
  async windows(): Promise<number[]> {
    const { warmUp, calls, windows } = this.#options;
    await this.#call(warmUp);
    await this.#control("--instr=on");
    await this.#call(FIRST_CALLS);
    await sleep(LATER_MS);
    const atRest = (await this.#count(() => sleep(REST_MS))) / REST_MS;
    const counted: number[] = [];
    for (let number = 1; number <= windows; number++) {
      const startMs = performance.now();
      const all = await this.#count(async () => {
        await this.#call(calls);
        await sleep(LATER_MS);
      });
      const instructions = (all - atRest * (performance.now() - startMs)) / calls;
      this.#context.say(`${this.#name}, window ${number}: ${Math.round(instructions)} instructions a call`);
      counted.push(instructions);
    }
    return counted;
  }

  async #call(amount: number): Promise<void> {
    const job = this.#driver.job(this.#options.benchCase, this.#target, { seconds: DEADLINE_S, amount });
    const result = await this.#driver.run({
      ...job,
      connections: CONNECTIONS,
      timeoutMs: DEADLINE_S * 1_000,
    });
    if (result.intact !== amount)
      throw new Error(`${this.#name}: of ${amount} calls ${result.intact} were answered as they should be`);
  }

  /** Instructions of all threads of the process while `act` runs. */
  async #count(act: () => Promise<unknown>): Promise<number> {
    await this.#control("--zero");
    await act();
    await this.#control("--dump");
    const { scratchDir } = this.#context;
    // The file without a number is that of the end.
    const prefix = `callgrind.${this.#target.pid}.`;
    const files = readdirSync(scratchDir).filter((file) => file.startsWith(prefix));
    let total = 0;
    for (const file of files.map((name) => join(scratchDir, name))) {
      total += Number(/^(?:summary|totals): (\d+)/m.exec(readFileSync(file, "latin1"))?.[1]);
      rmSync(file);
    }
    if (!(total > 0)) throw new Error(`callgrind wrote no figures of ${this.#name}`);
    return total;
  }

  async #control(command: string): Promise<void> {
    // It finds the process by a file whose name has the HOST of that process's environment.
    await run("callgrind_control", [command, String(this.#target.pid)], {
      env: { ...process.env, HOST: PRODUCT_HOST },
    });
  }
}

function table(counted: readonly (readonly [string, readonly number[]])[], options: Options): string {
  const { benchCase, warmUp, calls } = options;
  const [ours = [], others] = counted.map(([, windows]) => windows);
  const line = (title: string, cells: readonly string[]) =>
    [title.padEnd(8), ...cells.map((cell) => cell.padStart(10))].join("");
  const row = (title: string, own: number, other: number | undefined) => {
    const compared = other === undefined ? [] : [String(Math.round(other)), (own / other).toFixed(3)];
    return line(title, [String(Math.round(own)), ...compared]);
  };
  const names = counted.map(([name]) => name);
  return [
    `instructions a call, ${benchCase.name}, ${calls} calls a window after ${warmUp}`,
    line("window", others === undefined ? names : [...names, "ratio"]),
    ...ours.map((own, i) => row(String(i + 1), own, others?.[i])),
    row("mean", mean(ours), others && mean(others)),
  ].join("\n");
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
