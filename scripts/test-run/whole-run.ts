/** What a whole run took, and its line for the table of docs/testing.md. */
import { execFileSync } from "node:child_process";
import { availableParallelism, cpus } from "node:os";
import { cpuTime, MEASURABLE } from "../../bench/measure.ts";
import type { Counts } from "./verdict.ts";

/** What a run took of the machine. */
export interface Spent {
  readonly seconds: number;
  /** Processors that other processes used, on average; undefined where the system does not say it. */
  readonly processorsBeside: number | undefined;
}

export interface Summary extends Counts, Spent {
  /** Why the run failed, each whole, in Markdown. */
  readonly faults: readonly string[];
  readonly passedSecondTime: readonly {
    readonly project: string;
    readonly file: string;
    readonly tests: readonly string[];
  }[];
}

/** Watches the machine from now on. @returns what was spent until the call */
export function startWatch(): () => Spent {
  const startedMs = performance.now();
  const before = busySeconds();
  return () => {
    const seconds = (performance.now() - startedMs) / 1000;
    const beside = (busySeconds() - before) / seconds;
    return { seconds, processorsBeside: MEASURABLE ? Math.max(0, beside) : undefined };
  };
}

/** Processor time of the whole machine without that of this process and its descendants, since some time in the past. */
function busySeconds(): number {
  if (!MEASURABLE) return 0;
  const busyMs = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  const { ownUs, childrenUs } = cpuTime(process.pid);
  return busyMs / 1e3 - (ownUs + childrenUs) / 1e6;
}

/** Short, with a plus where files differ from it. */
export function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return `${git("rev-parse", "--short=8", "HEAD")}${git("status", "--porcelain") === "" ? "" : "+"}`;
  } catch {
    return "unknown";
  }
}

/**
 * @param quick of `npm test`
 * @param rest of what it leaves out
 * @param of the machine's pipe figure: processor time of a call through the bench's bare pipe, microseconds
 */
export function rowOf(
  quick: Summary,
  rest: Summary,
  of: { readonly commit: string; readonly pipeUs: number | undefined },
): string {
  const again = [quick, rest].flatMap(({ passedSecondTime }) =>
    passedSecondTime.map(({ project, file, tests }) => {
      // A lane's project has the name of its folder.
      const named = project === "" || file.startsWith(`test/${project}/`) ? file : `[${project}] ${file}`;
      return tests.length === 0 ? named : `${named}: ${tests.join("; ")}`;
    }),
  );
  const cells = [
    of.commit,
    of.pipeUs?.toFixed(1) ?? "-",
    besideOf(quick, rest),
    minutes(quick.seconds),
    minutes(quick.seconds + rest.seconds),
    String(quick.failed + rest.failed),
    again.join("<br>"),
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
}

/** Why the parts failed, for who sees only the end of a run's output; empty where they passed. */
export function faultsOf(...parts: readonly Summary[]): string {
  const faults = parts.flatMap((part) => part.faults);
  const more = faults.length > MOST_FAULTS ? [`and ${faults.length - MOST_FAULTS} more`] : [];
  const told = [...faults.slice(0, MOST_FAULTS).map(cut), ...more];
  return faults.length === 0 ? "" : `What failed:\n\n${told.join("\n\n")}\n\n`;
}

/** Faults that are printed once more, and the most of each, in UTF-16 units. */
const MOST_FAULTS = 10;
const MOST_OF_FAULT = 4000;

const cut = (fault: string): string =>
  fault.length <= MOST_OF_FAULT ? fault : `${fault.slice(0, MOST_OF_FAULT)} …`;

/** Processors that others used, averaged over both parts. */
function besideOf(...parts: readonly Summary[]): string {
  const seconds = parts.reduce((sum, part) => sum + part.seconds, 0);
  let used = 0;
  for (const part of parts) {
    if (part.processorsBeside === undefined) return "-";
    used += part.processorsBeside * part.seconds;
  }
  return `${(used / seconds).toFixed(1)} of ${availableParallelism()}`;
}

const minutes = (seconds: number): string => `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
