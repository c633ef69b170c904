/**
 * System calls of the gateway's process, with real sockets: strace counts those of its main thread and of its other threads. What it
 * does at rest in the same time is taken off. A traced process is slower, so more calls share a read of the journal's or an `epoll_wait`
 * than on an idle machine: the numbers of those two are of this load.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { CASES, type Case } from "../cases.ts";
import { Driver } from "../driver.ts";
import { LoadClient } from "../load-client.ts";
import { withProcesses } from "../processes.ts";
import { startSimulator } from "../simulator.ts";
import type { TargetContext } from "../targets/target.ts";
import { LATER_MS, startProduct } from "../targets/weir.ts";

/** How often each system call was made. */
export type SystemCalls = ReadonlyMap<string, number>;

/** A call's, or an event's. */
export interface ThreadCalls {
  readonly main: SystemCalls;
  readonly others: SystemCalls;
}

export type SystemCallCase = "json-1k" | "burst-64" | "streams-100";

export const HOW_TO_GET_STRACE =
  "system calls are not counted: strace is not on PATH (Debian: apt-get install -y strace)";

const AMOUNTS: Readonly<Record<SystemCallCase, number>> = {
  "json-1k": 1_600,
  "burst-64": 480,
  "streams-100": 200,
};
const WARM_UP_CALLS = 3_000;
const REST_MS = 4_000;
/** Most that one case takes: strace makes a call some times slower. */
const SECONDS = 120;
/** Until strace has attached, it has written nothing: its file is there then. */
const LOOK_MS = 50;
const MOST_LOOKS = 200;

type Context = Pick<TargetContext, "repoDir" | "cacheDir" | "say">;

export const hasStrace = async (): Promise<boolean> =>
  await promisify(execFile)("strace", ["-V"]).then(
    () => true,
    () => false,
  );

/** @returns system calls of a call, of streams of an event. @throws Error where strace may not attach, or calls fail */
export async function countSystemCalls(context: Context): Promise<ReadonlyMap<SystemCallCase, ThreadCalls>> {
  const cases = CASES.filter(({ name }) => name in AMOUNTS);
  return await withProcesses(async (processes, scratchDir) => {
    const { url: upstreamUrl } = await startSimulator(processes, context.repoDir);
    const product = await startProduct({ ...context, processes, scratchDir, upstreamUrl }, "traced");
    const { pid } = product.started;
    const target = { baseUrl: product.baseUrl, headers: product.headers, model: "weir/sim-small", pid };
    const load = await LoadClient.start(processes, context.repoDir);
    const driver = await Driver.start(load, cases, upstreamUrl);
    const call = async (benchCase: Case, amount: number): Promise<void> => {
      const { intact, failed } = await driver.run(driver.job(benchCase, target, sizeOf(benchCase, amount)));
      if (intact < amount || failed > 0)
        throw new Error(`${benchCase.name}: ${intact} of ${amount} calls were answered as they should be`);
    };
    for (const benchCase of cases)
      await call(benchCase, benchCase.paceMs > 0 ? benchCase.connections : WARM_UP_CALLS);
    await sleep(LATER_MS);
    const trace = new Trace(pid, scratchDir);
    const atRest = await trace.during(() => sleep(REST_MS));
    const found = new Map<SystemCallCase, ThreadCalls>();
    for (const benchCase of cases) {
      const amount = AMOUNTS[benchCase.name as SystemCallCase];
      const traced = await trace.during(async () => {
        await call(benchCase, amount);
        await sleep(LATER_MS);
      });
      const units = amount * (benchCase.paceMs > 0 ? benchCase.events : 1);
      found.set(benchCase.name as SystemCallCase, {
        main: perUnit(traced.calls.main, atRest.calls.main, traced.ms / atRest.ms, units),
        others: perUnit(traced.calls.others, atRest.calls.others, traced.ms / atRest.ms, units),
      });
      context.say(`system calls of ${benchCase.name} are counted`);
    }
    return found;
  });
}

/** A closed loop takes an amount; of streams, each connection takes as many as fit into the seconds. */
const sizeOf = ({ paceMs, connections }: Case, amount: number) =>
  paceMs === 0
    ? { seconds: SECONDS, amount }
    : { seconds: (paceMs / 1_000) * Math.ceil(amount / connections), amount: 0 };

function perUnit(traced: SystemCalls, atRest: SystemCalls, scale: number, units: number): SystemCalls {
  return new Map(
    [...traced]
      .map(([name, count]) => [name, (count - (atRest.get(name) ?? 0) * scale) / units] as const)
      .filter(([, count]) => count > 0)
      .sort(([, a], [, b]) => b - a),
  );
}

/** strace at the threads of a process. */
class Trace {
  readonly #pid: number;
  readonly #dir: string;
  #number = 0;

  constructor(pid: number, dir: string) {
    this.#pid = pid;
    this.#dir = dir;
  }

  async during(act: () => Promise<unknown>): Promise<{ calls: ThreadCalls; ms: number }> {
    const threads = readdirSync(`/proc/${this.#pid}/task`).map(Number);
    const others = threads.filter((id) => id !== this.#pid);
    const traces = await Promise.all([this.#attach([this.#pid]), this.#attach(others)]);
    const startMs = performance.now();
    await act();
    const ms = performance.now() - startMs;
    const [main, rest] = await Promise.all(traces.map((end) => end()));
    return { calls: { main: main ?? new Map(), others: rest ?? new Map() }, ms };
  }

  /** @returns what ends it and gives the counts. @throws Error where it cannot attach */
  async #attach(threads: readonly number[]): Promise<() => Promise<SystemCalls>> {
    const file = join(this.#dir, `strace-${this.#number++}`);
    const child = spawn("strace", ["-c", "-o", file, ...threads.flatMap((id) => ["-p", String(id)])], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    const ended = once(child, "exit");
    for (let i = 0; said.split("attached").length <= threads.length; i++) {
      if (i === MOST_LOOKS || child.exitCode !== null)
        throw new Error(`strace does not attach: ${said.trim()}`);
      await sleep(LOOK_MS);
    }
    return async () => {
      child.kill("SIGINT");
      await ended;
      return readSummary(statSync(file).size === 0 ? "" : readFileSync(file, "utf8"));
    };
  }
}

/** @param text what `strace -c` writes */
export function readSummary(text: string): SystemCalls {
  const found = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, count, name = ""] = /^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$/.exec(line) ?? [];
    if (count !== undefined && name !== "total") found.set(name, Number(count));
  }
  return found;
}
