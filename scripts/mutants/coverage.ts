/**
 * What each test file runs of the rooms that are mutated, and how long it takes: measured once for a state of the repository, and
 * kept in `test-results`, which git ignores.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Rooms of `src`. */
export const MUTATED_ROOMS = ["inference/exchange", "credits", "wire"] as const;

/** Names the folder to `coverage.setup.ts`. */
export const COVERAGE_FOLDER = "WEIR_MUTANTS_COVERAGE";

/** Parts of a source that ran, by offsets, in order and apart. */
export type Spans = readonly (readonly [start: number, end: number])[];

/** What one test file ran, as `coverage.setup.ts` writes it. */
export interface Measured {
  /** Processor time in its own process, its import included: the same on a busy machine. */
  readonly ms: number;
  /** By the source's path. */
  readonly spans: Readonly<Record<string, Spans>>;
}

export interface TestFile extends Measured {
  /** From the root of the repository. */
  readonly path: string;
}

/** What was measured of this state before; undefined if nothing was. */
export function readCoverage(folder: string): TestFile[] | undefined {
  const passed = join(folder, "passed.json");
  if (!existsSync(passed)) return undefined;
  const paths: readonly string[] = JSON.parse(readFileSync(passed, "utf8"));
  return paths.map((path) => {
    const measured: Measured = JSON.parse(readFileSync(measuredFile(join(folder, "files"), path), "utf8"));
    return { path, ...measured };
  });
}

/** Where what a test file ran is written. @param path from the root of the repository */
export const measuredFile = (folder: string, path: string): string =>
  join(folder, `${path.replaceAll("/", "!")}.json`);

/** @param measure has `coverage.setup.ts` write into the folder, and returns the files that passed */
export async function measureCoverage(
  folder: string,
  measure: (files: string) => Promise<readonly string[]>,
): Promise<TestFile[]> {
  const files = join(folder, "files");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(files, { recursive: true });
  const passed = (await measure(files)).filter((path) => existsSync(measuredFile(files, path)));
  writeFileSync(join(folder, "passed.json"), JSON.stringify(passed));
  return readCoverage(folder) ?? [];
}

/** The test files that run something between these offsets of a source, cheapest first. */
export function filesThatRun(
  tests: readonly TestFile[],
  source: string,
  start: number,
  end: number,
): TestFile[] {
  return tests
    .filter(({ spans }) => spans[source]?.some(([from, to]) => from < end && to > start))
    .sort((a, b) => a.ms - b.ms || (a.path < b.path ? -1 : 1));
}

/** Every format meets every dialect here: much of the code of a dialect has no other test of a whole call. */
const MATRIX = /^test\/gateway\/conformance\//;

/**
 * As many of the files as may be run, the cheapest first: up to this processor time in all. Those of the matrix always are.
 * @param files in the order of their cost
 */
export function affordable(files: readonly TestFile[], ms: number): TestFile[] {
  let spent = 0;
  return files.filter((file) => {
    if (MATRIX.test(file.path)) return true;
    spent += file.ms;
    return spent <= ms;
  });
}

export const isRun = (tests: readonly TestFile[], source: string, offset: number): boolean =>
  filesThatRun(tests, source, offset, offset + 1).length > 0;
