/**
 * What runs of vitest mean together. A test that fails for want of time, or by a rare race, fails a file that passes when it is
 * run alone; every other fault fails the whole run at once. Pure.
 */
import type { FileResult, Report, TestResult } from "./report.ts";

/** How a process with a run of vitest ended. */
export interface Run {
  /** Undefined: it ended before all tests had run. */
  readonly report: Report | undefined;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** More failed files than this come from a broken tree, not from a busy machine. */
const MOST_REPEATED = 5;

/** By the report as well: what runs behind the tests may change the exit code. */
export const passed = ({ report, code }: Run): boolean =>
  code === 0 &&
  report?.reason === "passed" &&
  report.errors.length === 0 &&
  report.retrying.length === 0 &&
  !report.files.some((file) => file.failed);

export const failedFiles = ({ report }: Run): readonly FileResult[] =>
  report?.files.filter((file) => file.failed) ?? [];

/** Why a failed run fails without a second look at its files; undefined if they are looked at. */
export function unforgivable(run: Run): string | undefined {
  const { report, code, signal } = run;
  if (report === undefined) return `vitest ended before its tests did (${signal ?? `exit code ${code}`})`;
  if (report.retrying.length > 0)
    return `tests with a retry of their own, which hides a race (docs/testing.md): remove it\n${indented(report.retrying.join("\n"))}`;
  if (report.errors.length > 0) {
    const { length } = report.errors;
    return `${length} error${length === 1 ? "" : "s"} outside of tests`;
  }
  if (signal !== null || code !== 1) return `vitest ended with ${signal ?? `exit code ${code}`}`;
  if (report.reason === "interrupted") return "the run was cut short";
  const files = failedFiles(run);
  const unloaded = files.filter((file) => !file.loaded);
  if (unloaded.length > 0)
    return unloaded.map((file) => `${nameOf(file)} did not load, or has no test`).join("\n");
  if (files.length > MOST_REPEATED)
    return `${files.length} files failed, and at most ${MOST_REPEATED} are run once more`;
  if (report.files.length === 0) return "no test ran: no file has that name, or the set-up of the run failed";
  return files.length === 0 ? "vitest failed, but no test did" : undefined;
}

/** A file that failed, and what its second run says. */
export interface Repeat {
  readonly first: FileResult;
  /** As its second run left it; undefined if that did not come to its end. */
  readonly second: FileResult | undefined;
  /** The second run was without fault, and what failed in the first one passed in it. */
  readonly passed: boolean;
}

/** @param run of this file alone */
export function judge(first: FileResult, run: Run): Repeat {
  const second = run.report?.files.find(
    ({ project, path }) => project === first.project && path === first.path,
  );
  const ranBefore = numbersOf(first.tests.filter(({ state }) => state !== "skipped"));
  const passedNow = numbersOf(second?.tests.filter(({ state }) => state === "passed") ?? []);
  const failedBefore = first.tests.filter(({ state }) => state === "failed");
  // A test that is skipped now, or not there, has not passed. Several may have one name.
  const isPassed =
    passed(run) &&
    passedNow.size > 0 &&
    failedBefore.every(({ name }) => (passedNow.get(name) ?? 0) >= (ranBefore.get(name) ?? 0));
  return { first, second, passed: isPassed };
}

/** How many tests there are of each name. */
function numbersOf(tests: readonly TestResult[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  for (const { name } of tests) numbers.set(name, (numbers.get(name) ?? 0) + 1);
  return numbers;
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * Tests of the whole run; those of a repeated file as its second run left them.
 * @param failed the run as a whole failed: at least one counts as failed then, also where it was no test
 */
export function countsOf(run: Run, repeats: readonly Repeat[], failed: boolean): Counts {
  const files = run.report?.files ?? [];
  const states = files.flatMap((file) => {
    const repeat = repeats.find(({ first }) => first === file);
    return (repeat?.second ?? file).tests.map(({ state }) => state);
  });
  const count = (wanted: string): number => states.filter((state) => state === wanted).length;
  // The second run of a file may fail without a failed test, by what it skipped.
  const failedRepeats = repeats.filter((repeat) => !repeat.passed).length;
  return {
    passed: count("passed"),
    failed: Math.max(count("failed"), failedRepeats, failed ? 1 : 0),
    skipped: count("skipped"),
  };
}

/** The line with which a run closes. */
export const lineOf = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

export const nameOf = ({ project, file }: FileResult): string =>
  project === "" ? file : `[${project}] ${file}`;

/** Names of tests that failed; none where only a hook did. */
export const failedTests = (file: FileResult): readonly string[] =>
  file.tests.filter(({ state }) => state === "failed").map(({ name }) => name);

/** The file, its failed tests, and the first failure's message. */
export function described(file: FileResult): string {
  const first = failuresOf(file)[0]?.message ?? "It ended without a message.";
  return [nameOf(file), ...failedTests(file).map((name) => indented(name)), indented(indented(first))].join(
    "\n",
  );
}

/** The same with every failure whole, in Markdown. */
export function detailed(file: FileResult): string {
  const failures = failuresOf(file).map(({ detail }) => `~~~~text\n${detail.trimEnd()}\n~~~~`);
  const tests = failedTests(file).map((name) => `- ${name}`);
  return [`### ${nameOf(file)}`, ...(tests.length > 0 ? [tests.join("\n")] : []), ...failures].join("\n\n");
}

const failuresOf = (file: FileResult) => [
  ...file.failures,
  ...file.tests.flatMap(({ failures }) => failures),
];

export const indented = (text: string): string => text.replace(/^(?=.)/gm, "  ");
