/**
 * `npm test`, behind types and lint: runs vitest, then each file that failed once more, alone. What fails twice fails the run. What
 * passes the second time does not, and is listed. docs/testing.md has the rules.
 * It runs the quick part of the tests, unless arguments choose files or tests, or are `--part=all` or `--part=rest`. Other arguments
 * are vitest's, beside `--summary=FILE`, which has the outcome written there as JSON.
 */
import { type ChildProcess, spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { leftOut, PART_VARIABLE, partOf } from "./test-run/lanes.ts";
import { type FileResult, REPORT_VARIABLE } from "./test-run/report.ts";
import {
  countsOf,
  described,
  detailed,
  failedFiles,
  failedTests,
  indented,
  judge,
  lineOf,
  nameOf,
  passed,
  type Repeat,
  type Run,
  unforgivable,
} from "./test-run/verdict.ts";
import { commit, type Summary, startWatch } from "./test-run/whole-run.ts";

const LIST = join("test-results", "passed-second-time.md");
const SUMMARY = "--summary=";
const PART = "--part=";
const VITEST = join(import.meta.dirname, "../node_modules/vitest/vitest.mjs");
const KEPT_OPTIONS = ["testNamePattern", "testTimeout", "hookTimeout", "config", "root", "mode"];

const given = process.argv.slice(2);
const optionOf = (option: string) => given.find((arg) => arg.startsWith(option))?.slice(option.length);
const summaryFile = optionOf(SUMMARY);
const args = given.filter((arg) => !arg.startsWith(SUMMARY) && !arg.startsWith(PART));
const part = partOf(optionOf(PART) ?? ((await choosesTests()) ? "all" : "quick"));

const folder = mkdtempSync(join(tmpdir(), "weir-test-reports-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

let child: ChildProcess | undefined;
let stopped: NodeJS.Signals | undefined;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    if (child === undefined) process.exit(exitCodeOf(signal));
    // A terminal has sent it to vitest, too; `kill` has not.
    child.kill(signal);
    stopped = signal;
  });
}

if (args.some((arg) => arg === "--help" || arg === "-h")) {
  const { code } = await runVitest(args);
  process.exit(code ?? 1);
}
const watch = startWatch();
const first = await runVitest(args);
const reason = passed(first) ? undefined : unforgivable(first);
const repeats: Repeat[] = [];
if (!passed(first) && reason === undefined) {
  for (const file of failedFiles(first)) repeats.push(await runOnceMore(file));
}
const spent = watch();
conclude();

/** Ends this process where the run was stopped. @param vitestArgs as `vitest run` takes them */
async function runVitest(vitestArgs: readonly string[]): Promise<Run> {
  const reportFile = join(folder, "report.json");
  rmSync(reportFile, { force: true });
  child = spawn(process.execPath, [VITEST, "run", ...vitestArgs], {
    stdio: "inherit",
    env: { ...process.env, [REPORT_VARIABLE]: reportFile, [PART_VARIABLE]: part },
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child?.once("error", reject);
    child?.once("exit", (...how) => resolve(how));
  });
  child = undefined;
  if (stopped === undefined && (signal === "SIGINT" || code === exitCodeOf("SIGINT"))) stopped = "SIGINT";
  if (stopped !== undefined) process.exit(exitCodeOf(stopped));
  const report = existsSync(reportFile) ? JSON.parse(readFileSync(reportFile, "utf8")) : undefined;
  return { report, code, signal };
}

/** Whether the arguments name files or tests: these are looked for in all lanes. */
async function choosesTests(): Promise<boolean> {
  if (args.length === 0) return false;
  const { filter, options } = await parsed();
  return filter.length > 0 || options.testNamePattern !== undefined || options.project !== undefined;
}

async function parsed() {
  // Not before it is needed: it loads all of vitest.
  const { parseCLI } = await import("vitest/node");
  return parseCLI(["vitest", "run", ...args]);
}

/** With the user's options that say which tests of a file run, and how; without those that chose files, or write some. */
async function runOnceMore(file: FileResult): Promise<Repeat> {
  console.log(`\nOnce more, alone: ${nameOf(file)}`);
  const options: Readonly<Record<string, unknown>> = { ...(await parsed()).options };
  const kept = KEPT_OPTIONS.filter((name) => options[name] !== undefined).map(
    (name) => `--${name}=${options[name]}`,
  );
  const project = file.project === "" ? [] : [`--project=${file.project}`];
  return judge(file, await runVitest([...kept, ...project, "--maxWorkers=1", file.path]));
}

function conclude(): void {
  const failedTwice = repeats.filter((repeat) => !repeat.passed);
  const passedThen = repeats.filter((repeat) => repeat.passed).map((repeat) => repeat.first);
  const hasFailed = reason !== undefined || failedTwice.length > 0;
  const counts = countsOf(first, repeats, hasFailed);
  if (reason !== undefined) console.log(`Failed, and not run once more: ${reason}\n`);
  if (failedTwice.length > 0) {
    const files = failedTwice.map((repeat) =>
      described(repeat.second?.failed ? repeat.second : repeat.first),
    );
    console.log(`Failed twice (${count(files.length)}):\n${indented(files.join("\n"))}\n`);
  }
  if (passedThen.length > 0) {
    const files = passedThen.map(described);
    console.log(
      `Passed the second time, alone (${count(files.length)}); docs/testing.md says what to do about them:`,
    );
    console.log(indented(files.join("\n")));
    mkdirSync(dirname(LIST), { recursive: true });
    const heading = `## ${new Date().toISOString()}, commit ${commit()}`;
    appendFileSync(LIST, `${[heading, ...passedThen.map(detailed)].join("\n\n")}\n\n`);
    console.log(`Their failures are at the end of ${LIST}\n`);
  }
  if (summaryFile !== undefined) {
    const summary: Summary = {
      ...counts,
      ...spent,
      faults: [
        ...(reason === undefined ? [] : [reason, ...failedFiles(first).map(detailed)]),
        ...failedTwice.map((repeat) => detailed(repeat.second?.failed ? repeat.second : repeat.first)),
      ],
      passedSecondTime: passedThen.map((file) => ({
        project: file.project,
        file: file.file,
        tests: failedTests(file),
      })),
    };
    writeFileSync(summaryFile, JSON.stringify(summary));
  }
  if (part === "quick") console.log(leftOut());
  console.log(lineOf(counts));
  process.exitCode = hasFailed ? 1 : 0;
}

/** As shells have it. */
function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

function count(files: number): string {
  return `${files} file${files === 1 ? "" : "s"}`;
}
