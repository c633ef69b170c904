/**
 * `npm run bench -- instructions --quick`: machine instructions of a JSON call, of a burst and of one streamed event, of one checkout,
 * in less than four minutes. Callgrind counts one process: the gateway with sockets in memory (`counted.ts`). Everything in it happens
 * in the same order in each run, so that the figures of ten runs of the same code differ by less than 0.5 %.
 */
import { execFile } from "node:child_process";
import { on } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { type Processes, withProcesses } from "../processes.ts";
import { type Counted, control, counted, underCallgrind, valgrindVersion } from "./callgrind.ts";
import type { CountMessage, CountPlan } from "./counted.ts";
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

export const QUICK_USAGE = `${REWRITE} [options]   instructions of a call of this checkout, its sockets in memory; 4 minutes

  Without options it writes the figures to bench/instructions.json: commit the file. Needs valgrind, which runs on Linux.

  --check         compares with that file in place of writing it; exit code 1 where a figure is more than 1 % above
  --windows N     counted windows of each kind (default 3); a figure is their median`;

/**
 * V8 optimises in one order, on one thread, and earlier than by default, so that a short warm-up suffices. Its young generation is so
 * large that none of its collections falls into a window by itself, only the one at the end that `counted.ts` asks for: one more or less
 * would be 3 % of a burst. The old generation has room too, since a full collection is a tenth of a window.
 */
const NODE_FLAGS = [
  "--min-semi-space-size=128",
  "--max-semi-space-size=128",
  "--no-allocation-site-pretenuring",
  "--initial-old-space-size=3000",
  "--max-old-space-size=4000",
  "--no-memory-reducer",
  "--predictable",
  "--hash-seed=1",
  "--random-seed=1",
  "--expose-gc",
  "--invocation-count-for-turbofan=200",
  "--minimum-invocations-after-ic-update=50",
];

const PLAN: Omit<CountPlan, "scratchDir" | "windows"> = {
  warmUp: { "json-1k": 480, "burst-64": 192, "stream-16": 192, "stream-272": 48 },
  warmUpRounds: 8,
  calls: { "json-1k": 480, "burst-64": 320, "stream-16": 128, "stream-272": 64 },
  settlePauseMs: 250,
};

const HOST = "127.0.0.1";

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
  const found = await withProcesses((processes, scratchDir) =>
    countedWindows(processes, { ...PLAN, scratchDir, windows }, { repoDir, say }),
  );
  const figures = figuresOf(found);
  const table = [
    `instructions, counted by valgrind ${version}, median of ${windows} windows`,
    ...figureLines(found),
  ];
  if (kept !== undefined) {
    const { lines, isWorse } = compareWithKept(kept, figures, countedOn());
    return { text: [...table, "", ...lines].join("\n"), exitCode: isWorse ? 1 : 0 };
  }
  const commit = await commitOf(repoDir);
  writeKept(file, {
    rewrite: REWRITE,
    commit,
    date: new Date().toISOString().slice(0, 10),
    ...countedOn(),
    figures: rounded(figures),
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

/** Instructions of a call in each window. */
export type Windows = ReadonlyMap<CallKind, readonly number[]>;

async function countedWindows(
  processes: Processes,
  plan: CountPlan,
  { repoDir, say }: Context,
): Promise<Windows> {
  const outDir = join(plan.scratchDir, "callgrind");
  mkdirSync(outDir);
  const [command, ...words] = underCallgrind(outDir);
  const script = join(repoDir, "bench/instructions/counted.ts");
  const args = [...words, process.execPath, ...NODE_FLAGS, script, JSON.stringify(plan)];
  say("starting the gateway under callgrind");
  const started = await processes.start("counted", command, args, {
    ipc: true,
    cwd: repoDir,
    env: { ...UNSET, HOST },
  });
  const process_: Counted = { name: "the gateway", pid: started.pid, outDir, host: HOST };
  const found = new Map<CallKind, number[]>();
  for await (const [received] of on(started.child, "message", { close: ["exit"] })) {
    const message = received as CountMessage;
    if (message.kind === "failed") throw new Error(`the counted gateway failed: ${message.reason}`);
    if (message.kind === "done") return found;
    if (message.kind === "warm") {
      say("it is warm");
      await control(process_, "--instr=on");
    } else if (message.kind === "begin") await control(process_, "--zero");
    else {
      const instructions = (await counted(process_)) / message.calls;
      found.set(message.of, [...(found.get(message.of) ?? []), instructions]);
      say(`${message.of}: ${Math.round(instructions)} instructions a call`);
    }
    started.child.send({});
  }
  throw new Error(`the counted gateway ended: ${started.log()}`);
}

/** Settings of whoever starts the bench are not for the gateway that is counted. */
const UNSET = {
  CLICKHOUSE_URL: "",
  REDIS_URL: "",
  CELL: "",
  CELLS: "",
  WEIR_SECRETS_KEY: "",
  NODE_OPTIONS: "",
  NODE_COMPILE_CACHE: "",
  TZ: "UTC",
};

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
