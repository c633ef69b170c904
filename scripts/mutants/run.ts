/**
 * Runs test files in a process of their own, bounded in time: a fault may make a loop that never ends, in which nothing within the
 * process gets its turn.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { COVERAGE_FOLDER, type TestFile } from "./coverage.ts";

/** What `run-files.ts` is asked for. */
export interface Job {
  readonly files: readonly string[];
  readonly untilFailure: boolean;
  readonly measures: boolean;
}

export type Progress =
  | { readonly kind: "started"; readonly file: string }
  | { readonly kind: "passed"; readonly file: string }
  | { readonly kind: "failed"; readonly file: string; readonly why: string }
  /** Outside of any file. */
  | { readonly kind: "broken"; readonly why: string };

/** Tests print, too. */
export const PROGRESS_MARK = "\u0001";

export type Outcome =
  | { readonly kind: "passed" }
  | { readonly kind: "failed" | "out of time"; readonly file: string; readonly why: string };

/** What a file may take: longer beside other work, and as the first of a process. */
export interface Bounds {
  readonly timesAsLong: number;
  readonly leastMs: number;
}
const BOUNDS: Bounds = { timesAsLong: 10, leastMs: 60_000 };
/** Until the first file of a process is begun. */
const STARTED_MS = 120_000;
/** For a run that measures. */
const MEASURED_FILE_MS = 300_000;

/** Runs the files in this order up to the first failure. @param root the checkout */
export async function runUntilFailure(
  root: string,
  files: readonly TestFile[],
  { timesAsLong, leastMs }: Bounds = BOUNDS,
): Promise<Outcome> {
  const bounds = new Map(files.map(({ path, ms }) => [path, leastMs + timesAsLong * ms]));
  const passed = new Set<string>();
  const job: Job = { files: files.map(({ path }) => path), untilFailure: true, measures: false };
  let at = files[0]?.path ?? "";
  let failure: Outcome | undefined;
  const ended = await run(root, job, {}, (progress, child) => {
    if (progress.kind === "started") {
      at = progress.file;
      child.boundMs(bounds.get(at) ?? leastMs);
    } else if (progress.kind === "passed") {
      passed.add(progress.file);
    } else {
      const file = progress.kind === "failed" ? progress.file : at;
      failure ??= { kind: "failed", file, why: progress.why };
    }
  });
  if (ended === "out of time") return { kind: "out of time", file: at, why: "did not end" };
  if (failure !== undefined) return failure;
  if (ended !== "ended") return { kind: "failed", file: at, why: ended };
  const left = files.find(({ path }) => !passed.has(path));
  return left === undefined ? { kind: "passed" } : { kind: "failed", file: left.path, why: "was not run" };
}

/** Runs all files and has what each of them ran written into the folder. @returns those that passed */
export async function measureFiles(
  root: string,
  files: readonly string[],
  folder: string,
  note: (line: string) => void,
): Promise<string[]> {
  const passed: string[] = [];
  let rest = files;
  while (rest.length > 0) {
    const behind = new Set(rest);
    let at = rest[0] ?? "";
    let since = performance.now();
    const job: Job = { files: rest, untilFailure: false, measures: true };
    const ended = await run(root, job, { [COVERAGE_FOLDER]: folder }, (progress, child) => {
      if (progress.kind === "started") {
        at = progress.file;
        since = performance.now();
        child.boundMs(MEASURED_FILE_MS);
      } else if (progress.kind === "broken") {
        note(`not run: ${progress.why}`);
      } else {
        behind.delete(progress.file);
        const ms = Math.round(performance.now() - since);
        if (progress.kind === "passed") passed.push(progress.file);
        note(
          `${progress.kind} ${progress.file} ${ms} ms${progress.kind === "failed" ? `: ${progress.why}` : ""}`,
        );
      }
    });
    if (ended === "ended") break;
    note(`${at}: ${ended}`);
    behind.delete(at);
    rest = rest.filter((file) => behind.has(file));
  }
  return passed;
}

interface Running {
  /** From now, in place of the bound before. */
  boundMs(ms: number): void;
}

async function run(
  root: string,
  job: Job,
  env: NodeJS.ProcessEnv,
  onProgress: (progress: Progress, child: Running) => void,
): Promise<"ended" | "out of time" | string> {
  const temporary = mkdtempSync(join(tmpdir(), "weir-mutant-"));
  // They belong to the run of tests that may have started this one.
  const outside = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST")),
  );
  const child = spawn(process.execPath, [join(root, "scripts/mutants/run-files.ts"), JSON.stringify(job)], {
    cwd: root,
    // A group of its own, which holds what tests start and can be ended with it.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...outside, NODE_NO_WARNINGS: "1", TMPDIR: temporary, ...env },
  });
  let isLate = false;
  let said = "";
  let timer = setTimeout(() => late(), STARTED_MS);
  const late = (): void => {
    isLate = true;
    endGroup(child);
  };
  const boundMs = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(late, ms);
  };
  child.stderr.on("data", (data) => {
    said = `${said}${data}`.slice(-2000);
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.startsWith(PROGRESS_MARK)) onProgress(JSON.parse(line.slice(1)), { boundMs });
  });
  const stop = (): void => endGroup(child);
  process.once("exit", stop);
  const closed = once(child, "close");
  const [code, signal] = await once(child, "exit");
  process.off("exit", stop);
  clearTimeout(timer);
  // What it leaves behind would hold its output open.
  endGroup(child);
  await closed;
  rmSync(temporary, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  if (isLate) return "out of time";
  return signal === null && (code === 0 || code === 1)
    ? "ended"
    : `its process ended by ${signal ?? code}: ${said}`;
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
}
