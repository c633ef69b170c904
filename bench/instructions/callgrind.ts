/** Valgrind's callgrind as a counter of machine instructions: of a Node that runs under it, from `--zero` to `--dump`. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** Nothing is counted before it is asked for; code that V8 makes or changes is noticed; threads run in turns, so that none waits for good. */
const FLAGS = ["--instr-atstart=no", "--smc-check=all-non-file", "--fair-sched=yes"];

const run = promisify(execFile);

/** A process that runs under callgrind. */
export interface Counted {
  readonly name: string;
  readonly pid: number;
  /** Callgrind writes its figures here. */
  readonly outDir: string;
  /** `HOST` in the environment of the process: valgrind names the pipe by which it is found after it. */
  readonly host: string;
}

/** The program and its arguments that run a command under callgrind. */
export const underCallgrind = (outDir: string): [string, ...string[]] => [
  "valgrind",
  "-q",
  "--tool=callgrind",
  ...FLAGS,
  `--callgrind-out-file=${join(outDir, "callgrind.%p")}`,
];

/** @returns valgrind's version. @throws Error that says how to get it */
export async function valgrindVersion(): Promise<string> {
  const found = await run("valgrind", ["--version"]).catch(() => {
    throw new Error(
      "valgrind is not on PATH, and without it instructions cannot be counted (Debian: apt-get install -y valgrind)",
    );
  });
  return found.stdout.trim().replace(/^valgrind-/, "");
}

export async function control({ pid, host }: Counted, command: string): Promise<void> {
  await run("callgrind_control", [command, String(pid)], { env: { ...process.env, HOST: host } });
}

/** Instructions of all threads of the process since the last `--zero`. @throws Error where callgrind says none */
export async function counted(process: Counted): Promise<number> {
  const { name, pid, outDir } = process;
  await control(process, "--dump");
  // Each dump is a file with a number of its own. The one without a number is written when the process ends.
  const prefix = `callgrind.${pid}.`;
  const files = readdirSync(outDir).filter((file) => file.startsWith(prefix));
  let total = 0;
  for (const file of files.map((found) => join(outDir, found))) {
    total += Number(/^(?:summary|totals): (\d+)/m.exec(readFileSync(file, "latin1"))?.[1]);
    rmSync(file);
  }
  if (!(total > 0)) throw new Error(`callgrind wrote no figures of ${name}`);
  return total;
}
