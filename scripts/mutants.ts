/**
 * What the tests catch: puts small faults into copies of `src/inference/exchange`, `src/credits` and `src/wire`, one at a
 * time, and runs the tests that run the faulty line, cheapest first, up to the first failure. A fault that no test fails for survived.
 *
 *     node scripts/mutants.ts --seed=1 --keep=FILE   makes mutants by this seed, and keeps them in a file
 *     node scripts/mutants.ts --replay=FILE          the same mutants again, in this state of the sources and tests
 *
 * Beside them `--each=15`: of each room; `--only=3,7-9`: of these numbers; `--outcomes=FILE`: has what became of each written there;
 * `--earlier=FILE`: begins with the test that caught it then; `--tests=TEXT`: runs no others than those whose path has this text;
 * `--seconds=40`: of a processor, for the tests of one mutant, beside those of the conformance matrix; `--list`: runs nothing.
 * Not run: tests of other processes and of time (`mutants/lanes.ts`). 60 mutants take about an hour of an idle machine.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readTree } from "../test/unit/tidy/tree.ts";
import { type Checkout, checkOut, REPO, readFrom, withText } from "./mutants/checkout.ts";
import { chooseMutants } from "./mutants/choose.ts";
import {
  affordable,
  filesThatRun,
  isRun,
  MUTATED_ROOMS,
  measureCoverage,
  readCoverage,
  type TestFile,
} from "./mutants/coverage.ts";
import { type Fate, fateOf, likeliestFirst, lineOf, summaryOf } from "./mutants/fate.ts";
import { testFiles } from "./mutants/lanes.ts";
import { type Mutant, place } from "./mutants/mutant.ts";
import { measureFiles, runUntilFailure } from "./mutants/run.ts";

interface Kept {
  readonly seed: number;
  readonly mutants: readonly Mutant[];
}

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    each: { type: "string", default: "15" },
    keep: { type: "string" },
    replay: { type: "string" },
    only: { type: "string" },
    outcomes: { type: "string" },
    earlier: { type: "string" },
    tests: { type: "string", default: "" },
    seconds: { type: "string", default: "40" },
    list: { type: "boolean", default: false },
  },
});

// Node says once that it strips types.
process.env.NODE_NO_WARNINGS = "1";
process.emitWarning = () => {};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
const removeMemoryFolder = await setUp("memory-folder.setup.mjs");
const folder = mkdtempSync(join(tmpdir(), "weir-mutants-"));
let removeStripped: (() => void) | undefined;
process.once("exit", () => {
  rmSync(folder, { recursive: true, force: true });
  removeStripped?.();
  removeMemoryFolder?.();
});

const checkout = checkOut(folder);
removeStripped = await setUp("stripped.setup.mjs", checkout.folder);
const tree = readTree(checkout.folder);
const tests = await coverageOf(checkout);
const mutants = options.replay === undefined ? chosen() : keptIn(options.replay).mutants;
const numbers = options.only === undefined ? undefined : numbersIn(options.only);

const earlier: readonly Fate[] =
  options.earlier === undefined ? [] : JSON.parse(readFileSync(options.earlier, "utf8"));

const fates: Fate[] = [];
for (const [i, mutant] of mutants.entries()) {
  if (numbers !== undefined && !numbers.has(i + 1)) continue;
  const number = `${i + 1}`.padStart(3);
  if (options.list) {
    console.log(`${number} ${mutant.file}:${mutant.line} ${mutant.operator}`);
    continue;
  }
  const fate = await tried(mutant);
  fates.push(fate);
  console.log(`${number} ${lineOf(fate)}`);
  if (options.outcomes !== undefined) writeFileSync(options.outcomes, JSON.stringify(fates, null, 2));
}
if (!options.list) console.log(summaryOf(fates));

async function tried(mutant: Mutant): Promise<Fate> {
  const { text, start, end, line } = place(mutant, readFrom(checkout, mutant.file));
  const chosenTests = tests.filter(({ path }) => path.includes(options.tests));
  const cheapest = affordable(
    filesThatRun(chosenTests, mutant.file, start, end),
    Number(options.seconds) * 1000,
  );
  const files = likeliestFirst(cheapest, mutant, earlier);
  return withText(checkout, mutant.file, text, () =>
    fateOf({ ...mutant, line }, files, (some) => runUntilFailure(checkout.folder, some)),
  );
}

async function coverageOf({ state }: Checkout): Promise<TestFile[]> {
  const kept = join(REPO, "test-results/mutants", state);
  const before = readCoverage(kept);
  if (before !== undefined) return before;
  const files = testFiles(tree, MUTATED_ROOMS);
  console.log(`What ${files.length} test files run is measured first, and kept for this state in ${kept}`);
  return measureCoverage(kept, (into) => measureFiles(checkout.folder, files, into, console.log));
}

function chosen(): readonly Mutant[] {
  const seed = Number(options.seed);
  const made = chooseMutants(tree.sources, MUTATED_ROOMS, {
    seed,
    count: Number(options.each),
    isRun: (file, offset) => isRun(tests, file, offset),
  });
  const kept: Kept = { seed, mutants: made };
  if (options.keep !== undefined) writeFileSync(options.keep, `${JSON.stringify(kept, null, 2)}\n`);
  return made;
}

function keptIn(file: string): Kept {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** Reads numbers and ranges such as `3,7-9`. */
function numbersIn(text: string): Set<number> {
  return new Set(
    text.split(",").flatMap((part) => {
      const [from = 0, to = from] = part.split("-").map(Number);
      return Array.from({ length: to - from + 1 }, (_, i) => from + i);
    }),
  );
}

/** What tests have done once before a run. @param root the repository, or a copy of it @returns what undoes it */
async function setUp(name: string, root = REPO): Promise<(() => void) | undefined> {
  const module: { setup(): (() => void) | undefined } = await import(join(root, "test", name));
  return module.setup();
}
