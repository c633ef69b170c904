/**
 * `npm run bench -- instructions --quick`: machine instructions of a JSON call, of a burst and of one streamed event, and the bytes that
 * each allocates in V8's heap, of one checkout, in less than four minutes. Callgrind counts one process: the gateway with sockets in memory (`counted.ts`). Everything in it happens
 * in the same order in each run, so that the figures of ten runs of the same code differ by less than 0.5 %.
 */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { type Processes, withProcesses } from "../processes.ts";
import { type Counted, control, counted, underCallgrind, valgrindVersion } from "./callgrind.ts";
import type { CountPlan } from "./counted.ts";
import { COUNTED_HOST, conductCounted, PLAN } from "./counted-process.ts";
import { heapWindows } from "./heap-windows.ts";
import {
  CHECK,
  compareWithKept,
  countedOn,
  FIGURE_TITLES,
  FIGURES,
  type Figures,
  REWRITE,
  readKept,
  writeKept,
} from "./kept.ts";
import { type CallKind, LONG_EVENTS, SHORT_EVENTS } from "./streams.ts";

export const QUICK_USAGE = `${REWRITE} [options]   instructions and heap bytes of a call of this checkout, its sockets in memory; 4 minutes

  Without options it writes the figures to bench/instructions.json: commit the file. Needs valgrind, which runs on Linux.

  --check         compares with that file in place of writing it; exit code 1 where instructions are more than 1 %, or heap bytes more than 2 % above
  --windows N     counted windows of each kind (default 3); a figure is their median`;

interface Options {
  readonly isCheck: boolean;
  readonly windows: number;
}

interface Context {
  readonly repoDir: string;
  readonly say: (line: string) => void;
}

export interface QuickResult {
  readonly text: string;
  /** The bench ends with it. */
  readonly exitCode: 0 | 1;
}

/** @throws Error that names the invalid argument */
export function readQuickOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      check: { type: "boolean", default: false },
      windows: { type: "string", default: "3" },
    },
  });
  const windows = Number(values.windows);
  if (!(Number.isInteger(windows) && windows > 0 && windows <= 100))
    throw new Error(`--windows: "${values.windows}" is not a whole number from 1 to 100`);
  return { isCheck: values.check, windows };
}

/** Counts; compares with the kept figures, or keeps those of this run. @throws Error where it cannot count or compare */
export async function benchQuickly(args: readonly string[], { repoDir, say }: Context): Promise<QuickResult> {
  const { isCheck, windows } = readQuickOptions(args);
  const file = join(repoDir, "bench/instructions.json");
  // Before minutes are spent.
  const kept = isCheck ? readKept(file) : undefined;
  const version = await valgrindVersion();
  const [found, heap] = await withProcesses((processes, scratchDir) =>
    Promise.all([
      countedWindows(processes, { ...PLAN, scratchDir, windows }, { repoDir, say }),
      heapBytesOf(processes, { repoDir, scratchDir, windows }),
    ]),
  );
  const now = { figures: figuresOf(found), heapBytes: figuresOf(heap) };
  const table = [
    `instructions, counted by valgrind ${version}, median of ${windows} windows`,
    ...figureLines(found),
    "bytes in V8's heap, the same windows without valgrind",
    ...figureLines(heap),
  ];
  if (kept !== undefined) {
    const { lines, isWorse } = compareWithKept(kept, now, countedOn());
    return { text: [...table, "", ...lines].join("\n"), exitCode: isWorse ? 1 : 0 };
  }
  const commit = await commitOf(repoDir);
  writeKept(file, {
    rewrite: REWRITE,
    commit,
    date: new Date().toISOString().slice(0, 10),
    ...countedOn(),
    figures: rounded(now.figures),
    heapBytes: rounded(now.heapBytes),
  });
  return {
    text: [...table, "", `kept in bench/instructions.json; ${CHECK} compares with it`].join("\n"),
    exitCode: 0,
  };
}

const rounded = (figures: Figures) => ({
  "json-1k": Math.round(figures["json-1k"]),
  "burst-64": Math.round(figures["burst-64"]),
  "streamed-event": Math.round(figures["streamed-event"]),
});

async function heapBytesOf(...of: Parameters<typeof heapWindows>): Promise<Windows> {
  const { figures } = await heapWindows(...of);
  return new Map([...figures].map(([kind, found]) => [kind, found.map(({ heapBytes }) => heapBytes)]));
}

/** Instructions or bytes of a call in each window. */
export type Windows = ReadonlyMap<CallKind, readonly number[]>;

async function countedWindows(
  processes: Processes,
  plan: CountPlan,
  { repoDir, say }: Context,
): Promise<Windows> {
  const outDir = join(plan.scratchDir, "callgrind");
  mkdirSync(outDir);
  say("starting the gateway under callgrind");
  const found = new Map<CallKind, number[]>();
  const run = { repoDir, plan, under: underCallgrind(outDir) };
  await conductCounted(processes, run, async (step, { pid }) => {
    const process_: Counted = { name: "the gateway", pid, outDir, host: COUNTED_HOST };
    if (step.kind === "warm") {
      say("it is warm");
      await control(process_, "--instr=on");
    } else if (step.kind === "begin") await control(process_, "--zero");
    else if (step.kind === "end") {
      const instructions = (await counted(process_)) / step.calls;
      found.set(step.of, [...(found.get(step.of) ?? []), instructions]);
      say(`${step.of}: ${Math.round(instructions)} instructions a call`);
    }
  });
  return found;
}

/** The cost of an event is what a long stream takes more than a short one. */
const perWindow = (windows: Windows): Readonly<Record<keyof Figures, readonly number[]>> => {
  const of = (kind: CallKind) => windows.get(kind) ?? [];
  const short = of("stream-16");
  return {
    "json-1k": of("json-1k"),
    "burst-64": of("burst-64"),
    "streamed-event": of("stream-272").map(
      (long, i) => (long - (short[i] ?? Number.NaN)) / (LONG_EVENTS - SHORT_EVENTS),
    ),
  };
};

export function figuresOf(windows: Windows): Figures {
  const each = perWindow(windows);
  return {
    "json-1k": median(each["json-1k"]),
    "burst-64": median(each["burst-64"]),
    "streamed-event": median(each["streamed-event"]),
  };
}

/** A line for each figure, with those of all windows. */
export function figureLines(windows: Windows): string[] {
  const each = perWindow(windows);
  return FIGURES.map((name) => {
    const all = each[name].map((value) => Math.round(value)).join(", ");
    return `${name.padEnd(15)}${String(Math.round(median(each[name]))).padStart(10)}   ${FIGURE_TITLES[name]} (windows: ${all})`;
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** @returns its short name, and whether files of the checkout differ from it */
async function commitOf(repoDir: string): Promise<string> {
  const git = async (...args: string[]) =>
    (await promisify(execFile)("git", args, { cwd: repoDir })).stdout.trim();
  const commit = await git("rev-parse", "--short=12", "HEAD");
  const changes = await git(
    "status",
    "--porcelain",
    "--untracked-files=no",
    "--",
    "src",
    "package-lock.json",
    "bench",
  );
  const differs = changes
    .split("\n")
    .some((line) => line !== "" && !line.endsWith("bench/instructions.json"));
  return differs ? `${commit} with changes` : commit;
}
